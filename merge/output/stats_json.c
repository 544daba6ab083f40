// SPDX-License-Identifier: GPL-2.0
/* Stats' JSON: see stats_json.h. */
#include "stats_json.h"

#include <inttypes.h>

#include "common/json.h"

static void next(struct json_out *o)
{
	if (o->comma)
		fputs(", ", o->f);
	o->comma = true;
}

void json_open_with(struct json_out *o, const char *name, char bracket)
{
	next(o);
	if (name)
		fprintf(o->f, "\"%s\": ", name);
	putc(bracket, o->f);
	o->comma = false;
}

void json_close_with(struct json_out *o, char bracket)
{
	putc(bracket, o->f);
	o->comma = true;
}

void json_text(struct json_out *o, const char *name, const char *value)
{
	next(o);
	fprintf(o->f, "\"%s\": ", name);
	json_string(o->f, value);
}

void json_number(struct json_out *o, const char *name, int64_t value)
{
	next(o);
	if (name)
		fprintf(o->f, "\"%s\": ", name);
	fprintf(o->f, "%" PRId64, value);
}

void json_decimal(struct json_out *o, const char *name, double value)
{
	next(o);
	if (name)
		fprintf(o->f, "\"%s\": ", name);
	fprintf(o->f, "%.6g", value);
}

void json_nothing(struct json_out *o)
{
	next(o);
	fputs("null", o->f);
}
