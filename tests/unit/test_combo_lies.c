// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/wired_next.o wire/fields.o wire/combo_open.o */
/*
 * Malformed combos, made by hand, value by value, with one wrong value, length or byte. Each combo
 * has one fault only. Most tests also use the greatest valid value, so that the limit itself is
 * tested.
 */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/combo.h"

#define SENSOR_ID 0x1234
#define LINKTYPE_PPP 9 /* a link type without templates */
#define FRAMES 10      /* of make_all */

enum lie_kind { LIE_NONE, LIE_VALUE, LIE_EXTRA, LIE_CUT, LIE_LENGTH, LIE_UNIT, LIE_PRESENT };

#define ALL_COLUMNS ((1ULL << COMBO_COLUMNS) - 1)

/* The fault: `value` replaces value number `index` of a column; a column has a byte more or less,
 * or its length says `value`; or the unit or the list of columns is wrong. */
static struct {
	enum lie_kind kind;
	int column, index;
	uint64_t value;
} lie;

static struct {
	uint8_t p[8192];
	size_t len;
	int count; /* values so far */
} columns[COMBO_COLUMNS];
static uint8_t data[1024];
static size_t data_len;
static struct combo_reader reader;

static uint64_t value_of(int column, uint64_t v)
{
	int index = columns[column].count++;

	return lie.kind == LIE_VALUE && lie.column == column && lie.index == index ? lie.value : v;
}

static void put(int column, uint64_t v)
{
	uint8_t *p = columns[column].p + columns[column].len;

	columns[column].len += store_varint(p, value_of(column, v));
}

static void put_byte(int column, uint8_t v)
{
	columns[column].p[columns[column].len++] = value_of(column, v);
}

static void put_be(int column, uint64_t v, int bytes)
{
	store_be(columns[column].p + columns[column].len, value_of(column, v), bytes);
	columns[column].len += bytes;
}

static void put_data(const void *bytes, size_t len)
{
	put(COMBO_KEPTS, len);
	memcpy(data + data_len, bytes, len);
	data_len += len;
}

static void put_run(uint64_t frames, uint64_t linktype)
{
	put(COMBO_KINDS, frames);
	put(COMBO_KINDS, linktype);
	put_byte(COMBO_KINDS, 0);
	put_byte(COMBO_KINDS, 1);
}

static void start(void)
{
	memset(columns, 0, sizeof(columns));
	data_len = 0;
}

/* Lays out the values in a block of exactly their size, and opens it. */
static int open_it(uint32_t frames)
{
	static uint8_t out[sizeof(columns) + sizeof(data)];
	uint8_t *p = out, *copy;
	int result;

	if (lie.kind == LIE_EXTRA)
		columns[lie.column].p[columns[lie.column].len++] = 0;
	if (lie.kind == LIE_CUT)
		columns[lie.column].len--;
	p += store_varint(p, 0);
	store_be(p, 1700000000000000000ULL, 8);
	p += 8;
	p += store_varint(p, lie.kind == LIE_UNIT ? lie.value : 1000);
	p += store_varint(p, lie.kind == LIE_PRESENT ? lie.value : ALL_COLUMNS);
	for (int i = 0; i < COMBO_COLUMNS; i++)
		p += store_varint(p, lie.kind == LIE_LENGTH && lie.column == i ? lie.value
									       : columns[i].len);
	for (int i = 0; i < COMBO_RANDOMS; i++) {
		memcpy(p, columns[i].p, columns[i].len);
		p += columns[i].len;
	}
	memcpy(p, data, data_len);
	p += data_len;
	memcpy(p, columns[COMBO_RANDOMS].p, columns[COMBO_RANDOMS].len);
	p += columns[COMBO_RANDOMS].len;
	copy = malloc(p - out);
	memcpy(copy, out, p - out);
	result = combo_open(&reader, copy, p - out, frames);
	free(copy);
	return result;
}

/* ---- a combo with something in every column ----------------------------------------------------
 */

/* A radiotap header with clock, signal, aggregate and stamp (in microseconds). */
static const uint8_t radio[44] = { 0, 0, 44, 0, 0x21, 0, 0x50, 0, [42] = 1 };
static const uint8_t beacon[32] = { 0x80 };
static const uint8_t cipher[32] = { 0x08, 0x41, [27] = 0x20 };
#define RADIO_LEN (sizeof(radio) + sizeof(beacon))
#define PLAIN_LEN 6
#define LONG_LEN (DOT11_TEMPLATES_LEN_MAX + 1)

static void put_form(int form)
{
	put(COMBO_TIMES, 2);
	put_byte(COMBO_FORMS, form);
	put(COMBO_CUTS, 0);
}

