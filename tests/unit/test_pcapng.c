// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/pcapng.o collector/output/pcapng_walk.o pcapng/combo_name.o
 * collector/output/written.o collector/output/late.o common/pcap_read.o wire/channel.o */
#include "unit.h"

#include <unistd.h>

#include "collector/output/written.h"
#include "collector/output/pcapng_walk.h"
#include "common/pcap_read.h"

static uint8_t file[65536];

/* Writes a section, an interface, `n` packets of growing length, and statistics. Returns the
 * bytes. */
static size_t write_file(int n)
{
	struct pcapng_interface i = { .linktype = 127,
				      .snaplen = 192,
				      .name = "lib:mon0",
				      .description = "d",
				      .filter = "type mgt",
				      .os = "Linux",
				      .comment = "c" };
	struct pcapng_statistics s = { .received = 9, .comment = "balance 0" };
	struct combo_frame f = { .orig_len = 1000, .data = (const uint8_t *)"0123456789" };
	size_t len = pcapng_section(file, "Linux", "test", NULL, NULL);

	len += pcapng_interface(file + len, &i);
	for (int k = 0; k < n; k++) {
		f.time_ns = 1795271173933000001ULL + k;
		f.kept_len = k;
		f.direction = k % 3;
		len += pcapng_packet(file + len, 0, &f, NULL);
	}
	return len + pcapng_statistics(file + len, &s);
}

