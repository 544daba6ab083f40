// SPDX-License-Identifier: GPL-2.0
/* links: wire/fields.o */
/*
 * Fields at a header's end: headers that end with a field, one byte earlier and one later. Every
 * frame is in a block of exactly its size, so that sanitizers see an access beyond it.
 */
#include "unit.h"

#include <saluki/linktype.h>

#include "wire/bytes.h"
#include "wire/fields.h"

#define RADIOTAP LINKTYPE_RADIOTAP
#define RAW LINKTYPE_IEEE802_11
#define MORE (1u << 31)
#define AGAIN (1u << 29)

static uint8_t frame[600];
static struct places at;

static void start(void)
{
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = 0x11;
}

/* Locates the fields of the first `len` bytes of `frame`, takes them and puts them back. Returns
 * the offset of the 802.11 header. */
static uint32_t locate(uint32_t len, uint16_t linktype)
{
	struct radiotap_layouts layouts = { 0 };
	uint8_t *copy = malloc(len ? len : 1);
	struct places again;
	struct fields f;
	uint32_t mac;

	memcpy(copy, frame, len);
	mac = fields_locate(&at, &layouts, copy, len, linktype);
	fields_slots(&at, copy + mac, len - mac);
	fields_take(&at, &f, copy);
	/* The result does not depend on the fields' values. */
	memset(&again, 0, sizeof(again));
	assert_int_equal(fields_locate(&again, &layouts, copy, len, linktype), mac);
	assert_memory_equal(&again.radio, &at.radio, sizeof(at.radio));
	assert_int_equal(again.sequence, at.sequence);
	assert_int_equal(again.beacon, at.beacon);
	assert_int_equal(again.packet, at.packet);
	fields_put(&at, &f, copy);
	assert_memory_equal(copy, frame, len);
	free(copy);
	return mac;
}

static void set_radiotap(uint32_t end, const uint32_t *words, int count)
{
	start();
	store_le(frame, 0, 2);
	store_le(frame + 2, end, 2);
	for (int i = 0; i < count; i++)
		store_le(frame + 4 + 4 * i, words[i] | (i < count - 1 ? MORE : 0), 4);
}

/* After a header that is not radiotap's, no 802.11 header is expected. */
static void assert_not_found(uint32_t len)
{
	assert_int_equal(locate(len, RADIOTAP), len);
	assert_int_equal(at.radio.end, 0);
	assert_int_equal(at.sequence, 0);
}

static void present_words_end_with_the_header(void **state)
{
	static const uint32_t words[FIELDS_WORDS_MAX + 1];

	(void)state;
	for (uint32_t count = 1; count <= FIELDS_WORDS_MAX + 1; count++) {
		uint32_t exact = 4 + 4 * count;

		for (uint32_t end = 8; end <= exact + 9; end++) {
			set_radiotap(end, words, count);
			if (end >= exact && count <= FIELDS_WORDS_MAX) {
				assert_int_equal(locate(end, RADIOTAP), end);
				assert_int_equal(at.sequence, 0);
				assert_int_equal(at.radio.end, end);
				frame[end] = 0x08;
				assert_int_equal(locate(end + 24, RADIOTAP), end);
				assert_int_equal(at.sequence, end + 22);
			} else {
				assert_not_found(end);
				frame[end] = 0x08;
				assert_not_found(end + 24);
			}
		}
	}
}

static void present_words_without_end(void **state)
{
	(void)state;
	for (uint32_t end = 8; end < 60; end++) {
		memset(frame, 0xff, sizeof(frame));
		store_le(frame, 0, 2);
		store_le(frame + 2, end, 2);
		assert_not_found(end);
		assert_not_found(end + 100);
	}
}

static void header_lengths(void **state)
{
	static const uint32_t none[1];

	(void)state;
	for (uint32_t end = 0; end < 300; end++) {
		set_radiotap(end, none, 1);
		for (uint32_t len = end > 2 ? end - 2 : 0; len < end + 3; len++) {
			if (end < 8 || end > 255 || len < end)
				assert_not_found(len);
			else
				assert_int_equal(locate(len, RADIOTAP), end);
		}
	}
	set_radiotap(8, none, 1);
	frame[0] = 1;
	assert_not_found(40);
}

/* Each field alone, after one present word: it is found if the header holds all of it. */
static void radiotap_fields_end_with_the_header(void **state)
{
	static const struct {
		int bit;
		uint32_t at, size;
	} fields[] = { { 0, 8, 8 },  { 1, 8, 1 },  { 5, 8, 1 },	 { 7, 8, 2 },
		       { 12, 8, 1 }, { 20, 8, 8 }, { 22, 8, 12 } };

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (uint32_t end = 8; end <= 8 + fields[i].size + 1; end++) {
			const uint32_t word = 1u << fields[i].bit;
			uint8_t want = end >= 8 + fields[i].size ? 8 : 0;

			set_radiotap(end, &word, 1);
			assert_int_equal(locate(end, RADIOTAP), end);
			assert_int_equal(at.radio.clock, fields[i].bit == 0 ? want : 0);
			assert_int_equal(at.radio.flags, fields[i].bit == 1 ? want : 0);
			assert_int_equal(at.radio.aggregate, fields[i].bit == 20 ? want : 0);
			assert_int_equal(at.radio.stamp,
					 fields[i].bit == 22 && end >= 19 && (frame[18] & 0x0f) == 1
						 ? want
						 : 0);
			if (fields[i].bit == 5 || fields[i].bit == 7 || fields[i].bit == 12)
				assert_int_equal(at.radio.signal_count, want ? 1 : 0);
		}
	}
}

