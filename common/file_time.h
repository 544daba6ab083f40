/* SPDX-License-Identifier: GPL-2.0 */
/* A file's time. File systems and archives can have any 64-bit number of seconds. */
#ifndef COMMON_FILE_TIME_H
#define COMMON_FILE_TIME_H

#include <stdint.h>
#include <sys/stat.h>

#define FILE_TIME_MAX_S 7258118400LL /* 2200-01-01 */

/* Returns when the file was written last: nanoseconds since 1970 (UTC). Times before 1970-01-01 and
 * after 2200-01-01 are these. */
static inline int64_t file_time_ns(const struct stat *st)
{
	int64_t s = st->st_mtim.tv_sec;

	if (s < 0 || s >= FILE_TIME_MAX_S)
		return s < 0 ? 0 : FILE_TIME_MAX_S * 1000000000;
	return s * 1000000000 + st->st_mtim.tv_nsec;
}

#endif
