/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serial: the highest that was loaded of each module, kept on the sensor, so that an older one of
 * the same name, which was signed as well as the newest, is not loaded again.
 */
#ifndef AGENT_MODULE_SERIAL_H
#define AGENT_MODULE_SERIAL_H

#include <stdint.h>

#define SERIAL_FOLDER "/var/lib/saluki/modules"

/* Of a module's name; 0 where none was loaded yet. Returns 0, or -errno after a line. */
int serial_read(const char *name, uint64_t *serial);
/* Keeps it: on the disk, whole or not at all, when this returns. For `load`, which has the folder
 * made where it is not there. Returns 0, or -errno after a line. */
int serial_keep(const char *name, uint64_t serial);

#endif
