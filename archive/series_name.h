/* SPDX-License-Identifier: GPL-2.0 */
/* Series name: the names of a series' files, PREFIX_NNNNN_YYYYmmddHHMMSS.pcapng, or PREFIX_NNNNN
 * where the prefix has the time. A file's index and its compressed form have its name with another
 * ending. */
#ifndef ARCHIVE_SERIES_NAME_H
#define ARCHIVE_SERIES_NAME_H

/* Endings: of a capture file, of its compressed form behind that, and of its index instead. */
#define ARCHIVE_CAPTURE ".pcapng"
#define ARCHIVE_COMPRESSED ".zst"
#define ARCHIVE_INDEX ".idx"

#define SERIES_STAMP 14 /* digits of the time */

/* Returns the number in the name of a file of any series; 0 for other names. */
unsigned int series_number(const char *name);
/* Compares names without their folders: below 0 if `a` was begun before `b`, 0 for a file and its
 * index. */
int series_compare(const char *a, const char *b);

#endif
