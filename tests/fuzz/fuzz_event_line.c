// SPDX-License-Identifier: GPL-2.0
/* links: keep/columns/event_line.o */
/*
 * Lines of modules' events. Input: a line. Always holds: texts are in the room for them, and what
 * was read is read again from a line that is written as the collector writes it.
 */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"

#include "keep/columns/event_line.h"

static const char *const keys[] = { "time_ns", "sensor",    "interface", "module",
				    "serial",  "direction", "data",	 "id" };

static bool is_number(int member)
{
	return member == EVENT_TIME || member == EVENT_SERIAL;
}

static void check_values(const struct event_line *e)
{
	CHECK(e->set & 1u << EVENT_TIME && e->set & 1u << EVENT_SENSOR);
	CHECK(e->set & 1u << EVENT_MODULE && e->set < 1u << EVENT_MEMBERS);
	CHECK(e->values[EVENT_TIME].number <= INT64_MAX);
	for (int i = 0; i < EVENT_MEMBERS; i++) {
		const struct event_value *v = &e->values[i];

		if (is_number(i) || !(e->set & 1u << i))
			continue;
		CHECK(v->text >= e->texts && v->len <= sizeof(e->texts));
		CHECK(v->text + v->len <= e->texts + sizeof(e->texts));
	}
}

static char *write_line(const struct event_line *e, size_t *len)
{
	char *line, separator = '{';
	FILE *f = open_memstream(&line, len);

	for (int i = 0; i < EVENT_MEMBERS; i++) {
		const struct event_value *v = &e->values[i];

		if (!(e->set & 1u << i))
			continue;
		fprintf(f, "%c\"%s\":", separator, keys[i]);
		separator = ',';
		if (is_number(i))
			fprintf(f, "%" PRIu64, v->number);
		else
			putc('"', f);
		for (uint32_t n = 0; !is_number(i) && n < v->len; n++)
			fprintf(f, "\\u00%02x", (unsigned char)v->text[n]);
		if (!is_number(i))
			putc('"', f);
	}
	putc('}', f);
	fclose(f);
	return line;
}

static void check_again(const struct event_line *e)
{
	struct event_line again;
	size_t len;
	char *line = write_line(e, &len);

	CHECK(!event_line_read(&again, line, len) && again.set == e->set);
	for (int i = 0; i < EVENT_MEMBERS; i++) {
		const struct event_value *one = &e->values[i], *other = &again.values[i];

		if (!(e->set & 1u << i))
			continue;
		CHECK(is_number(i) ? one->number == other->number
				   : one->len == other->len &&
					     !memcmp(one->text, other->text, one->len));
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *line = fuzz_copy(data, size);
	struct event_line e;
	int err = event_line_read(&e, (const char *)line, size);

	CHECK(!err || err == -EBADMSG);
	if (!err) {
		check_values(&e);
		check_again(&e);
	}
	fuzz_free(line);
	return 0;
}
