// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/wired_next.o wire/fields.o wire/combo_open.o */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/combo.h"

#define FRAMES 300

static uint8_t bytes[FRAMES][200];
static struct combo_frame frames[FRAMES];

static int setup(void **state)
{
	(void)state;
	srand(7);
	for (int i = 0; i < FRAMES; i++) {
		for (size_t j = 0; j < sizeof(bytes[i]); j++)
			bytes[i][j] = rand();
		frames[i] = (struct combo_frame){
			.time_ns = 1700000000000000000ULL + i * 1000 - (i % 7 == 0) * 5000,
			.kept_len = rand() % 40,
			.linktype = i % 50 < 40 ? 127 : 1,
			.interface = i / 100,
			.direction = i % 3 == 0,
			.data = bytes[i],
		};
		frames[i].orig_len = frames[i].kept_len + (i % 2 ? 0 : rand() % 2000);
	}
	frames[5].orig_len = UINT32_MAX;
	frames[6].time_ns = 0;
	frames[7].time_ns = UINT64_MAX;
	return 0;
}

static int hex(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void assert_frame(const struct combo_frame *got, const struct combo_frame *want)
{
	assert_true(got->time_ns == want->time_ns);
	assert_int_equal(got->orig_len, want->orig_len);
	assert_int_equal(got->kept_len, want->kept_len);
	assert_int_equal(got->linktype, want->linktype);
	assert_int_equal(got->interface, want->interface);
	assert_int_equal(got->direction, want->direction);
	assert_memory_equal(got->data, want->data, want->kept_len);
}

/* Fills `c` with frames from `from` on until it is full or the frames end. Returns the next frame's
 * index. */
static int fill(struct combo *c, int from)
{
	combo_reset(c);
	while (from < FRAMES && combo_fits(c, frames[from].kept_len))
		combo_append(c, &frames[from++]);
	return from;
}

static void what_is_appended_is_next(void **state)
{
	static const size_t sizes[] = { COMBO_SIZE_MIN, 3000, COMBO_SIZE_DEFAULT, COMBO_SIZE_MAX };

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct combo c;
		int from = 0;

		assert_int_equal(combo_init(&c, sizes[s], 192), 0);
		while (from < FRAMES) {
			struct combo_reader r;
			struct combo_frame f;
			int first = from;

			from = fill(&c, from);
			assert_true(from > first);
			c.first = first;
			combo_close(&c);
			assert_true(c.body_len <= sizes[s] + COMBO_HEADROOM_MAX);
			assert_int_equal(combo_open(&r, c.body, c.body_len, c.frames), 0);
			assert_int_equal(r.first, first);
			for (int i = first; i < from; i++) {
				assert_int_equal(combo_next(&r, &f), 1);
				assert_frame(&f, &frames[i]);
			}
			assert_int_equal(combo_next(&r, &f), 0);
		}
		combo_free(&c);
	}
}

static void an_empty_combo_takes_the_largest_frame(void **state)
{
	static uint8_t large[32768];
	struct combo_frame f = { .kept_len = sizeof(large), .orig_len = 65535, .data = large };
	struct combo_reader r;
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, sizeof(large)), 0);
	assert_true(combo_fits(&c, sizeof(large)));
	combo_append(&c, &f);
	assert_false(combo_fits(&c, 1));
	combo_close(&c);
	assert_true(c.body_len <= COMBO_BODY_MAX);
	assert_int_equal(combo_open(&r, c.body, c.body_len, 1), 0);
	combo_free(&c);
}

static void frames_of_no_bytes_are_counted_too(void **state)
{
	struct combo_frame f = { .data = (const uint8_t *)"" };
	struct combo_reader r;
	struct combo c;
	int n = 0;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MAX, 192), 0);
	for (; combo_fits(&c, 0); n++)
		combo_append(&c, &f);
	assert_int_equal(n, COMBO_FRAMES_MAX);
	combo_close(&c);
	assert_int_equal(combo_open(&r, c.body, c.body_len, n), 0);
	combo_free(&c);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Returns event `n`'s length; its bytes come from the random block. */
static size_t event_len(uint32_t n)
{
	return n % 11 == 3 ? COMBO_EVENT_MAX : n * 7 % 50;
}

