/* SPDX-License-Identifier: GPL-2.0 */
/* Tables: makes the tables of a capture file that stays as it is, such as what a search has found.
 */
#ifndef KEEP_PACK_TABLES_H
#define KEEP_PACK_TABLES_H

/* `fd`: of the file, which nobody changes; it stays the caller's. `stem`: its name without
 * ".pcapng" (keep/place/table_name.h). `columns`: the folder of the tables. Returns 0, -EINTR after
 * a signal to stop, or another -errno. */
int pack_tables(int fd, const char *stem, int columns);

#endif
