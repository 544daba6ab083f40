/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serial: the highest serial loaded for each module name, stored on the sensor. It prevents that an
 * older signed module of the same name is loaded again.
 */
#ifndef AGENT_MODULE_SERIAL_H
#define AGENT_MODULE_SERIAL_H

#include <stdint.h>

#define SERIAL_FOLDER "/var/lib/saluki/modules"

/* Reads a module name's serial; 0 if none was loaded yet. Returns 0, or -errno after a line. */
int serial_read(const char *name, uint64_t *serial);
/* Stores it durably and atomically. Makes the folder if necessary. Returns 0, or -errno after a
 * line. */
int serial_keep(const char *name, uint64_t serial);

#endif