static void assert_event(const struct combo_event *e, uint32_t n)
{
	assert_int_equal(e->type, n * 1000003);
	assert_int_equal(e->len, event_len(n));
	assert_memory_equal(e->bytes, (uint8_t *)bytes + n, e->len);
}

/* Adds frames and events in `order` ('f', 'e'), as many as fit, from `*f` and `*e` on. */
static const char *fill_mixed(struct combo *c, const char *order, uint32_t *f, uint32_t *e)
{
	combo_reset(c);
	for (; *order; order++) {
		if (*order == 'f' && (*f == FRAMES || !combo_fits(c, frames[*f].kept_len)))
			break;
		if (*order == 'e' && !combo_event_fits(c, event_len(*e)))
			break;
		if (*order == 'f') {
			combo_append(c, &frames[(*f)++]);
		} else {
			combo_event(c, *e * 1000003, (uint8_t *)bytes + *e, event_len(*e));
			(*e)++;
		}
	}
	return order;
}

/* The reader gives all in the order of adding. */
static void assert_mixed(struct combo *c, const char *order, const char *end, uint32_t f,
			 uint32_t e)
{
	struct combo_reader r;
	struct combo_frame frame;
	struct combo_event event;
	uint32_t events = c->events;

	combo_close(c);
	assert_true(c->body_len <= c->size + COMBO_HEADROOM_MAX);
	assert_int_equal(combo_open(&r, c->body, c->body_len, c->frames), 0);
	assert_int_equal(r.events, events);
	for (; order < end; order++) {
		if (*order == 'f') {
			assert_int_equal(combo_next_event(&r, &event), 0);
			assert_int_equal(combo_next(&r, &frame), 1);
			assert_frame(&frame, &frames[f++]);
		} else {
			assert_int_equal(combo_next_event(&r, &event), 1);
			assert_event(&event, e++);
		}
	}
	assert_int_equal(combo_next_event(&r, &event), 0);
	assert_int_equal(combo_next(&r, &frame), 0);
}

static void events_come_back_between_their_frames(void **state)
{
	static const size_t sizes[] = { COMBO_SIZE_MIN, 3000, COMBO_SIZE_DEFAULT };
	char order[2 * FRAMES] = "eeffefeeefe";
	uint32_t combos = 0;

	(void)state;
	for (size_t i = strlen(order); i < sizeof(order) - 1; i++)
		order[i] = i % 16 < 13 && i * i % 7 ? 'f' : 'e';
	for (size_t s = 0; s < 3; s++) {
		uint32_t f = 0, e = 0;
		struct combo c;

		assert_int_equal(combo_init(&c, sizes[s], 192), 0);
		for (const char *p = order, *end; *p && f < FRAMES - 1; p = end, combos++) {
			uint32_t first_f = f, first_e = e;

			end = fill_mixed(&c, p, &f, &e);
			assert_true(end > p);
			assert_mixed(&c, p, end, first_f, first_e);
		}
		combo_free(&c);
	}
	assert_true(combos > 20);
}

static void a_combo_may_have_events_alone(void **state)
{
	static const char order[] = "ee";
	uint32_t f = 0, e = 0;
	struct combo_reader r;
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 32768), 0);
	combo_append(&c, &frames[0]); /* replaces the former content */
	fill_mixed(&c, order, &f, &e);
	assert_false(combo_fits(&c, 32768)); /* it is not empty */
	assert_true(combo_fits(&c, 1000));
	assert_mixed(&c, order, &order[2], 0, 0);
	combo_reset(&c);
	assert_true(combo_is_empty(&c));
	combo_close(&c); /* an empty combo is none */
	assert_int_equal(combo_open(&r, c.body, c.body_len, 0), -EBADMSG);
	combo_free(&c);
}

static void events_are_bounded(void **state)
{
	struct combo c;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MAX, 192), 0);
	assert_true(combo_event_fits(&c, COMBO_EVENT_MAX));
	assert_false(combo_event_fits(&c, COMBO_EVENT_MAX + 1));
	for (; combo_event_fits(&c, 1); n++)
		combo_event(&c, 1, "", 1);
	assert_int_equal(n, COMBO_EVENTS_MAX);
	assert_true(combo_fits(&c, 192));
	combo_reset(&c);
	for (n = 0; combo_event_fits(&c, COMBO_EVENT_MAX); n++)
		combo_event(&c, 1, bytes, COMBO_EVENT_MAX);
	assert_true(n < COMBO_EVENTS_MAX);
	combo_close(&c);
	assert_true(c.body_len <= COMBO_SIZE_MAX);
	combo_free(&c);
}

