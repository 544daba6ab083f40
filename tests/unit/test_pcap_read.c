// SPDX-License-Identifier: GPL-2.0
/* links: common/pcap_read.o */
#include "unit.h"

#include <unistd.h>

#include "common/pcap_read.h"

static uint8_t file[4096];
static size_t len;
static bool swapped; /* written in the other byte order */

static void p16(uint16_t v)
{
	v = swapped ? __builtin_bswap16(v) : v;
	memcpy(file + len, &v, 2);
	len += 2;
}

static void p32(uint32_t v)
{
	v = swapped ? __builtin_bswap32(v) : v;
	memcpy(file + len, &v, 4);
	len += 4;
}

static void p64(uint64_t v)
{
	v = swapped ? __builtin_bswap64(v) : v;
	memcpy(file + len, &v, 8);
	len += 8;
}

static void pbytes(const char *s)
{
	memcpy(file + len, s, strlen(s));
	len += strlen(s);
}

static int open_file(struct pcap_reader *r, size_t n)
{
	FILE *f = tmpfile();
	int fd = dup(fileno(f));

	assert_int_equal(fwrite(file, 1, n, f), n);
	fflush(f);
	lseek(fd, 0, SEEK_SET);
	fclose(f);
	return pcap_open(r, fd);
}

static void pcap(uint32_t magic)
{
	len = 0;
	p32(magic);
	p16(2);
	p16(4);
	p32(0);
	p32(0);
	p32(65535);
	p32(127);
	p32(100);
	p32(5);
	p32(3);
	p32(9);
	pbytes("abc");
}

static void four_kinds_of_pcap(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct pcap_reader r = { 0 };
		struct pcap_frame f;

		swapped = i & 1;
		pcap(i & 2 ? 0xa1b23c4d : 0xa1b2c3d4);
		assert_int_equal(open_file(&r, len), 0);
		assert_int_equal(pcap_next(&r, &f), 1);
		assert_true(f.time_ns == 100000000000ULL + (i & 2 ? 5 : 5000));
		assert_true(f.cap_len == 3 && f.orig_len == 9 && f.linktype == 127);
		assert_memory_equal(f.data, "abc", 3);
		assert_int_equal(pcap_next(&r, &f), 0);
		pcap_close(&r);
	}
}

/* A section with two interfaces (one with 2^-10 s ticks and an offset), and a packet of each
 * kind. */
static void pcapng(void)
{
	len = 0;
	p32(0x0a0d0d0a), p32(28), p32(0x1a2b3c4d), p16(1), p16(0), p32(-1), p32(-1), p32(28);
	p32(1), p32(20), p16(1), p16(0), p32(4), p32(20);
	p32(1), p32(44), p16(105), p16(0), p32(0), p16(9), p16(1), pbytes("\x8a...");
	p16(14), p16(8), p64(50), p32(0), p32(44);
	p32(0xbad), p32(16), p32(77), p32(16); /* an unknown block */
	p32(6), p32(40), p32(1), p32(0), p32(1536), p32(4), p32(60), pbytes("epb!"), p32(0),
		p32(40);
	p32(3), p32(20), p32(60), pbytes("spb!"), p32(20);
	p32(2), p32(36), p16(0), p16(0), p32(0), p32(7), p32(4), p32(4), pbytes("opb!"), p32(36);
}

static void pcapng_blocks_of_every_kind(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct pcap_reader r = { 0 };
		struct pcap_frame f;

		swapped = i;
		pcapng();
		assert_int_equal(open_file(&r, len), 0);
		assert_int_equal(pcap_next(&r, &f), 1);
		assert_true(f.linktype == 105 && f.orig_len == 60 && f.cap_len == 4);
		assert_true(f.time_ns == 51500000000ULL); /* 50 s + 1536/1024 s */
		assert_memory_equal(f.data, "epb!", 4);
		assert_int_equal(pcap_next(&r, &f), 1);
		assert_true(f.linktype == 1 && f.orig_len == 60 && f.cap_len == 4);
		assert_memory_equal(f.data, "spb!", 4);
		assert_int_equal(pcap_next(&r, &f), 1);
		assert_true(f.time_ns == 7000);
		assert_memory_equal(f.data, "opb!", 4);
		assert_int_equal(pcap_next(&r, &f), 0);
		pcap_close(&r);
	}
}

/* Reads a file to its end or to an error. Returns the last result. */
static int read_through(size_t n)
{
	struct pcap_reader r = { 0 };
	struct pcap_frame f;
	int got = open_file(&r, n);

	while (got == 0 && (got = pcap_next(&r, &f)) == 1)
		got = 0;
	if (got < 0)
		assert_non_null(r.why);
	pcap_close(&r);
	return got;
}

/* In a ring, this link type marks events: a file could forge events, and lose frames. */
static void no_file_has_the_link_type_of_events(void **state)
{
	(void)state;
	swapped = false;
	pcap(0xa1b2c3d4);
	memset(file + 20, 0xff, 4);
	assert_int_equal(read_through(len), -EBADMSG);
	pcapng();
	assert_int_equal(read_through(len), 0);
	memset(file + 28 + 8, 0xff, 2);
	assert_int_equal(read_through(len), -EBADMSG);
}

static void cut_and_damaged_files_are_errors_and_nothing_worse(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		size_t whole;

		swapped = false;
		if (kind)
			pcapng();
		else
			pcap(0xa1b2c3d4);
		whole = len;
		for (size_t n = 0; n < whole; n++)
			read_through(n); /* a file truncated between blocks just ends */
		assert_int_equal(read_through(whole - 1), -EBADMSG);
		for (size_t at = 0; at < whole; at++)
			for (int v = 0; v < 256; v += 51) {
				uint8_t was = file[at];

				file[at] = v;
				read_through(whole);
				file[at] = was;
			}
	}
}

