// SPDX-License-Identifier: GPL-2.0
/* links: collector/pcapng.o collector/pcapng_walk.o collector/names.o agent/source/pcap_read.o
 * wire/channel.o */
#include "unit.h"

#include <unistd.h>

#include "agent/source/pcap_read.h"
#include "collector/names.h"

static uint8_t file[65536];

/* A section, an interface, `n` packets of growing length, statistics. Returns the bytes. */
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
	size_t len = pcapng_section(file, "Linux", "test");

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

/* Bytes of whole blocks at the start of a file that has no names, or -EBADMSG. */
static int64_t whole_blocks(int fd, int64_t len)
{
	struct names n = { 0 };
	int64_t whole = names_scan(&n, fd, 0, len);

	names_free(&n);
	return whole;
}

static void whole_blocks_are_found_at_every_cut(void **state)
{
	size_t whole = write_file(3), section = pcapng_section(file, "Linux", "test");

	(void)state;
	for (size_t len = 0; len <= whole; len++) {
		int fd = file_with(len);
		int64_t got = whole_blocks(fd, len);

		if (len > 0 && len < 12) /* nothing to tell it by */
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
	assert_true(pcapng_section(file, endless, endless) <= PCAPNG_META_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_agents_reader_reads_it),
		cmocka_unit_test(whole_blocks_are_found_at_every_cut),
		cmocka_unit_test(texts_of_any_length_fit),
	};

	return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}
