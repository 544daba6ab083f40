// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/wired_next.o wire/fields.o wire/combo_open.o */
/*
 * Combo codec. First byte: 0 a whole combo for combo_header_read, 1 a body for combo_open after its
 * number of frames, 2 a list of frames to append. Always holds: an opened combo can be read to its
 * end, every frame is in the body or the reader, nothing of another combo shows, and appended
 * frames read back equal, also when appended again.
 */
#include <errno.h>

#include "fuzz.h"
#include "wire/bytes.h"
#include "wire/combo.h"

#define SENSOR 1
#define SNAPLEN_MAX 32768

static void check_equal(const struct combo_frame *a, const struct combo_frame *b)
{
	CHECK(a->time_ns == b->time_ns);
	CHECK(a->orig_len == b->orig_len && a->kept_len == b->kept_len);
	CHECK(a->linktype == b->linktype);
	CHECK(a->interface == b->interface && a->direction == b->direction);
	CHECK(!memcmp(a->data, b->data, a->kept_len));
}

/* Adds an event after some of the frames, made from their bytes. Returns whether there is one. */
static bool put_event(struct combo *c, const struct combo_frame *f)
{
	if (f->time_ns % 4 || !combo_event_fits(c, f->kept_len))
		return false;
	combo_event(c, f->orig_len, f->data, f->kept_len);
	return true;
}

static void check_event(struct combo_reader *r, const struct combo_frame *f)
{
	struct combo_event e;

	CHECK(combo_next_event(r, &e) == 1);
	CHECK(e.type == f->orig_len && e.len == f->kept_len);
	CHECK(!memcmp(e.bytes, f->data, e.len));
}

/* Appends frames until one does not fit, and reads them back. Returns how many. */
static size_t write_and_read(const struct combo_frame *frames, size_t count, size_t size)
{
	static bool has_event[COMBO_FRAMES_MAX];
	struct combo_event e;
	struct combo_frame got;
	static struct combo_reader r;
	struct combo c;
	size_t n = 0;

	CHECK(combo_init(&c, size, SNAPLEN_MAX) == 0);
	for (; n < count && combo_fits(&c, frames[n].kept_len); n++) {
		combo_append(&c, &frames[n]);
		has_event[n] = put_event(&c, &frames[n]);
	}
	if (n) {
		c.first = n;
		combo_close(&c);
		CHECK(c.body_len <= COMBO_BODY_MAX);
		CHECK(combo_open(&r, c.body, c.body_len, n) == 0);
		CHECK(r.first == n);
		CHECK(r.events == c.events);
		for (size_t i = 0; i < n; i++) {
			CHECK(combo_next_event(&r, &e) == 0);
			CHECK(combo_next(&r, &got) == 1);
			check_equal(&got, &frames[i]);
			if (has_event[i])
				check_event(&r, &frames[i]);
		}
		CHECK(combo_next(&r, &got) == 0);
	}
	combo_free(&c);
	return n;
}

/* Puts all frames into as many combos as needed. */
static void there_and_back(const struct combo_frame *frames, size_t count, size_t size)
{
	for (size_t done = 0; done < count;) {
		size_t n = write_and_read(frames + done, count - done, size);

		CHECK(n || frames[done].kept_len > SNAPLEN_MAX);
		done += n ? n : 1;
	}
}

static void header(struct fuzz_input *in)
{
	struct combo_header h;
	size_t len;
	const uint8_t *p = fuzz_bytes(in, SIZE_MAX, &len);
	uint8_t *combo = fuzz_copy(p, len);
	int err = combo_header_read(&h, combo, len, SENSOR);

	CHECK(err == 0 || err == -EBADMSG);
	if (!err) {
		CHECK(len >= COMBO_HEADER_LEN + COMBO_CODEC_LEN);
		CHECK(h.sensor_id == SENSOR && h.body_len <= COMBO_BODY_MAX);
		CHECK(h.frames <= COMBO_FRAMES_MAX);
		CHECK(h.codec != COMBO_STORED ||
		      len == COMBO_HEADER_LEN + COMBO_CODEC_LEN + h.body_len);
		uint8_t again[COMBO_HEADER_LEN];

		combo_header_write(again, SENSOR, h.seqn, h.frames, h.body_len);
		store_be(again, h.version, 2); /* older versions are read too */
		CHECK(!memcmp(again, combo, sizeof(again)));
	}
	fuzz_free(combo);
}

/* Copies of frames that outlive their source. */
static uint8_t arena[2 * COMBO_BYTES_MAX];
static size_t arena_len;

static uint8_t *arena_take(size_t len)
{
	uint8_t *p = arena + arena_len;

	if (len > sizeof(arena) - arena_len)
		return NULL;
	arena_len += len;
	return p;
}

static struct combo_frame list[COMBO_FRAMES_MAX];

static struct combo_reader reader;

static void keep_frame(struct combo_frame *f, const struct combo_reader *r, const uint8_t *body,
		       size_t len)
{
	uint8_t *p = arena_take(f->kept_len);

	CHECK(f->kept_len <= f->orig_len);
	CHECK((f->data >= r->data && f->kept_len <= r->data + sizeof(r->data) - f->data) ||
	      (f->data >= body && f->kept_len <= body + len - f->data));
	CHECK(p); /* COMBO_BYTES_MAX holds */
	memcpy(p, f->data, f->kept_len);
	f->data = p;
}

