/* SPDX-License-Identifier: GPL-2.0 */
/* Event lines: reads a module's event, a line of JSON (saluki-files(5), Event files). */
#ifndef KEEP_COLUMNS_EVENT_LINE_H
#define KEEP_COLUMNS_EVENT_LINE_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_TEXTS_MAX 4096 /* bytes of all texts and keys of a line */

/* The members that are read. Others may be there. */
enum event_member {
	EVENT_TIME,
	EVENT_SENSOR,
	EVENT_INTERFACE,
	EVENT_MODULE,
	EVENT_SERIAL,
	EVENT_DIRECTION,
	EVENT_DATA,
	EVENT_ID,
	EVENT_MEMBERS
};

struct event_line {
	unsigned int set; /* a bit for each member that is there: 1 << EVENT_TIME */
	struct event_value {
		uint64_t number;  /* of time (ns since 1970, at most INT64_MAX) and serial */
		const char *text; /* of the others: any bytes, in `texts` */
		uint32_t len;
	} values[EVENT_MEMBERS];
	char texts[EVENT_TEXTS_MAX];
};

/* Returns 0, or -EBADMSG if the line is malformed or has no time, sensor or module. */
int event_line_read(struct event_line *e, const char *line, size_t len);

#endif