/* Nine signals in three words, of which FIELDS_SIGNALS are taken. */
static void signals_end_with_the_header(void **state)
{
	static const uint32_t each = 1u << 5 | 1u << 7 | 1u << 12 | AGAIN,
			      words[3] = { each, each, each };
	static const uint32_t ends[] = { 17, 20, 21, 22, 24, 25, 26, 28, 29 }; /* of the signals */

	(void)state;
	for (uint32_t end = 16; end < 40; end++) {
		uint32_t count = 0;

		while (count < sizeof(ends) / sizeof(ends[0]) && ends[count] <= end)
			count++;
		set_radiotap(end, words, 3);
		assert_int_equal(locate(end, RADIOTAP), end);
		assert_int_equal(at.radio.signal_count,
				 count < FIELDS_SIGNALS ? count : FIELDS_SIGNALS);
	}
}

/* Fields after a field of unknown size are not found. */
static void fields_of_unknown_size(void **state)
{
	(void)state;
	for (int bit = 27; bit <= 28; bit++) {
		const uint32_t words[2] = { 1u << bit | AGAIN, 1u << 5 };

		set_radiotap(40, words, 2);
		assert_int_equal(locate(40, RADIOTAP), 40);
		assert_int_equal(at.radio.signal_count, bit == 27);
	}
}

/* ---- 802.11 ------------------------------------------------------------------------------------
 */

/* First bytes of frames, and the lengths of their headers, plain and padded to four. */
static const struct {
	uint8_t kind, flags;
	uint32_t len, padded;
	bool beacon;
} kinds[] = {
	{ 0x80, 0, 24, 24, true },     { 0x50, 0, 24, 24, true },     { 0x80, 0x80, 28, 28, true },
	{ 0x08, 0x41, 24, 24, false }, { 0x08, 0x43, 30, 32, false }, { 0x88, 0x41, 26, 28, false },
	{ 0x88, 0xc1, 30, 32, false }, { 0x88, 0x43, 32, 32, false }, { 0x88, 0xc3, 36, 36, false },
	{ 0x08, 0xc1, 24, 24, false }, { 0xd0, 0x40, 24, 24, false },
};

static void set_mac(uint8_t *mac, int kind, uint32_t body)
{
	start();
	mac[0] = kinds[kind].kind;
	mac[1] = kinds[kind].flags;
	mac[body + 2] = 0;
	mac[body + 3] = 0x20;
}

/* The frame ends within the header, or up to 9 bytes after it. */
static void assert_mac(int kind, uint32_t radio, uint32_t body, uint16_t linktype)
{
	for (uint32_t len = 0; len <= body + 9; len++) {
		uint32_t there = len >= body + 8 ? radio + body : 0;

		assert_int_equal(locate(radio + len, linktype), radio);
		assert_int_equal(at.sequence, len < 24 ? 0 : radio + 22);
		assert_int_equal(at.beacon, kinds[kind].beacon ? there : 0);
		assert_int_equal(at.packet, kinds[kind].beacon ? 0 : there);
	}
}

static void mac_headers_end_with_the_frame(void **state)
{
	static const uint32_t flags = 1 << 1;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		set_mac(frame, i, kinds[i].len);
		assert_mac(i, 0, kinds[i].len, RAW);
		set_mac(frame + 9, i, kinds[i].padded);
		store_le(frame, 9ULL << 16 | (uint64_t)flags << 32, 8);
		frame[8] = 0x20; /* padded */
		assert_mac(i, 9, kinds[i].padded, RADIOTAP);
	}
}

static void only_what_can_have_fields(void **state)
{
	static const uint8_t none[][2] = { { 0x04, 0 }, { 0xd4, 0 }, { 0x0c, 0 }, { 0x09, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		start();
		memcpy(frame, none[i], 2);
		assert_int_equal(locate(60, RAW), 0);
		assert_true(!at.sequence && !at.beacon && !at.packet);
	}
	/* WEP has no ExtIV; TKIP has a byte that CCMP reserves. */
	set_mac(frame, 3, 24);
	frame[27] = 0;
	locate(60, RAW);
	assert_true(at.sequence && !at.packet);
	set_mac(frame, 3, 24);
	frame[26] = 1;
	locate(60, RAW);
	assert_true(at.sequence && !at.packet);
}

/* Receiver, transmitter and traffic id are read if the frame has all of them. */
static void slots_of_short_headers(void **state)
{
	uint8_t station = 0, counter = 0;

	(void)state;
	start();
	frame[0] = 0x88;
	frame[1] = 0x01;
	store_le(frame + 6, 0x01020304, 4);
	store_le(frame + 12, 0x0a0b0c0d, 4);
	for (uint32_t len = 0; len < 30; len++) {
		locate(len, RAW);
		if (len == 10)
			station = at.station;
		if (len == 16)
			counter = at.counter;
		assert_true(len >= 10 ? at.station != 0 : at.station == 0);
		assert_true(len >= 16 ? at.counter && at.pair : !at.counter && !at.pair);
		if (len >= 16)
			assert_true(at.station != station);
		if (len > 24)
			assert_true(at.counter != counter);
		else if (len >= 16)
			assert_int_equal(at.counter, counter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(present_words_end_with_the_header),
		cmocka_unit_test(present_words_without_end),
		cmocka_unit_test(header_lengths),
		cmocka_unit_test(radiotap_fields_end_with_the_header),
		cmocka_unit_test(signals_end_with_the_header),
		cmocka_unit_test(fields_of_unknown_size),
		cmocka_unit_test(mac_headers_end_with_the_frame),
		cmocka_unit_test(only_what_can_have_fields),
		cmocka_unit_test(slots_of_short_headers),
	};

	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
