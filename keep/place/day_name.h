/* SPDX-License-Identifier: GPL-2.0 */
/* Day names: folders of the tables of one day (UTC). */
#ifndef KEEP_PLACE_DAY_NAME_H
#define KEEP_PLACE_DAY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define DAY_NAME sizeof("day=YYYY-MM-DD")

/* Whether it is "day=YYYY-MM-DD". Such names sort by date. */
bool day_is_valid(const char *name);
/* Writes the name of a time's day. `time_ns`: since 1970. */
void day_of(int64_t time_ns, char name[DAY_NAME]);

#endif
