/* SPDX-License-Identifier: GPL-2.0 */
/* Stats' JSON: writes objects and lists, member by member. `name` is NULL in a list. */
#ifndef MERGE_OUTPUT_STATS_JSON_H
#define MERGE_OUTPUT_STATS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
	FILE *f;
	bool comma; /* before the next element */
};

/* `bracket`: { or [, and } or ]. */
void json_open_with(struct json_out *o, const char *name, char bracket);
void json_close_with(struct json_out *o, char bracket);
/* The value may have any bytes. */
void json_text(struct json_out *o, const char *name, const char *value);
void json_number(struct json_out *o, const char *name, int64_t value);
void json_decimal(struct json_out *o, const char *name, double value);
/* In a list. */
void json_nothing(struct json_out *o);

#endif
