/* SPDX-License-Identifier: GPL-2.0 */
/* The sandbox of saluki-keep: no network, no other program, no file outside its folders. */
#ifndef KEEP_PROCESS_SANDBOX_H
#define KEEP_PROCESS_SANDBOX_H

/* `columns`: NULL: none. Returns 0, or -errno after a line. */
int sandbox_keep(const char *folder, const char *columns);

/* The same for a search: it reads files below the folder, and writes only to open descriptors, and
 * to `columns`. */
int sandbox_find(const char *folder, const char *columns);

#endif
