// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/event_json.o wire/module_event.o */
/*
 * Consumers: how they read lines of events. Always holds: no byte beyond a line is read, an
 * accepted line is an event, and the same event written by the collector is read back equal.
 */
#include "fuzz.h"

#include <saluki/consumer_lines.h>

#include "collector/output/event_json.h"

static void write_and_read(const struct consumer_line *l)
{
	struct module_event s = {
		.direction = l->direction, .time_ns = l->time_ns, .serial = l->serial, .len = l->len
	};
	const struct event_json_id id = { 0 };
	char line[EVENT_JSON_MAX];
	struct consumer_line again;

	memcpy(s.name, l->module, sizeof(s.name));
	for (const char *c = s.name; *c; c++)
		if (*c == '"' || *c == '\\' || *c < 32 || *c > 126)
			return; /* no event of a module */
	memcpy(s.bytes, l->data, sizeof(s.bytes));
	event_json(line, &s, l->sensor, l->interface, &id);
	CHECK(lines_read(&again, line));
	CHECK(!strcmp(again.sensor, l->sensor) && !strcmp(again.interface, l->interface));
	CHECK(!strcmp(again.module, l->module) && again.serial == l->serial);
	CHECK(again.time_ns == l->time_ns && again.direction == l->direction);
	CHECK(again.len == l->len && !memcmp(again.data, l->data, l->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *text = fuzz_copy(data, len);
	char *line = malloc(len + 1);
	struct consumer_line l;

	memcpy(line, text, len);
	line[len] = 0;
	if (lines_read(&l, line)) {
		CHECK(*l.module && l.len >= 1 && l.len <= MODULE_EVENT_MAX && l.time_ns);
		CHECK(l.direction == 1 || l.direction == 2);
		write_and_read(&l);
	}
	free(line);
	fuzz_free(text);
	return 0;
}