static void put_radio(const uint8_t *mac, int form)
{
	uint8_t bytes[RADIO_LEN];

	put_form(form);
	if (!form) {
		memcpy(bytes, radio, sizeof(radio));
		memcpy(bytes + sizeof(radio), mac, sizeof(beacon));
		put_data(bytes, sizeof(bytes));
	}
	put(COMBO_CLOCKS, 0);
	put(COMBO_STAMPS, 0);
	put(COMBO_AGGREGATES, 0);
	put_byte(COMBO_SIGNALS, 0);
	put(COMBO_SEQUENCES, 2);
	put(mac == beacon ? COMBO_BEACONS : COMBO_PACKETS, 0);
}

static void put_raw(int form)
{
	put_form(form);
	if (!form)
		put_data(cipher, sizeof(cipher));
	put(COMBO_SEQUENCES, 2);
	put(COMBO_PACKETS, 0);
}

static void put_event(uint64_t frames, const char *text)
{
	size_t len = strlen(text);

	put(COMBO_EVENTS, frames);
	put(COMBO_EVENTS, 1);
	put(COMBO_EVENTS, len);
	memcpy(columns[COMBO_EVENTS].p + columns[COMBO_EVENTS].len, text, len);
	columns[COMBO_EVENTS].len += len;
}

/* TCP with time stamps. */
#define TCP_LEN 66
static const uint8_t tcp[TCP_LEN] = { [12] = 8, [14] = 0x45, [17] = 52, [23] = 6, [46] = 0x80,
				      [54] = 1, [55] = 1,    [56] = 8,	[57] = 10 };

static void put_difference(int byte)
{
	put_be(COMBO_DIFFERENCES, 2, 2); /* in the second eight bytes, */
	put_byte(COMBO_DIFFERENCES, 1);	 /* the first of them */
	put_byte(COMBO_DIFFERENCES, byte);
}

/* A new flow, a frame of which no field is as expected, and its other direction, a flow that is
 * told as differences from it. */
static void put_flows(void)
{
	put_byte(COMBO_FLOWS, WIRED_TEMPLATES_MAX);
	put(COMBO_TIMES, 2);
	put_byte(COMBO_FLOWS, WIRED_WHOLE);
	put(COMBO_KEPTS, TCP_LEN);
	put(COMBO_CUTS, 0);
	memcpy(columns[COMBO_HEADS].p, tcp, TCP_LEN);
	columns[COMBO_HEADS].len = TCP_LEN;
	put_byte(COMBO_REFERENCES, 0);

	put(COMBO_TIMES, 2);
	put_byte(COMBO_FLOWS, 1);
	put_byte(COMBO_MASKS, 0xff);
	put_byte(COMBO_RARES, 0x77);
	put_be(COMBO_TOTALS, 60, 2);
	put_be(COMBO_IDS, 5, 2);
	put_be(COMBO_SEQS, 5, 4);
	put_be(COMBO_ACKS, 5, 4);
	put_byte(COMBO_TCP_FLAGS, 0x10);
	put_be(COMBO_WINDOWS, 5, 2);
	put_be(COMBO_TCP_STAMPS, 5, 4);
	put_be(COMBO_TCP_STAMPS, 5, 4);
	put_be(COMBO_RANDOMS, 5, 2);
	put_be(COMBO_RANDOMS, 5, 2);
	put_difference(5);
	put(COMBO_ORIGINALS, 100);
	put(COMBO_KEPTS, TCP_LEN + 4);
	memcpy(data + data_len, "tail", 4);
	data_len += 4;

	put(COMBO_TIMES, 2);
	put_byte(COMBO_FLOWS, WIRED_DIFFERENCE);
	put_byte(COMBO_REFERENCES, 1);
	put_difference(6);
	put_byte(COMBO_RARES, 0x42);
	put(COMBO_ORIGINALS, TCP_LEN);
	put(COMBO_KEPTS, TCP_LEN);
	put_byte(COMBO_REFERENCES, 1);
}

/* A frame that is too long for a form, and whose tail is in `randoms`. */
static void put_long(const uint8_t *bytes)
{
	put_form(0);
	put(COMBO_KEPTS, LONG_LEN);
	memcpy(data + data_len, bytes, TAILS_HEAD);
	data_len += TAILS_HEAD;
	put_byte(COMBO_PLACES, TAILS_RANDOM);
	memcpy(columns[COMBO_RANDOMS].p, bytes + TAILS_HEAD, LONG_LEN - TAILS_HEAD);
	columns[COMBO_RANDOMS].len = LONG_LEN - TAILS_HEAD;
}