static int file_with(size_t len)
{
	FILE *f = tmpfile();
	int fd = dup(fileno(f));

	assert_int_equal(fwrite(file, 1, len, f), len);
	fclose(f);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void the_agents_reader_reads_it(void **state)
{
	struct pcap_reader r = { 0 };
	struct pcap_frame f;
	int fd = file_with(write_file(10));

	(void)state;
	assert_int_equal(pcap_open(&r, fd), 0);
	for (uint32_t k = 0; k < 10; k++) {
		assert_int_equal(pcap_next(&r, &f), 1);
		assert_true(f.time_ns == 1795271173933000001ULL + k);
		assert_true(f.cap_len == k && f.orig_len == 1000 && f.linktype == 127);
		assert_memory_equal(f.data, "0123456789", k);
	}
	assert_int_equal(pcap_next(&r, &f), 0);
	pcap_close(&r);
}

/* Returns the bytes of whole blocks at the start of a file without names, or -EBADMSG. */
static int64_t whole_blocks(int fd, int64_t len)
{
	struct written n = { 0 };
	int64_t whole = written_scan(&n, fd, 0, len);

	written_free(&n);
	return whole;
}

static void whole_blocks_are_found_at_every_cut(void **state)
{
	size_t whole = write_file(3), section = pcapng_section(file, "Linux", "test", NULL, NULL);

	(void)state;
	for (size_t len = 0; len <= whole; len++) {
		int fd = file_with(len);
		int64_t got = whole_blocks(fd, len);

		if (len > 0 && len < 12) /* too short to recognise */
			assert_int_equal(got, -EBADMSG);
		else if (len < section)
			assert_int_equal(got, 0);
		else
			assert_in_range(got, len > 120 ? len - 120 : section, len);
		if (len == whole)
			assert_int_equal(got, whole);
		close(fd);
	}
	memcpy(file, "this is a letter", 16);
	int fd = file_with(whole);

	assert_int_equal(whole_blocks(fd, whole), -EBADMSG);
	close(fd);
}

/* Collects a file's lines, one after the other, and its blocks' kinds. */
static void lines_of(size_t len, char *lines, char *kinds)
{
	struct pcapng_walk w;
	struct pcapng_block b;
	int fd = file_with(len);

	assert_int_equal(pcapng_walk_init(&w, fd, 0, len), 0);
	*lines = 0;
	while (pcapng_walk_next(&w, &b) == 1) {
		*kinds++ = '0' + b.kind;
		if (b.line)
			strncat(strcat(lines, b.named ? "|!" : "|"), b.line, b.line_len);
	}
	*kinds = 0;
	assert_int_equal(w.at, len);
	pcapng_walk_free(&w);
	close(fd);
}

/* Events between packets, with and without a name, of every padding. */
static void what_modules_say_is_found(void **state)
{
	static const struct combo_name name = { .run = 1, .events = 9 };
	struct combo_frame f = { .orig_len = 9,
				 .kept_len = 9,
				 .data = (const uint8_t *)"012345678" };
	size_t len = write_file(2);
	char lines[200], kinds[32];
	struct pcap_reader r = { 0 };
	struct pcap_frame got;
	int fd, frames = 0;

	(void)state;
	for (size_t i = 1; i <= 5; i++)
		len += pcapng_module_event(file + len, "{a}bc", i, i == 2 ? &name : NULL);
	len += pcapng_packet(file + len, 0, &f, NULL);
	lines_of(len, lines, kinds);
	assert_string_equal(lines, "|{|!{a|{a}|{a}b|{a}bc");
	assert_int_equal(kinds[0], '0' + PCAPNG_SECTION);
	assert_string_equal(kinds + 5, "555553");
	fd = file_with(len);
	assert_int_equal(pcap_open(&r, fd), 0);
	while (pcap_next(&r, &got) == 1)
		frames++;
	assert_int_equal(frames, 3);
	pcap_close(&r);
}

/* The option's bytes, and a name behind it. */
static void readings_are_in_network_order(void **state)
{
	static const uint8_t want[] = {
		5,    0,    0,	  0,	104,  0,    0,	  0,	3, 0, 0,
		0,						   /* block, length, interface */
		0,    0,    0,	  0,	4,    0,    0,	  0,	   /* time: the last reading's */
		0xad, 0x0b, 29,	  0,	0,    0,    0x7e, 0xd9, 1, /* option, its length, enterprise
								    */
		0,    0,    0,	  0,	0,    0,    0,	  5,	   /* monotonic */
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,	   /* -1 */
		0,    0,    0,	  0,	0,    0,    1,	  2,	0, 0, 0, /* 258, padded */
	};
	static const struct combo_name name = { .run = 1, .count = 7, .first = 9, .events = 1 };
	struct clock_readings r = { .count = 1, .list = { { 5, -1, 258 } } };
	size_t len = write_file(0), at = len;
	struct written n = { 0 };
	const struct sensor_run *run;
	int fd;

	(void)state;
	len += pcapng_readings(file + at, 3, &r, &name);
	assert_memory_equal(file + at, want, sizeof(want));
	fd = file_with(len);
	assert_int_equal(written_scan(&n, fd, 0, len), len);
	run = written_find(&n, 0, 1);
	assert_true(run && run->next == 8 && run->accounted == 9);
	written_free(&n);
	close(fd);
	r.count = CLOCK_READINGS_MAX;
	assert_in_range(pcapng_readings(file, 3, &r, &name), 0, PCAPNG_READINGS_MAX);
	assert_in_range(pcapng_readings(file, 3, &r, NULL), 0, PCAPNG_READINGS_MAX);
}

/* Custom blocks may be another program's. */
static void custom_blocks_that_are_none_of_ours(void **state)
{
	size_t at = write_file(0), len = at + pcapng_module_event(file + at, "line", 4, NULL);
	char lines[200], kinds[32];

	(void)state;
	for (unsigned int said = 0; said < 10; said++) { /* the length in the block */
		file[at + 15] = said;
		lines_of(len, lines, kinds);
		assert_int_equal(*lines != 0, said >= 1 && said <= 4);
	}
	memset(file + at + 12, 0xff, 4);
	lines_of(len, lines, kinds);
	assert_string_equal(lines, "");
	memcpy(file + at + 12, "\0\0\0\4", 4);
	file[at + 8]++; /* another enterprise's */
	lines_of(len, lines, kinds);
	assert_string_equal(lines, "");
	for (uint32_t size = 12; size < 20; size += 4) { /* empty, or an enterprise number alone */
		memset(file + at, 0, 20);
		memcpy(file + at, "\xad\x0b", 2);
		memcpy(file + at + 8, "\xd9\x7e", size == 12 ? 0 : 2);
		memcpy(file + at + 4, &size, 4);
		memcpy(file + at + size - 4, &size, 4);
		lines_of(at + size, lines, kinds);
		assert_string_equal(lines, "");
	}
}

static void texts_of_any_length_fit(void **state)
{
	static char endless[5000];
	struct pcapng_interface i = { .name = endless,
				      .description = endless,
				      .filter = endless,
				      .os = endless,
				      .comment = endless };

	(void)state;
	memset(endless, 'x', sizeof(endless) - 1);
	assert_true(pcapng_interface(file, &i) <= PCAPNG_META_MAX);
	assert_true(pcapng_section(file, endless, endless, endless, endless) <= PCAPNG_META_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_agents_reader_reads_it),
		cmocka_unit_test(whole_blocks_are_found_at_every_cut),
		cmocka_unit_test(what_modules_say_is_found),
		cmocka_unit_test(readings_are_in_network_order),
		cmocka_unit_test(custom_blocks_that_are_none_of_ours),
		cmocka_unit_test(texts_of_any_length_fit),
	};

	return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}