/* Takes the events before the next frame. Returns how many. */
static uint32_t take_events(struct combo_reader *r, const uint8_t *body, size_t len)
{
	struct combo_event list[COMBO_EVENTS_MAX], rest[COMBO_EVENTS_MAX], e;
	uint32_t left = combo_list_events(r, list), n = 0;

	for (; combo_next_event(r, &e) == 1; n++) {
		CHECK(e.bytes >= body && e.len <= body + len - e.bytes);
		CHECK(n < left && list[n].bytes == e.bytes && list[n].type == e.type);
	}
	CHECK(combo_list_events(r, rest) == left - n);
	return n;
}

/* Opens a body with `before` in all the reader's memory. */
static int open_with(uint8_t before, const uint8_t *body, size_t len, uint32_t frames)
{
	memset(&reader, before, sizeof(reader));
	return combo_open(&reader, body, len, frames);
}

/* The same frames come out, whatever the reader's memory held before. */
static void check_again(const uint8_t *body, size_t len, uint32_t frames)
{
	struct combo_frame f;

	CHECK(open_with(0x55, body, len, frames) == 0);
	for (uint32_t i = 0; i < frames; i++) {
		CHECK(combo_next(&reader, &f) == 1);
		check_equal(&f, &list[i]);
	}
}

static void body(struct fuzz_input *in)
{
	uint32_t promised = (fuzz_number(in, 2) + 1) % (COMBO_FRAMES_MAX + 1); /* 0 too */
	size_t len;
	const uint8_t *p = fuzz_bytes(in, COMBO_BODY_MAX, &len);
	uint8_t *copy = fuzz_copy(p, len);
	int err = open_with(0xaa, copy, len, promised);

	CHECK(err == 0 || err == -EBADMSG);
	if (!err) {
		struct combo_frame after;
		uint32_t events = take_events(&reader, copy, len);

		for (uint32_t i = 0; i < promised; i++) {
			CHECK(combo_next(&reader, &list[i]) == 1);
			keep_frame(&list[i], &reader, copy, len);
			events += take_events(&reader, copy, len);
		}
		CHECK(combo_next(&reader, &after) == 0);
		CHECK(events == reader.events && events <= COMBO_EVENTS_MAX);
		check_again(copy, len, promised);
		there_and_back(list, promised, COMBO_SIZE_MAX);
	}
	fuzz_free(copy);
}

/* Makes a frame's bytes: those of one of the last frames with changes, or from the input. */
static bool frame_bytes(struct combo_frame *f, size_t count, struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1);
	size_t back = 1 + (what >> 3 & 15);
	const struct combo_frame *before = back <= count ? f - back : NULL;
	uint8_t *p = arena_take(f->kept_len);
	size_t len = 0;

	if (!p)
		return false;
	memset(p, 0, f->kept_len);
	if (before && before->data)
		len = before->kept_len < f->kept_len ? before->kept_len : f->kept_len;
	if (len)
		memcpy(p, before->data, len);
	if (what & 128) {
		const uint8_t *from = fuzz_bytes(in, f->kept_len, &len);

		memcpy(p, from, len);
	}
	for (int i = 0; i < (what & 7) && f->kept_len; i++) {
		size_t at = fuzz_number(in, 1) % f->kept_len;

		p[at] = fuzz_number(in, 1);
	}
	f->data = p;
	return true;
}

static void frame_meta(struct combo_frame *f, struct fuzz_input *in)
{
	static const uint16_t linktypes[] = { 127, 105, 1, 119 };
	uint8_t what = fuzz_number(in, 1);

	if (what & 1)
		f->time_ns += (int64_t)(int16_t)fuzz_number(in, 2);
	if (what & 2)
		f->time_ns = fuzz_number(in, 8);
	if (what & 4)
		f->kept_len = fuzz_number(in, 1);
	if (what & 8)
		f->kept_len = fuzz_number(in, 2) % (SNAPLEN_MAX + 1);
	if (what & 16)
		f->linktype = linktypes[fuzz_number(in, 1) % 4];
	if (what & 32)
		f->interface = fuzz_number(in, 1);
	if (what & 64)
		f->direction = fuzz_number(in, 1);
	f->orig_len = what & 128 ? fuzz_number(in, 4) : f->kept_len;
	if (f->orig_len < f->kept_len)
		f->orig_len = f->kept_len;
}

static void frames(struct fuzz_input *in)
{
	size_t count = 0, size = COMBO_SIZE_MIN + fuzz_number(in, 2) % (COMBO_SIZE_MAX / 2);

	for (; in->p < in->end && count < COMBO_FRAMES_MAX; count++) {
		struct combo_frame *f = &list[count];

		*f = count ? f[-1]
			   : (struct combo_frame){ .linktype = fuzz_number(in, 1) & 1 ? 1 : 127 };
		frame_meta(f, in);
		if (!frame_bytes(f, count, in))
			break;
	}
	there_and_back(list, count, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };

	arena_len = 0;
	switch (fuzz_number(&in, 1)) {
	case 0:
		header(&in);
		break;
	case 1:
		body(&in);
		break;
	case 2:
		frames(&in);
		break;
	}
	return 0;
}