static void make_all(void)
{
	static const uint8_t plain[LONG_LEN] = "plain";

	start();
	put_run(3, 127);
	put_radio(beacon, 0);
	put_radio(cipher, 0);
	put_radio(beacon, 1);
	put_run(2, 105);
	put_raw(0);
	put_raw(3);
	put_run(1, LINKTYPE_PPP);
	put(COMBO_TIMES, 2);
	put_data(plain, PLAIN_LEN);
	put(COMBO_CUTS, 0);
	put_run(1, 127);
	put_long(plain);
	put_run(3, LINKTYPE_ETHERNET);
	put_flows();
	put_event(2, "an event");
	put_event(0, "another");
	put_event(4, "the last");
}

static void assert_opens(const char *what, int got, int want)
{
	if (got != want)
		fail_msg("%s (column %d, index %d, value %llu): %d", what, lie.column, lie.index,
			 (unsigned long long)lie.value, got);
}

static void assert_lie(const char *what, enum lie_kind kind, int column, uint64_t value)
{
	lie.kind = kind;
	lie.column = column;
	lie.value = value;
	make_all();
	assert_opens(what, open_it(FRAMES), -EBADMSG);
	memset(&lie, 0, sizeof(lie));
}

static void without_a_lie_it_opens(void **state)
{
	(void)state;
	make_all();
	for (int i = 0; i < COMBO_COLUMNS; i++)
		assert_true(columns[i].len > 0);
	assert_int_equal(open_it(FRAMES), 0);
	assert_int_equal(reader.templates.dot11.count, 3);
	assert_int_equal(reader.templates.wired.count, 2);
	assert_int_equal(reader.templates.wired.list[1].peer, 2);
	assert_true(reader.templates.dot11.list[1].at.beacon &&
		    reader.templates.dot11.list[2].at.packet);
}

static void what_is_left_over_or_missing(void **state)
{
	(void)state;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		assert_lie("a byte too many", LIE_EXTRA, i, 0);
		assert_lie("a byte too few", LIE_CUT, i, 0);
	}
	for (int change = -1; change <= 1; change += 2) {
		make_all();
		data_len += change;
		assert_opens("data", open_it(FRAMES), -EBADMSG);
		make_all();
		assert_opens("frames", open_it(FRAMES + change), -EBADMSG);
	}
	make_all();
	assert_opens("no frames", open_it(0), -EBADMSG);
}

static void lengths_of_columns(void **state)
{
	static const uint64_t huge[] = { 8192,	     COMBO_BODY_MAX, UINT32_MAX, 1ULL << 32,
					 1ULL << 63, UINT64_MAX - 1, UINT64_MAX };

	(void)state;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		make_all();
		assert_lie("length + 1", LIE_LENGTH, i, columns[i].len + 1);
		make_all();
		assert_lie("length - 1", LIE_LENGTH, i, columns[i].len - 1);
		assert_lie("length 0", LIE_LENGTH, i, 0);
		for (size_t h = 0; h < sizeof(huge) / sizeof(huge[0]); h++)
			assert_lie("huge length", LIE_LENGTH, i, huge[h]);
	}
}

static void lists_of_columns(void **state)
{
	(void)state;
	for (int i = 0; i < COMBO_COLUMNS; i++)
		assert_lie("a column is left out", LIE_PRESENT, 0, ALL_COLUMNS & ~(1ULL << i));
	assert_lie("no columns", LIE_PRESENT, 0, 0);
	assert_lie("an unknown column", LIE_PRESENT, 0, ALL_COLUMNS + 1);
	assert_lie("an unknown column", LIE_PRESENT, 0, ALL_COLUMNS | 1ULL << 63);
}