/* ---- 802.11 ---------------------------------------------------------------------------------- */

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static void random_bytes(uint8_t *p, size_t len)
{
	while (len--)
		*p++ = random_below(256);
}

static void set_le32(uint8_t *p, uint32_t v)
{
	store_le(p, v, 4);
}

/* Present words of real drivers, and some that no driver uses. */
static uint32_t random_radiotap(uint8_t *p)
{
	static const uint32_t words[][3] = {
		{ 0x0000482f },
		{ 0x0008482b },
		{ 0xa000402f, 0x00000820 },
		{ 0xa040402f, 0xa0000820, 0x00000820 },
		{ 0x0000086f },
		{ 0x0010482b },
		{ 0x00000000 },
		{ 0xffffffff, 0x7fffffff },
		{ 0xc00000ff, 0x00ffffff, 0 },
		{ 0x80000001, 0x80000020, 0x000000a0 },
	};
	uint32_t n = random_below(sizeof(words) / sizeof(words[0])), count = 1, len;

	while (count < 3 && words[n][count])
		count++;
	len = 4 + 4 * count + random_below(2) * 24 + random_below(40);
	p[0] = random_below(30) == 0;
	p[1] = 0;
	p[2] = random_below(30) ? len : random_below(256);
	p[3] = random_below(30) == 0;
	for (uint32_t i = 0; i < count; i++)
		set_le32(p + 4 + 4 * i, words[n][i]);
	return len;
}

/* A frame of one of a few stations. Its first bytes are likely ones. */
static uint32_t random_dot11(uint8_t *p, uint32_t len)
{
	static const uint8_t kinds[][2] = { { 0x80, 0 },    { 0x50, 0x08 }, { 0x88, 0x41 },
					    { 0x88, 0x4b }, { 0x08, 0xc2 }, { 0xd4, 0 },
					    { 0xb4, 0 },    { 0xd0, 0x40 }, { 0xff, 0xff } };

	memset(p, 0x11, len);
	memcpy(p, kinds[random_below(9)], len < 2 ? len : 2);
	for (uint32_t at = 9; at < 22 && at < len; at += 6)
		p[at] = random_below(3);
	for (uint32_t at = 22; at < 48 && at < len; at++)
		p[at] = random_below(4) ? at % 5 << 5 : random_below(256);
	return len;
}

#define DOT11_FRAMES 3000
#define DOT11_LEN 700

static uint8_t dot11_bytes[DOT11_FRAMES][DOT11_LEN];
static struct combo_frame dot11_frames[DOT11_FRAMES];

/* Many frames repeat an earlier one except for a few bytes, which may or may not be fields. */
static void make_dot11(uint32_t seed)
{
	random_state = seed;
	for (int i = 0; i < DOT11_FRAMES; i++) {
		struct combo_frame *f = &dot11_frames[i], *from = i ? f - 1 - random_below(i) : f;
		uint8_t *p = dot11_bytes[i];

		*f = *from;
		f->data = p;
		f->time_ns = 1700000000000000000ULL + i * 1000 * (1 + seed % 2 * random_below(9));
		if (i > 20 && random_below(8)) {
			memcpy(p, from->data, DOT11_LEN);
			for (uint32_t n = random_below(5); n; n--)
				p[random_below(80)] = random_below(256);
		} else {
			uint32_t radio = random_radiotap(p), mac = random_below(90);

			random_bytes(p + 4 * 4, DOT11_LEN - 4 * 4);
			f->linktype = random_below(5) ? 127 : random_below(3) ? 105 : 1;
			if (f->linktype == 105)
				radio = 0;
			f->kept_len = radio + random_dot11(p + radio, mac);
			if (random_below(50) == 0)
				f->kept_len = random_below(DOT11_LEN);
		}
		f->orig_len = f->kept_len + (random_below(4) ? 0 : random_below(2000));
		if (random_below(300) == 0)
			f->orig_len = UINT32_MAX;
	}
}

