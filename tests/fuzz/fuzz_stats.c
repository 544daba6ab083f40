// SPDX-License-Identifier: GPL-2.0
/* links: merge/output/stats.o merge/output/stats_airtime.o merge/output/stats_clocks.o
 * merge/output/stats_frame.o merge/output/stats_json.o merge/output/stats_measure.o
 * merge/output/stats_print.o merge/output/stats_tables.o
 * merge/output/stats_spread.o merge/output/stats_survey.o merge/output/stats_transmitters.o
 * merge/output/trace.o pcapng/receptions.o pcapng/blocks.o pcapng/block.o merge/frame/identity.o
 * dissect/radiotap.o merge/frame/radiotap.o common/json.o */
/*
 * Figures of a unified trace. The first byte: options. Then the length of the clocks' table, the
 * table, and a trace. Always holds: The second reading finds what the first one found. No sensor
 * hears more than all. No matrix has more than its transmissions. In the output, as many brackets
 * open as close.
 */
#include <sodium.h>

#include "fuzz.h"
#include "merge/output/stats_print.h"

static int read_blocks(struct stats *s, const uint8_t *p, size_t len)
{
	bool swapped = false;
	struct pcapng_block b;
	int64_t size;

	while ((size = pcapng_block(&b, p, len, &swapped)) > 0) {
		CHECK(!stats_block(s, &b));
		p += size;
		len -= size;
	}
	return 0;
}

static void check_print(const struct stats *s, const struct stats_clocks *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int open = 0;
	bool quoted = false;

	CHECK(f);
	stats_print(f, s, c);
	fclose(f);
	for (size_t i = 0; i < len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted)
			open += (text[i] == '{' || text[i] == '[') -
				(text[i] == '}' || text[i] == ']');
		CHECK(open >= 0);
	}
	CHECK(!open && !quoted && !strstr(text, "inf") && !strstr(text, "nan,"));
	free(text);
}

static void check(const struct stats *s)
{
	uint64_t receptions = 0;

	for (uint32_t i = 0; i < s->sensor_count; i++)
		receptions += s->sensors[i].receptions;
	CHECK(receptions == s->receptions);
	for (uint32_t i = 0; i < s->place_count * s->place_count; i++)
		CHECK(s->together[i] <= s->transmissions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	unsigned int how = fuzz_number(&in, 1);
	struct stats_options o = { .sensors = how & 1 ? 2 : 100,
				   .transmitters = how & 2 ? 1 : 60,
				   .points = how & 4 ? 3 : 0,
				   .near = how & 8 ? "s-1,b," : NULL };
	static struct stats_clocks clocks;
	static bool begun;
	size_t table_len;
	const uint8_t *table;
	struct stats s;
	uint8_t *trace;
	char path[32];
	int fd, err;

	if (!begun)
		fuzz_quiet();
	begun = true;
	CHECK(sodium_init() >= 0);
	table = fuzz_bytes(&in, fuzz_number(&in, 2), &table_len);
	fd = fuzz_file(table, table_len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = in.end - in.p;
	trace = fuzz_copy(in.p, len);
	CHECK(!stats_init(&s, &o));
	read_blocks(&s, trace, len);
	CHECK(!stats_measure(&s));
	read_blocks(&s, trace, len);
	check(&s);
	err = stats_clocks_read(&clocks, &s, path);
	check_print(&s, err ? NULL : &clocks);
	stats_clocks_free(&clocks);
	stats_free(&s);
	fuzz_free(trace);
	close(fd);
	return 0;
}
