// SPDX-License-Identifier: GPL-2.0
/* links: dissect/ppi.o dissect/prism.o dissect/radio.o dissect/radiotap.o print/dump.o
 * print/line.o print/line_dns.o print/line_dot11.o print/line_icmp.o print/line_ip.o
 * print/line_management.o print/line_network.o print/line_radio.o print/screen.o print/stamp.o
 * print/text.o wire/channel.o */
/*
 * The short line of any frame, and the screen's output. Input: link type, options, bytes truncated,
 * the frame. Always holds: no byte beyond the frame is read. The output is one line, with a length
 * or a mark of truncation unless the line was cut. However the text was divided, the screen shows
 * no control character.
 */
#include "fuzz.h"

#include "print/dump.h"
#include "print/line.h"

static const uint16_t linktypes[] = { 1, 105, 119, 127, 163, 192, 228 };

static struct text text;
static struct screen screen;
static int file = -1;
static uint8_t shown[1 << 17];

/* Returns the bytes that the screen has written. */
static size_t written(void)
{
	ssize_t n;

	CHECK(screen_flush(&screen) == 0);
	n = pread(file, shown, sizeof(shown), 0);
	CHECK(n >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	return n;
}

static void check_shown(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CHECK(shown[i] >= 0x20 || shown[i] == '\n' || shown[i] == '\t');
		CHECK(shown[i] != 0x7f);
		CHECK(shown[i] != 0xc2 || (i + 1 < n && shown[i + 1] >= 0xa0));
	}
}

/* The text in two parts shows what the whole does. */
static void check_parts(const char *bytes, size_t len, size_t part)
{
	static uint8_t whole[sizeof(shown)];
	size_t n;

	screen_add(&screen, bytes, len);
	screen_add(&screen, "\n", 1);
	n = written();
	check_shown(n);
	memcpy(whole, shown, n);
	part %= len + 1;
	screen_add(&screen, bytes, part);
	screen_add(&screen, bytes + part, len - part);
	screen_add(&screen, "\n", 1);
	CHECK(written() == n && !memcmp(whole, shown, n));
}

static void check_line(void)
{
	CHECK(text.len == strlen(text.bytes) && text.len < TEXT_LEN && text.len > 0);
	CHECK(!memchr(text.bytes, '\n', text.len) && !memchr(text.bytes, '\033', text.len));
	CHECK(text.len == TEXT_LEN - 1 || strstr(text.bytes, "length ") ||
	      strchr(text.bytes, ')') || strstr(text.bytes, "[|") || strstr(text.bytes, "frag ("));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	unsigned int type = fuzz_number(&in, 1), how = fuzz_number(&in, 1);
	size_t cut_off = fuzz_number(&in, 2), part = fuzz_number(&in, 2), n;
	const uint8_t *bytes = fuzz_bytes(&in, SIZE_MAX, &n);
	uint8_t *copy = fuzz_copy(bytes, n);
	struct print_options o = { .link = how & 1,
				   .ascii = how & 2,
				   .hex = how >> 2 & 3,
				   .hex_text = how >> 4 & 3,
				   .stamp = how >> 6 };
	struct pcap_frame f = { .time_ns = 1700000000123456789ULL,
				.cap_len = n,
				.orig_len = n + cut_off,
				.data = copy };
	struct stamp s;
	unsigned int behind;

	if (file < 0)
		file = fuzz_file("", 0);
	f.linktype = linktypes[type % (sizeof(linktypes) / sizeof(*linktypes))];
	stamp_init(&s, o.stamp);
	screen_init(&screen, file, type & 128);
	behind = line_make(&text, &s, &f, how & 1 ? "sensor:mon0" : NULL, &o);
	CHECK(behind <= n);
	check_line();
	check_parts(text.bytes, text.len, part);
	dump_frame(&screen, &o, copy, n, behind);
	check_shown(written());
	check_parts((const char *)copy, n, part);
	fuzz_free(copy);
	return 0;
}