static void assert_all_come_back(const struct combo_frame *list, int count, size_t size)
{
	struct combo_reader r;
	struct combo_frame f;
	struct combo c;

	assert_int_equal(combo_init(&c, size, DOT11_LEN), 0);
	for (int from = 0, to = 0; from < count; from = to) {
		combo_reset(&c);
		while (to < count && combo_fits(&c, list[to].kept_len))
			combo_append(&c, &list[to++]);
		combo_close(&c);
		assert_true(c.body_len <=
			    (size > DOT11_LEN ? size : DOT11_LEN) + COMBO_HEADROOM_MAX);
		assert_int_equal(combo_open(&r, c.body, c.body_len, c.frames), 0);
		for (int i = from; i < to; i++) {
			assert_int_equal(combo_next(&r, &f), 1);
			assert_frame(&f, &list[i]);
		}
		assert_int_equal(combo_next(&r, &f), 0);
	}
	combo_free(&c);
}

static void frames_of_80211_come_back(void **state)
{
	static const size_t sizes[] = { COMBO_SIZE_MIN, COMBO_SIZE_DEFAULT, COMBO_SIZE_MAX };

	(void)state;
	for (uint32_t seed = 0; seed < 30; seed++) {
		make_dot11(seed);
		assert_all_come_back(dot11_frames, DOT11_FRAMES, sizes[seed % 3]);
	}
}

/* A radiotap header with clock, signal and more; then a beacon, an encrypted frame, a probe request
 * and an acknowledgement. */
static const uint8_t radio[26] = { 0, 0, 26, 0, 0x2f, 0x48, 0, 0,    0, 0,    0, 0, 0,
				   0, 0, 0,  0, 2,    0x6c, 9, 0xa0, 0, 0xd8, 1, 0, 0 };
static const uint8_t beacon[60] = { 0x80, 0,  0,   0,	255, 255, 255, 255, 255,  255,	2,    1,
				    2,	  3,  4,   5,	2,   1,	  2,   3,   4,	  5,	0x10, 0,
				    9,	  9,  9,   9,	9,   0,	  0,   0,   100,  0,	0x11, 4,
				    0,	  4,  't', 'e', 's', 't', 1,   8,   0x82, 0x84, 0x8b, 0x96,
				    12,	  18, 24,  36,	3,   1,	  1,   5,   2,	  0,	1,    0 };
static const uint8_t cipher[34] = { 0x88, 0x41, 0x30, 0, 2, 1,	  2, 3, 4, 5, 2,    9,
				    8,	  7,	6,    5, 2, 1,	  2, 3, 4, 5, 0x20, 0,
				    0,	  0,	7,    0, 0, 0x20, 0, 0, 0, 0 };
static const uint8_t ack[10] = { 0xd4, 0, 0, 0, 2, 9, 8, 7, 6, 5 };

