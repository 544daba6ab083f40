/* SPDX-License-Identifier: GPL-2.0 */
/* Moment: a point of time as people write it: 2026-11-24, "2026-11-24 10:30",
 * 2026-11-24T10:30:00.5Z,
 * @1795413740.5 (seconds since 1970), or 36h: that long ago. Without a Z, times are local. */
#ifndef KEEP_FIND_MOMENT_H
#define KEEP_FIND_MOMENT_H

#include <stdint.h>

#define MOMENT_FORMS                                                                               \
	"2026-11-24, '2026-11-24 10:30:00', 2026-11-24T10:30:00Z, @1795413740 or 36h (ago)"

/* Returns 0 with nanoseconds since 1970, or -EINVAL. */
int moment_parse(const char *text, int64_t *ns);

#endif