struct heard {
	unsigned int count, sections;
	int answer;
	char names[256];
};

static int hear(void *context, uint32_t number, uint16_t linktype, const char *name, size_t n)
{
	struct heard *h = context;
	size_t used = strlen(h->names);

	h->sections += number == 0;
	h->count++;
	if (used < sizeof(h->names) / 2)
		snprintf(h->names + used, sizeof(h->names) - used, "%u:%u:%.*s ", number, linktype,
			 (int)n, name ?: "");
	return h->answer;
}

static int open_described(struct pcap_reader *r, struct heard *h, int fd)
{
	assert_int_equal(pcap_init(r, fd), 0);
	r->interface_limit = PCAP_INTERFACES_LIVE;
	r->described = hear;
	r->context = h;
	return pcap_start(r);
}

/* Returns a descriptor of a file with the bytes of `file`. */
static int file_fd(void)
{
	FILE *f = tmpfile();
	int fd = dup(fileno(f));

	assert_int_equal(fwrite(file, 1, len, f), len);
	fflush(f);
	lseek(fd, 0, SEEK_SET);
	fclose(f);
	return fd;
}

static void interfaces_are_told_with_their_names(void **state)
{
	struct heard h = { 0 };
	struct pcap_reader r;
	struct pcap_frame f;

	(void)state;
	swapped = false;
	len = 0;
	for (int i = 0; i < 2; i++) {
		p32(0x0a0d0d0a), p32(28), p32(0x1a2b3c4d), p16(1), p16(0), p32(-1), p32(-1),
			p32(28);
		p32(1), p32(32), p16(1), p16(0), p32(0), p16(2), p16(5), pbytes("room1..."),
			p32(32);
		p32(1), p32(20), p16(127), p16(0), p32(0), p32(20);
		p32(6), p32(32), p32(1), p32(0), p32(0), p32(0), p32(0), p32(32);
	}
	assert_int_equal(open_described(&r, &h, file_fd()), 0);
	assert_int_equal(pcap_next(&r, &f), 1);
	assert_int_equal(f.interface, 1);
	assert_int_equal(pcap_next(&r, &f), 1);
	assert_int_equal(pcap_next(&r, &f), 0);
	assert_string_equal(h.names, "0:1:room1 1:127: 0:1:room1 1:127: ");
	assert_int_equal(h.sections, 2);
	pcap_close(&r);
	pcap(0xa1b2c3d4);
	memset(&h, 0, sizeof(h));
	assert_int_equal(open_described(&r, &h, file_fd()), 0);
	assert_int_equal(pcap_next(&r, &f), 1);
	assert_int_equal(f.interface, 0);
	assert_string_equal(h.names, "0:127: ");
	pcap_close(&r);
	h.answer = -ENOMEM;
	assert_int_equal(open_described(&r, &h, file_fd()), -ENOMEM);
	assert_non_null(r.why);
	pcap_close(&r);
}

/* A live stream, with as many interfaces as there may be, and one more. */
static void writes_many_interfaces(int fd, unsigned int count)
{
	FILE *f = fdopen(fd, "w");

	assert_int_equal(fwrite(file, 1, len, f), len);
	len = 0;
	p32(1), p32(20), p16(1), p16(0), p32(0), p32(20);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(fwrite(file, 1, len, f), len);
	len = 0;
	p32(6), p32(32), p32(count - 1), p32(0), p32(0), p32(0), p32(0), p32(32);
	assert_int_equal(fwrite(file, 1, len, f), len);
	fclose(f);
}

static void only_callers_that_ask_get_many_interfaces(void **state)
{
	static const struct {
		unsigned int limit, count;
		int result;
	} cases[] = {
		{ PCAP_INTERFACES_MAX, PCAP_INTERFACES_MAX, 1 },
		{ PCAP_INTERFACES_MAX, PCAP_INTERFACES_MAX + 1, -EBADMSG },
		{ PCAP_INTERFACES_LIVE, PCAP_INTERFACES_LIVE, 1 },
		{ PCAP_INTERFACES_LIVE, PCAP_INTERFACES_LIVE + 1, -EBADMSG },
	};

	(void)state;
	swapped = false;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *t = tmpfile();
		int fd = dup(fileno(t));
		struct pcap_reader r;
		struct pcap_frame f;

		len = 0;
		p32(0x0a0d0d0a), p32(28), p32(0x1a2b3c4d), p16(1), p16(0), p32(-1), p32(-1),
			p32(28);
		writes_many_interfaces(dup(fd), cases[i].count);
		fclose(t);
		lseek(fd, 0, SEEK_SET);
		assert_int_equal(pcap_init(&r, fd), 0);
		r.interface_limit = cases[i].limit;
		assert_int_equal(pcap_start(&r), 0);
		assert_int_equal(pcap_next(&r, &f), cases[i].result);
		if (cases[i].result == 1)
			assert_int_equal(f.interface, cases[i].count - 1);
		pcap_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_kinds_of_pcap),
		cmocka_unit_test(pcapng_blocks_of_every_kind),
		cmocka_unit_test(no_file_has_the_link_type_of_events),
		cmocka_unit_test(cut_and_damaged_files_are_errors_and_nothing_worse),
		cmocka_unit_test(interfaces_are_told_with_their_names),
		cmocka_unit_test(only_callers_that_ask_get_many_interfaces),
	};

	return cmocka_run_group_tests_name("pcap_read", tests, NULL, NULL);
}