/* A file may have any stamps: those before 1970 are just below 2^64. */
static void clocks_come_back_when_time_begins_anew(void **state)
{
	uint8_t radiotap[] = { 0, 0, 16, 0, 1, 0, 0, 0, 9, 8, 7, 6, 5, 4, 3, 2 };
	struct combo_frame list[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		list[i] = (struct combo_frame){ .time_ns = UINT64_MAX - 1499 + i * 1000,
						.kept_len = sizeof(radiotap),
						.orig_len = sizeof(radiotap),
						.linktype = 127,
						.data = radiotap };
	assert_true(list[2].time_ns == 500);
	assert_all_come_back(list, 4, COMBO_SIZE_MAX);
	/* Both end in 500 ns, and the one between them does not. */
	list[1].time_ns = UINT64_MAX - 1115;
	assert_int_equal(list[1].time_ns % 1000, 500);
	assert_all_come_back(list + 1, 2, COMBO_SIZE_MAX);
}

static void set_frame(struct combo_frame *f, uint8_t *p, const uint8_t *mac, size_t len, int n)
{
	memset(f, 0, sizeof(*f));
	f->time_ns = 1700000000000000000ULL + n * 102400000ULL;
	f->linktype = 127;
	f->data = p;
	f->kept_len = sizeof(radio) + len;
	f->orig_len = f->kept_len + (mac == cipher ? 1000 : 0);
	memcpy(p, radio, sizeof(radio));
	memcpy(p + sizeof(radio), mac, len);
	store_le(p + 8, 5000000 + n * 102401, 8);
	p[22] += n % 3;
	if (mac == ack)
		return;
	store_le(p + sizeof(radio) + 22, (100 + n) << 4, 2);
	if (mac == beacon)
		store_le(p + sizeof(radio) + 24, 777777777 + n * 102401, 8);
	if (mac == cipher)
		store_le(p + sizeof(radio) + 26, 300 + n, 2);
}

/* Writes a body as an older version: it lists the lengths of all columns that it has. Returns the
 * body's length. */
static size_t as_older(uint8_t *out, const struct combo *c, uint16_t version)
{
	const uint8_t *p = c->body, *end = c->body + c->body_len;
	uint64_t v, present = 0;
	size_t n;

	assert_int_equal(load_varint(&p, end, &v), 0);
	p += 8;
	assert_int_equal(load_varint(&p, end, &v), 0); /* the unit */
	n = p - c->body;
	memcpy(out, c->body, n);
	assert_int_equal(load_varint(&p, end, &present), 0);
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		v = 0;
		if (present >> i & 1)
			assert_int_equal(load_varint(&p, end, &v), 0);
		if (i < COMBO_FLOWS || (i == COMBO_EVENTS && version == 3))
			n += store_varint(out + n, v);
		else
			assert_int_equal(v, 0);
	}
	memcpy(out + n, p, end - p);
	return n + (end - p);
}

/* Leaves frames that a combo has whole: no two have the same length, and no tail looks random. Then
 * comes each again. Returns their number. */
static int drop_alike(void)
{
	bool seen[DOT11_LEN + 1] = { false };
	int count = 0;

	for (int i = 0; i < DOT11_FRAMES; i++) {
		if (!seen[dot11_frames[i].kept_len])
			dot11_frames[count++] = dot11_frames[i];
		seen[dot11_frames[i].kept_len] = true;
	}
	for (int i = 0; i < count; i++) {
		struct combo_frame *f = &dot11_frames[i];

		if (f->kept_len > TAILS_HEAD)
			memset((uint8_t *)f->data + TAILS_HEAD, 0, f->kept_len - TAILS_HEAD);
		dot11_frames[count + i] = *f;
	}
	return 2 * count;
}

static void a_body_of_an_older_version_gives_the_same_frames(void **state)
{
	struct combo_reader r;
	struct combo_frame f;
	struct combo_event e;
	struct combo c;
	int count = 0, most;

	(void)state;
	make_dot11(1);
	most = drop_alike();
	assert_int_equal(combo_init(&c, COMBO_SIZE_MAX, DOT11_LEN), 0);
	for (; count < most && combo_fits(&c, dot11_frames[count].kept_len); count++) {
		if (dot11_frames[count].linktype == 1)
			dot11_frames[count].linktype = 9; /* not stored as in version 4 */
		combo_append(&c, &dot11_frames[count]);
	}
	combo_close(&c);
	for (uint16_t version = 2; version <= 3; version++) {
		uint8_t *old = malloc(c.body_len + COMBO_COLUMNS);
		size_t len = as_older(old, &c, version);

		for (uint16_t other = 2; other <= COMBO_VERSION; other++)
			if (other != version)
				assert_int_equal(combo_open_version(&r, old, len, c.frames, other),
						 -EBADMSG);
		assert_int_equal(combo_open_version(&r, old, len, c.frames, version), 0);
		for (int i = 0; i < count; i++) {
			assert_int_equal(combo_next_event(&r, &e), 0);
			assert_int_equal(combo_next(&r, &f), 1);
			assert_frame(&f, &dot11_frames[i]);
		}
		assert_int_equal(combo_next(&r, &f), 0);
		assert_int_equal(combo_next_event(&r, &e), 0);
		free(old);
	}
	combo_free(&c);
}