static void units(void **state)
{
	static const uint64_t wrong[] = { 0, 2, 999, 1001, 1000000, 1ULL << 32, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_lie("unit", LIE_UNIT, 0, wrong[i]);
	lie.kind = LIE_UNIT;
	lie.value = 1;
	make_all();
	assert_opens("unit", open_it(FRAMES), 0);
	memset(&lie, 0, sizeof(lie));
}

/* A snapshot length of UINT32_MAX - `left`, as a difference of 32 bits, which is -1 - left. */
#define CUT_LEAVES(left) (2 * (uint64_t)(left) + 1)

static void values_and_their_limits(void **state)
{
	static const struct {
		const char *what;
		int column, index;
		uint64_t value;
		bool is_lie;
	} lies[] = {
		{ "frames of the last run", COMBO_KINDS, 16, 2, true },
		{ "frames of the last run", COMBO_KINDS, 16, 4, true },
		{ "frames of the last run", COMBO_KINDS, 16, 0, true },
		{ "frames of the last run", COMBO_KINDS, 16, UINT64_MAX, true },
		{ "frames of the first run", COMBO_KINDS, 0, 2, true },
		{ "frames of the first run", COMBO_KINDS, 0, 4, true },
		{ "link type of frames with forms", COMBO_KINDS, 1, 65536 + 127, true },
		{ "link type of plain frames", COMBO_KINDS, 9, 65535, false },
		{ "link type of plain frames", COMBO_KINDS, 9, 65536, true },
		{ "link type of plain frames", COMBO_KINDS, 9, 65537, true },
		{ "form behind the last", COMBO_FORMS, 2, 3, true },
		{ "form behind the last", COMBO_FORMS, 2, 255, true },
		{ "form of no frame", COMBO_FORMS, 0, 1, true },
		{ "bytes kept", COMBO_KEPTS, 4, LONG_LEN + 1, true },
		{ "bytes kept", COMBO_KEPTS, 4, LONG_LEN - 1, true },
		{ "bytes kept", COMBO_KEPTS, 4, UINT32_MAX + 1ULL + LONG_LEN, true },
		{ "cut, new form", COMBO_CUTS, 0, CUT_LEAVES(RADIO_LEN), false },
		{ "cut, new form", COMBO_CUTS, 0, CUT_LEAVES(RADIO_LEN - 1), true },
		{ "cut, new form", COMBO_CUTS, 0, CUT_LEAVES(0), true },
		{ "cut, form", COMBO_CUTS, 2, CUT_LEAVES(RADIO_LEN), false },
		{ "cut, form", COMBO_CUTS, 2, CUT_LEAVES(RADIO_LEN - 1), true },
		{ "cut, form", COMBO_CUTS, 2, UINT32_MAX, false },
		{ "cut, form", COMBO_CUTS, 2, UINT32_MAX + 1ULL, true },
		{ "cut, plain", COMBO_CUTS, 5, UINT32_MAX - PLAIN_LEN, false },
		{ "cut, plain", COMBO_CUTS, 5, UINT32_MAX - PLAIN_LEN + 1, true },
		{ "cut, plain", COMBO_CUTS, 5, UINT64_MAX, true },
		{ "cut, too long for a form", COMBO_CUTS, 6, UINT32_MAX - LONG_LEN, false },
		{ "cut, too long for a form", COMBO_CUTS, 6, UINT32_MAX - LONG_LEN + 1, true },
		{ "aggregate", COMBO_AGGREGATES, 1, UINT32_MAX, false },
		{ "aggregate", COMBO_AGGREGATES, 1, UINT32_MAX + 1ULL, true },
		{ "sequence", COMBO_SEQUENCES, 1, UINT16_MAX, false },
		{ "sequence", COMBO_SEQUENCES, 1, UINT16_MAX + 1, true },
		{ "packet", COMBO_PACKETS, 1, (1ULL << 48) - 1, false },
		{ "packet", COMBO_PACKETS, 1, 1ULL << 48, true },
		{ "clock", COMBO_CLOCKS, 1, UINT64_MAX, false },
		{ "stamp", COMBO_STAMPS, 1, UINT64_MAX, false },
		{ "beacon", COMBO_BEACONS, 1, UINT64_MAX, false },
		{ "time", COMBO_TIMES, 1, UINT64_MAX, false },
		{ "event's place", COMBO_EVENTS, 6, FRAMES - 2, false },
		{ "event's place", COMBO_EVENTS, 6, FRAMES - 1, true },
		{ "event's place", COMBO_EVENTS, 0, FRAMES, true },
		{ "event's place", COMBO_EVENTS, 6, UINT64_MAX, true },
		{ "event's place", COMBO_EVENTS, 6, (1ULL << 32) + 1, true },
		{ "event's type", COMBO_EVENTS, 1, UINT32_MAX, false },
		{ "event's type", COMBO_EVENTS, 1, UINT32_MAX + 1ULL, true },
		{ "number of templates", COMBO_FLOWS, 0, 1, false }, /* the second replaces it */
		{ "number of templates", COMBO_FLOWS, 0, 0, true },
		{ "number of templates", COMBO_FLOWS, 0, 255, true },
		{ "template behind the last", COMBO_FLOWS, 2, 2, true },
		{ "template behind the last", COMBO_FLOWS, 2, 254, true },
		{ "template behind the last", COMBO_FLOWS, 3, 3, true },
		{ "peer", COMBO_REFERENCES, 0, 1, false },
		{ "peer behind the last", COMBO_REFERENCES, 0, 2, true },
		{ "differences from none", COMBO_REFERENCES, 1, 0, true },
		{ "differences from the new one", COMBO_REFERENCES, 1, 2, true },
		{ "peer", COMBO_REFERENCES, 2, 2, false },
		{ "peer behind the last", COMBO_REFERENCES, 2, 3, true },
		{ "bits of a UDP header", COMBO_RARES, 0, 0x7f, true },
		{ "bits that have no meaning", COMBO_RARES, 0, 0xf7, true },
		{ "bits of a known flow", COMBO_RARES, 1, 0x46, true },
		{ "words of differences", COMBO_DIFFERENCES, 0, 0, true },
		{ "words of differences", COMBO_DIFFERENCES, 0, 3, true },
		{ "words of differences", COMBO_DIFFERENCES, 0, 1 << 9, true },
		{ "a difference in the last word", COMBO_DIFFERENCES, 3, 1 << 8, false },
		{ "bytes of differences", COMBO_DIFFERENCES, 1, 0, true },
		{ "bytes of differences", COMBO_DIFFERENCES, 1, 3, true },
		{ "a difference in the length", COMBO_DIFFERENCES, 0, 1 << 2, true },
		{ "original length", COMBO_ORIGINALS, 0, UINT32_MAX, false },
		{ "original length", COMBO_ORIGINALS, 0, UINT32_MAX + 1ULL, true },
		{ "original length", COMBO_ORIGINALS, 0, TCP_LEN + 3, true },
		{ "bytes kept of a head", COMBO_KEPTS, 7, TCP_LEN - 1, true },
		{ "bytes kept of a tail", COMBO_KEPTS, 6, TCP_LEN + 3, true },
		{ "bytes kept of a tail", COMBO_KEPTS, 6, TCP_LEN + 5, true },
		{ "bytes kept of a tail", COMBO_KEPTS, 6, (1ULL << 32) + TCP_LEN + 4, true },
		{ "cut, new flow", COMBO_CUTS, 7, UINT32_MAX - TCP_LEN, false },
		{ "cut, new flow", COMBO_CUTS, 7, UINT32_MAX - TCP_LEN + 1, true },
		{ "mask", COMBO_MASKS, 0, 0x7f, true },
		{ "a tail's place", COMBO_PLACES, 0, TAILS_BYTES, true },
		{ "a tail's place", COMBO_PLACES, 0, TAILS_REPEATED, true },
		{ "a tail's place", COMBO_PLACES, 0, TAILS_REPEATED + 1, true },
		{ "a place of no tail", COMBO_PLACES, 0, TAILS_RANDOM | 4, true },
		{ "a place of no tail", COMBO_PLACES, 0, TAILS_RANDOM | 0x80, true },
		{ "event's length", COMBO_EVENTS, 8, 9, true },
		{ "event's length", COMBO_EVENTS, 8, 7, true },
		{ "event's length", COMBO_EVENTS, 8, UINT64_MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie.kind = LIE_VALUE;
		lie.column = lies[i].column;
		lie.index = lies[i].index;
		lie.value = lies[i].value;
		make_all();
		assert_true(lie.index < columns[lie.column].count);
		assert_opens(lies[i].what, open_it(FRAMES), lies[i].is_lie ? -EBADMSG : 0);
		memset(&lie, 0, sizeof(lie));
	}
}

/* ---- forms that only their number and link type keep apart -------------------------------------
 */

/* Two frames of four bytes, too short for any field of any link type. The values are the second
 * one's. */
static int open_pair(uint64_t first, uint64_t second)
{
	start();
	put_run(1, first);
	put_form(0);
	put_data("\xd4\0\0\0", 4);
	put_run(1, second);
	put_form(1);
	return open_it(2);
}

static void a_form_of_another_link_type(void **state)
{
	(void)state;
	assert_int_equal(open_pair(127, 127), 0);
	assert_int_equal(open_pair(105, 105), 0);
	assert_int_equal(open_pair(127, 105), -EBADMSG);
	assert_int_equal(open_pair(105, 127), -EBADMSG);
}

/* Three frames. The reader still knows the forms of the combo before. */
static int open_three(int second, int third)
{
	const int forms[] = { 0, second, third };

	start();
	put_run(3, 105);
	for (int i = 0; i < 3; i++) {
		put_form(forms[i]);
		if (!forms[i])
			put_data("\xd4\0\0\0", 4);
	}
	return open_it(3);
}

static void a_form_of_the_combo_before(void **state)
{
	(void)state;
	assert_int_equal(open_three(0, 2), 0);
	assert_int_equal(open_three(1, 1), 0);
	assert_int_equal(open_three(0, 2), 0);
	assert_int_equal(open_three(1, 2), -EBADMSG);
	assert_int_equal(open_three(0, 3), -EBADMSG);
}

/* ---- bytes after the last ----------------------------------------------------------------------
 */

/* One frame's form would be the body's last bytes, but they are too few. Another's columns are
 * empty at the end of the body. Sanitizers see a read beyond it. */
static void a_body_that_ends_too_early(void **state)
{
	(void)state;
	for (size_t missing = 0; missing <= sizeof(cipher); missing++) {
		start();
		put_run(1, 105);
		put_raw(0);
		data_len -= missing;
		assert_int_equal(open_it(1), missing ? -EBADMSG : 0);
	}
	start();
	put_run(1, 105);
	put(COMBO_TIMES, 0);
	assert_int_equal(open_it(1), -EBADMSG); /* no form */
	start();
	assert_int_equal(open_it(1), -EBADMSG); /* no run */
	put(COMBO_KINDS, 1);
	put(COMBO_KINDS, 1);
	assert_int_equal(open_it(1), -EBADMSG); /* no interface */
	put_byte(COMBO_KINDS, 0);
	assert_int_equal(open_it(1), -EBADMSG); /* no direction */
}

static int open_two(uint64_t first, uint64_t second)
{
	start();
	put_run(2, LINKTYPE_PPP);
	put(COMBO_KEPTS, first);
	put(COMBO_KEPTS, second);
	data_len = 6;
	for (int i = 0; i < 2; i++) {
		put(COMBO_TIMES, 0);
		put(COMBO_CUTS, 0);
	}
	return open_it(2);
}

/* Two lengths whose sum is right only after a wrap. */
static void lengths_that_wrap(void **state)
{
	(void)state;
	assert_int_equal(open_two(3, 3), 0);
	assert_int_equal(open_two(3, 4), -EBADMSG);
	assert_int_equal(open_two(7, UINT64_MAX), -EBADMSG);
	assert_int_equal(open_two((1ULL << 32) + 3, 3 - (1ULL << 32)), -EBADMSG);
}

/* ---- a form as differences --------------------------------------------------------------------
 */

#define ALIKE_LEN 70

/* The second frame's bytes 8, 15 and 69 differ from the first one's. The values are its own. */
static int open_alike(uint64_t linktype)
{
	static const uint8_t form[ALIKE_LEN] = { 0xd4 };

	start();
	put_run(1, 105);
	put_form(DOT11_TEMPLATES_WHOLE);
	put_data(form, sizeof(form));
	put_run(1, linktype);
	put_form(DOT11_TEMPLATES_DIFFERENCE);
	put_byte(COMBO_FORMS, 0);
	put_byte(COMBO_FORMS, 1 << 1);
	put_byte(COMBO_FORMS, 1 << 0);
	put_byte(COMBO_FORMS, 1 << 0 | 1 << 7);
	put_byte(COMBO_FORMS, 1 << 5);
	memcpy(data + data_len, "abc", 3);
	data_len += 3;
	return open_it(2);
}

static void a_form_as_differences(void **state)
{
	uint8_t want[ALIKE_LEN] = { 0xd4, [8] = 'a', [15] = 'b', [69] = 'c' };
	struct combo_frame f;

	(void)state;
	assert_int_equal(open_alike(105), 0);
	assert_int_equal(combo_next(&reader, &f), 1);
	assert_int_equal(combo_next(&reader, &f), 1);
	assert_int_equal(f.kept_len, ALIKE_LEN);
	assert_memory_equal(f.data, want, ALIKE_LEN);
	assert_int_equal(reader.templates.dot11.count, 2);
	assert_int_equal(open_alike(127), -EBADMSG);
}

static void lies_about_differences(void **state)
{
	static const struct {
		const char *what;
		enum lie_kind kind;
		int column, index;
		uint64_t value;
		bool is_lie;
	} lies[] = {
		{ "from none", LIE_VALUE, COMBO_FORMS, 2, 1, true },
		{ "from none", LIE_VALUE, COMBO_FORMS, 2, 255, true },
		{ "another group", LIE_VALUE, COMBO_FORMS, 3, 1 << 7, false },
		{ "no group", LIE_VALUE, COMBO_FORMS, 3, 0, true },
		{ "a group too many", LIE_VALUE, COMBO_FORMS, 3, 3, true },
		{ "a group behind the end", LIE_VALUE, COMBO_FORMS, 4, 1 << 1, true },
		{ "no byte of a group", LIE_VALUE, COMBO_FORMS, 5, 0, true },
		{ "bytes that are missing", LIE_VALUE, COMBO_FORMS, 5, 7, true },
		{ "bytes that are left", LIE_VALUE, COMBO_FORMS, 5, 1, true },
		{ "another byte", LIE_VALUE, COMBO_FORMS, 6, 1, false },
		{ "a byte behind the end", LIE_VALUE, COMBO_FORMS, 6, 1 << 6, true },
		{ "bits that are missing", LIE_CUT, COMBO_FORMS, 0, 0, true },
		{ "bits that are left", LIE_EXTRA, COMBO_FORMS, 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie.kind = lies[i].kind;
		lie.column = lies[i].column;
		lie.index = lies[i].index;
		lie.value = lies[i].value;
		assert_opens(lies[i].what, open_alike(105), lies[i].is_lie ? -EBADMSG : 0);
		memset(&lie, 0, sizeof(lie));
	}
}

/* ---- large output from small input -------------------------------------------------------------
 */

/* `count` frames of one form of DOT11_TEMPLATES_LEN_MAX bytes, and one plain frame of `more`. */
static int open_many(uint32_t count, size_t more)
{
	static const uint8_t form[DOT11_TEMPLATES_LEN_MAX] = { 0xd4 };

	start();
	put_run(count, 105);
	put_form(0);
	put_data(form, sizeof(form));
	for (uint32_t i = 1; i < count; i++)
		put_form(1);
	put_run(1, LINKTYPE_PPP);
	put(COMBO_TIMES, 0);
	put_data(form, more);
	put(COMBO_CUTS, 0);
	return open_it(count + 1);
}

/* `count` frames of as many forms, all as long as possible and without a difference. */
static int open_many_alike(uint32_t count)
{
	static const uint8_t form[DOT11_TEMPLATES_LEN_MAX] = { 0xd4 };

	start();
	put_run(count, 105);
	put_form(DOT11_TEMPLATES_WHOLE);
	put_data(form, sizeof(form));
	for (uint32_t i = 1; i < count; i++) {
		put_form(DOT11_TEMPLATES_DIFFERENCE);
		put_byte(COMBO_FORMS, 0);
		put_be(COMBO_FORMS, 0, DOT11_TEMPLATES_LEN_MAX / 64);
	}
	return open_it(count);
}

/* `count` frames, each in its own run. Frame i has the link type and interface of frame i %
 * `pairs`; these change one of the two in turn. The direction changes with every frame. */
static int open_runs(uint32_t count, uint32_t pairs)
{
	start();
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pair = i % pairs;

		put(COMBO_KINDS, 1);
		put(COMBO_KINDS, 1000 + pair / 2);
		put_byte(COMBO_KINDS, pair % 2);
		put_byte(COMBO_KINDS, i & 0xff);
		put(COMBO_TIMES, 0);
		put(COMBO_KEPTS, 0);
		put(COMBO_CUTS, 0);
	}
	return open_it(count);
}

static void more_kinds_than_a_combo_may_have(void **state)
{
	(void)state;
	assert_int_equal(open_runs(COMBO_KINDS_MAX, COMBO_KINDS_MAX), 0);
	assert_int_equal(open_runs(200, COMBO_KINDS_MAX), 0);
	assert_int_equal(open_runs(COMBO_KINDS_MAX + 1, COMBO_KINDS_MAX + 1), -EBADMSG);
	assert_int_equal(open_runs(200, COMBO_KINDS_MAX + 1), -EBADMSG);
}

/* `count` events of `len` bytes each, and no frame. */
static int open_events(uint32_t count, size_t len)
{
	char text[COMBO_EVENT_MAX + 2] = "";

	start();
	memset(text, 'x', len);
	while (count--)
		put_event(0, text);
	return open_it(0);
}

static void more_events_than_a_combo_may_have(void **state)
{
	(void)state;
	assert_int_equal(open_events(1, 0), 0);
	assert_int_equal(open_events(0, 0), -EBADMSG);
	assert_int_equal(open_events(COMBO_EVENTS_MAX, 5), 0);
	assert_int_equal(open_events(COMBO_EVENTS_MAX + 1, 5), -EBADMSG);
	assert_int_equal(open_events(1, COMBO_EVENT_MAX), 0);
	assert_int_equal(open_events(1, COMBO_EVENT_MAX + 1), -EBADMSG);
}

static void more_bytes_than_a_combo_may_make(void **state)
{
	const uint32_t full = COMBO_BYTES_MAX / DOT11_TEMPLATES_LEN_MAX;

	(void)state;
	assert_int_equal(open_many(full, 0), 0);
	assert_int_equal(open_many(full - 1, DOT11_TEMPLATES_LEN_MAX), 0);
	assert_int_equal(open_many(full, 1), -EBADMSG);
	assert_int_equal(open_many(full + 1, 0), -EBADMSG);
	assert_int_equal(open_many(COMBO_FRAMES_MAX - 1, 0), -EBADMSG);
	assert_int_equal(open_many_alike(full), 0);
	assert_int_equal(reader.templates.dot11.count, DOT11_TEMPLATES_MAX);
	assert_int_equal(open_many_alike(full + 1), -EBADMSG);
}

/* ---- header ------------------------------------------------------------------------------------
 */

static void headers(void **state)
{
	static const struct {
		const char *what;
		int at, size;
		uint64_t value;
		bool is_lie;
	} lies[] = {
		{ "version", 0, 2, COMBO_VERSION, false },
		{ "version", 0, 2, COMBO_VERSION + 1, true },
		{ "version", 0, 2, COMBO_VERSION_OLDEST, false },
		{ "version", 0, 2, COMBO_VERSION_OLDEST - 1, true },
		{ "version", 0, 2, 0, true },
		{ "version", 0, 2, COMBO_VERSION | 0x100, true },
		{ "sensor", 2, 2, SENSOR_ID + 1, true },
		{ "sensor", 2, 2, 0, true },
		{ "sequence", 4, 2, 0xffff, false },
		{ "frames", 6, 2, 0, false },
		{ "frames", 6, 2, COMBO_FRAMES_MAX, false },
		{ "frames", 6, 2, COMBO_FRAMES_MAX + 1, true },
		{ "frames", 6, 2, 0xffff, true },
		{ "size", 8, 4, COMBO_BODY_MAX, false },
		{ "size", 8, 4, COMBO_BODY_MAX + 1, true },
		{ "size", 8, 4, UINT32_MAX, true },
		{ "magic", 12, 4, COMBO_MAGIC ^ 1, true },
		{ "magic", 12, 4, COMBO_MAGIC ^ 1u << 31, true },
		{ "codec", 16, 1, COMBO_ZSTD_DOT11, false },
		{ "codec", 16, 1, COMBO_ZSTD | COMBO_DENSE, false },
		{ "codec: dense, but stored", 16, 1, COMBO_STORED | COMBO_DENSE, true },
		{ "codec", 16, 1, COMBO_ZSTD_DOT11 + 1, true },
		{ "codec", 16, 1, 255, true },
		{ "codec: stored, but of another size", 16, 1, COMBO_STORED, true },
	};
	struct combo_header h;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		uint8_t in[COMBO_HEADER_LEN + COMBO_CODEC_LEN];

		combo_header_write(in, SENSOR_ID, 7, 3, 5);
		in[COMBO_HEADER_LEN] = COMBO_ZSTD;
		store_be(in + lies[i].at, lies[i].value, lies[i].size);
		if (combo_header_read(&h, in, sizeof(in), SENSOR_ID) !=
		    (lies[i].is_lie ? -EBADMSG : 0))
			fail_msg("%s %llu", lies[i].what, (unsigned long long)lies[i].value);
	}
}

/* In a stored combo, header and datagrams must agree. A header needs all its bytes. */
static void sizes_of_stored_combos(void **state)
{
	enum { LEN = COMBO_HEADER_LEN + COMBO_CODEC_LEN };
	struct combo_header h;

	(void)state;
	for (size_t len = 0; len <= LEN + 9; len++) {
		uint8_t *in = calloc(1, LEN + 9), *copy = malloc(len ? len : 1);

		combo_header_write(in, SENSOR_ID, 7, 3, 5);
		memcpy(copy, in, len);
		assert_int_equal(combo_header_read(&h, copy, len, SENSOR_ID),
				 len == LEN + 5 ? 0 : -EBADMSG);
		free(in);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_lie_it_opens),
		cmocka_unit_test(what_is_left_over_or_missing),
		cmocka_unit_test(lengths_of_columns),
		cmocka_unit_test(lists_of_columns),
		cmocka_unit_test(units),
		cmocka_unit_test(values_and_their_limits),
		cmocka_unit_test(a_form_of_another_link_type),
		cmocka_unit_test(a_form_of_the_combo_before),
		cmocka_unit_test(a_body_that_ends_too_early),
		cmocka_unit_test(lengths_that_wrap),
		cmocka_unit_test(a_form_as_differences),
		cmocka_unit_test(lies_about_differences),
		cmocka_unit_test(more_kinds_than_a_combo_may_have),
		cmocka_unit_test(more_events_than_a_combo_may_have),
		cmocka_unit_test(more_bytes_than_a_combo_may_make),
		cmocka_unit_test(headers),
		cmocka_unit_test(sizes_of_stored_combos),
	};

	return cmocka_run_group_tests_name("combo_lies", tests, NULL, NULL);
}
