/* SPDX-License-Identifier: GPL-2.0 */
/* Has the running collector read its sensors file again. */
#ifndef COLLECTOR_ENROL_RELOAD_H
#define COLLECTOR_ENROL_RELOAD_H

/* `control`: its control socket, or "none". Prints whether a collector is there. Returns 0, also
 * without one, or -errno after a line. */
int reload_collector(const char *control);

#endif