static void older_versions_number_a_form_more(void **state)
{
	enum { FORMS = 255, COLUMNS = COMBO_FLOWS + 1 /* and events */ };
	uint8_t body[2000] = { [9] = 1 }, *p = body + 10; /* a unit of 1 ns */
	const size_t lengths[COLUMNS] = { 5, FORMS + 1, FORMS, FORMS + 1, FORMS + 1 };
	struct combo_reader r;
	struct combo_frame f;

	(void)state;
	for (int i = 0; i < COLUMNS; i++)
		p += store_varint(p, lengths[i]);
	p += store_varint(p, FORMS + 1);
	p += store_varint(p, 105);
	p += 1 + 1 + lengths[COMBO_TIMES];
	memset(p, 1, FORMS); /* each has a byte */
	p += FORMS + lengths[COMBO_CUTS] + FORMS;
	*p++ = FORMS; /* the last form again */
	for (int i = 0; i < FORMS; i++)
		*p++ = i;
	assert_int_equal(combo_open_version(&r, body, p - body, FORMS + 1, 3), 0);
	for (int i = 0; i <= FORMS; i++)
		assert_int_equal(combo_next(&r, &f), 1);
	assert_int_equal(f.kept_len, 1);
	assert_int_equal(*f.data, FORMS - 1);
}

/* ---- forms as differences ---------------------------------------------------------------------
 */

/* Fills the list with frames of one length, which differ in the bytes 30 to 33. */
static void make_alike(uint32_t len, int count)
{
	for (int i = 0; i < count; i++) {
		struct combo_frame *f = &dot11_frames[i];

		memset(dot11_bytes[i], 0, DOT11_LEN);
		dot11_bytes[i][0] = 0xd4;
		store_be(dot11_bytes[i] + 30, i * 0x10203u, 4);
		*f = (struct combo_frame){ .data = dot11_bytes[i], .linktype = 105 };
		f->kept_len = f->orig_len = len;
	}
}

static void forms_that_are_alike_cost_their_differences(void **state)
{
	struct combo c;

	(void)state;
	for (uint32_t len = 34; len <= DOT11_LEN; len++) {
		make_alike(len, 20);
		assert_all_come_back(dot11_frames, 20, COMBO_SIZE_DEFAULT);
	}
	make_alike(100, 2);
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, DOT11_LEN), 0);
	combo_append(&c, &dot11_frames[0]);
	combo_append(&c, &dot11_frames[1]);
	assert_int_equal(c.data_len, 100 + 3);
	combo_free(&c);
}

static void forms_in_which_a_quarter_differs(void **state)
{
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, DOT11_LEN), 0);
	for (uint32_t more = 0; more < 2; more++) {
		make_alike(40, 2);
		memset(dot11_bytes[0] + 4, 0xff, 10 + more);
		combo_reset(&c);
		store_be(dot11_bytes[1] + 30, 0, 4);
		combo_append(&c, &dot11_frames[0]);
		combo_append(&c, &dot11_frames[1]);
		assert_int_equal(c.data_len, 40 + (more ? 40 : 10));
		assert_all_come_back(dot11_frames, 2, COMBO_SIZE_DEFAULT);
	}
	combo_free(&c);
}

static void more_forms_than_have_numbers_or_room(void **state)
{
	(void)state;
	make_alike(60, DOT11_FRAMES);
	assert_all_come_back(dot11_frames, DOT11_FRAMES, COMBO_SIZE_MAX);
	make_alike(DOT11_TEMPLATES_LEN_MAX, DOT11_FRAMES);
	assert_all_come_back(dot11_frames, DOT11_FRAMES, COMBO_SIZE_MAX);
}

static void clocks_and_counters_cost_a_byte_or_two(void **state)
{
	static uint8_t bytes[300][100];
	struct combo_frame f;
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 192), 0);
	for (int n = 0; n < 300; n += 3) {
		set_frame(&f, bytes[n], beacon, sizeof(beacon), n);
		combo_append(&c, &f);
		set_frame(&f, bytes[n + 1], cipher, sizeof(cipher), n);
		combo_append(&c, &f);
		set_frame(&f, bytes[n + 2], ack, sizeof(ack), n);
		combo_append(&c, &f);
	}
	assert_int_equal(c.data_len,
			 3 * sizeof(radio) + sizeof(beacon) + sizeof(cipher) + sizeof(ack));
	combo_close(&c);
	assert_true(c.body_len < 300 * 10 + 300);
	combo_free(&c);
}

static const uint8_t ethernet[] = "\2\1\2\3\4\5\2\5\4\3\2\1\x88\xcc";

