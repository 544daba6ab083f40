/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIVE_SANDBOX_H
#define LIVE_SANDBOX_H

/* Call it before the viewer reads frames. Drops all privileges, and forbids opening files and
 * sockets. Returns 0, or -errno after a line. */
int sandbox_viewer(void);

#endif