/* Five frames and an event. */
static void fill_for_frozen(struct combo *c, struct combo_frame f[5], uint8_t bytes[5][100])
{
	set_frame(&f[0], bytes[0], beacon, sizeof(beacon), 0);
	set_frame(&f[1], bytes[1], cipher, sizeof(cipher), 0);
	set_frame(&f[2], bytes[2], beacon, sizeof(beacon), 1);
	set_frame(&f[3], bytes[3], cipher, sizeof(cipher), 2);
	f[4] = (struct combo_frame){ .time_ns = f[3].time_ns + 1000,
				     .kept_len = 14,
				     .orig_len = 60,
				     .linktype = 1,
				     .interface = 3,
				     .direction = 1,
				     .data = ethernet };
	for (int i = 0; i < 5; i++)
		combo_append(c, &f[i]);
	combo_event(c, 300, "event", 5);
	c->first = 1234;
	combo_close(c);
}

/* The format of version 4, byte by byte. A change that fails this test must raise COMBO_VERSION.
 * tests/wire/vectors.json has more of it. */
static void the_format_is_frozen(void **state)
{
	static char frozen[] =
		"d20917979cfe362a0000e807bfbe803008090306040b04060603020e09047f000001010301000080"
		"c00c80c00c02563c0e00d00f00002e00000102ffd28ffd82898506000204d8d80102c601c6010002"
		"e29cfde00500d60402fe0002010203040502050403020188cc05ac02056576656e7400001a002f48"
		"0000000000000000000000026c09a0000001000080000000ffffffffffff02010203040502010203"
		"04050000000000000000000064001104000474657374010882848b960c1218240301010502000100"
		"00001a002f480000000000000000000000026c09a000000100008841300002010203040502090807"
		"0605020102030405000000000000002000000000";
	struct combo_frame f[5];
	uint8_t bytes[5][100];
	char text[2 * 500 + 1];
	struct combo c;

	(void)state;
	if (WIRED_TEMPLATES == 64) /* a small machine; else 254 */
		memcpy(strstr(frozen, "fe0002"), "40", 2);
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 192), 0);
	fill_for_frozen(&c, f, bytes);
	assert_true(c.body_len <= 500);
	for (size_t i = 0; i < c.body_len; i++)
		snprintf(text + 2 * i, 3, "%02x", c.body[i]);
	assert_string_equal(text, frozen);
	combo_free(&c);
}

/* The same frames and event as a sensor of version 3 wrote them. */
static void version_3_is_still_read(void **state)
{
	static const char frozen[] =
		"d20917979cfe362a0000e80708090306040b00000406060309047f000001010301000080c00c80c0"
		"0c02563c0e00d00f00002e00000102ffd28ffd82898506000204d8d80102c601c6010002e29cfde0"
		"0500d6040205ac02056576656e7400001a002f480000000000000000000000026c09a00000010000"
		"80000000ffffffffffff020102030405020102030405000000000000000000006400110400047465"
		"7374010882848b960c121824030101050200010000001a002f480000000000000000000000026c09"
		"a0000001000088413000020102030405020908070605020102030405000000000000002000000000"
		"02010203040502050403020188cc";
	struct combo_reader r;
	struct combo_frame f[5], got;
	struct combo_event e;
	uint8_t bytes[5][100], body[sizeof(frozen) / 2];
	struct combo c;

	(void)state;
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = hex(frozen[2 * i]) << 4 | hex(frozen[2 * i + 1]);
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 192), 0);
	fill_for_frozen(&c, f, bytes);
	assert_int_equal(combo_open_version(&r, body, sizeof(body), 5, 3), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(combo_next(&r, &got), 1);
		assert_frame(&got, &f[i]);
	}
	assert_int_equal(combo_next_event(&r, &e), 1);
	assert_int_equal(e.type, 300);
	combo_free(&c);
}

/* Every truncation, and every byte set to each of a few values, is refused or read within bounds.
 * The body is in a block of exactly its size, so sanitizers see a read beyond it. */
static void assert_damage_is_bounded(struct combo *full)
{
	static const uint8_t evil[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct combo_reader r;
	unsigned int refused = 0;

	for (size_t len = 0; len < full->body_len; len++) {
		uint8_t *cut = malloc(len ? len : 1);

		memcpy(cut, full->body, len);
		assert_int_equal(combo_open(&r, cut, len, full->frames), -EBADMSG);
		free(cut);
	}
	for (size_t at = 0; at < full->body_len; at++) {
		for (size_t e = 0; e < sizeof(evil); e++) {
			uint8_t *copy = malloc(full->body_len);

			memcpy(copy, full->body, full->body_len);
			copy[at] = evil[e];
			refused += combo_open(&r, copy, full->body_len, full->frames) != 0;
			free(copy);
		}
	}
	assert_true(refused > 100);
	assert_int_equal(combo_open(&r, full->body, full->body_len, full->frames + 1), -EBADMSG);
	assert_int_equal(combo_open(&r, full->body, full->body_len, full->frames - 1), -EBADMSG);
}

static void a_damaged_body_is_read_within_bounds(void **state)
{
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, DOT11_LEN), 0);
	fill(&c, 0);
	combo_close(&c);
	assert_damage_is_bounded(&c);
	combo_reset(&c);
	combo_append(&c, &frames[1]);
	for (uint32_t n = 0; combo_event_fits(&c, 30); n++)
		combo_event(&c, n, bytes, 30);
	combo_close(&c);
	assert_damage_is_bounded(&c);
	for (uint32_t seed = 0; seed < 4; seed++) {
		make_dot11(seed);
		combo_reset(&c);
		for (int i = 0; combo_fits(&c, dot11_frames[i].kept_len); i++)
			combo_append(&c, &dot11_frames[i]);
		combo_close(&c);
		assert_damage_is_bounded(&c);
	}
	combo_free(&c);
}

static void header_as_in_table_4(void **state)
{
	uint8_t out[COMBO_HEADER_LEN + COMBO_CODEC_LEN + 5] = { 0 };
	struct combo_header h;

	(void)state;
	combo_header_write(out, 0x1234, 0xabcd, 3, 5);
	assert_memory_equal(out, "\0\4\x12\x34\xab\xcd\0\3\0\0\0\5SLKI", COMBO_HEADER_LEN);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), 0);
	assert_int_equal(h.seqn, 0xabcd);
	assert_int_equal(combo_header_read(&h, out, sizeof(out) - 1, 0x1234), -EBADMSG);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1235), -EBADMSG);
	out[COMBO_HEADER_LEN] = COMBO_ZSTD_DOT11 + 1;
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), -EBADMSG);
	out[COMBO_HEADER_LEN] = COMBO_STORED | COMBO_DENSE;
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), -EBADMSG);
	out[COMBO_HEADER_LEN] = COMBO_ZSTD_DOT11 | COMBO_DENSE;
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), 0);
	store_be(out, 3, 2); /* older versions do not have it */
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), -EBADMSG);
	store_be(out, COMBO_VERSION, 2);
	out[COMBO_HEADER_LEN] = COMBO_ZSTD;
	store_be(out + 8, COMBO_BODY_MAX, 4);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), 0);
	store_be(out + 8, COMBO_BODY_MAX + 1, 4);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_is_next),
		cmocka_unit_test(an_empty_combo_takes_the_largest_frame),
		cmocka_unit_test(frames_of_no_bytes_are_counted_too),
		cmocka_unit_test(events_come_back_between_their_frames),
		cmocka_unit_test(a_combo_may_have_events_alone),
		cmocka_unit_test(events_are_bounded),
		cmocka_unit_test(frames_of_80211_come_back),
		cmocka_unit_test(clocks_come_back_when_time_begins_anew),
		cmocka_unit_test(a_body_of_an_older_version_gives_the_same_frames),
		cmocka_unit_test(older_versions_number_a_form_more),
		cmocka_unit_test(forms_that_are_alike_cost_their_differences),
		cmocka_unit_test(forms_in_which_a_quarter_differs),
		cmocka_unit_test(more_forms_than_have_numbers_or_room),
		cmocka_unit_test(clocks_and_counters_cost_a_byte_or_two),
		cmocka_unit_test(the_format_is_frozen),
		cmocka_unit_test(version_3_is_still_read),
		cmocka_unit_test(a_damaged_body_is_read_within_bounds),
		cmocka_unit_test(header_as_in_table_4),
	};

	return cmocka_run_group_tests_name("combo", tests, setup, NULL);
}
