// SPDX-License-Identifier: GPL-2.0
/* links: agent/capture/capture.o agent/capture/fill.o agent/capture/readings.o
 * agent/capture/watermark.o agent/radio/dwells.o wire/dwell.o wire/module_event.o
 * wire/clock_readings.o agent/capture/queue.o agent/source/clock.o wire/combo.o wire/combo_open.o
 * wire/columns.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/wired_next.o wire/tails.o wire/fields.o */
#include "unit.h"

#include <pthread.h>

#include "agent/capture/capture.h"
#include "agent/source/clock.h"

/* A source of `left` frames of 100 bytes. Then it is silent or ends. */
struct fake {
	struct source base;
	unsigned int left, waits;
	bool ends;
	int end_code;
	struct capture *stop_when_silent, *stop_at_once;
	uint64_t taken, given;
	unsigned int set_each; /* the clock is set before every so many frames; 0: no clock */
	struct clock_offset clock;
};

static const uint8_t bytes[100];

/* The difference of CLOCK_REALTIME is the number of the next frame. */
static void fake_set_clock(struct fake *x)
{
	x->base.clock = &x->clock;
	x->clock.measured_ns = x->clock.reading.monotonic_ns = 1 + x->given;
	x->clock.reading.realtime_minus_monotonic_ns = x->given;
}

static int fake_next(struct source *s, struct source_frame *f)
{
	struct fake *x = (struct fake *)s;

	if (!x->left)
		return x->ends ? x->end_code : 0;
	x->left--;
	if (x->set_each && x->given % x->set_each == 0)
		fake_set_clock(x);
	x->given++;
	if (x->stop_at_once)
		__atomic_store_n(&x->stop_at_once->stop, true, __ATOMIC_RELEASE);
	memset(f, 0, sizeof(*f));
	f->heard_ns = monotonic_ns();
	f->taken = x->taken += 1000;
	f->frame.orig_len = f->frame.kept_len = sizeof(bytes);
	f->frame.data = bytes;
	return 1;
}

static void fake_wait(struct source *s, int timeout_ms)
{
	struct fake *x = (struct fake *)s;
	struct timespec t = { 0, timeout_ms * 1000000L };

	assert_in_range(timeout_ms, 0, SOURCE_POLL_MS);
	nanosleep(&t, NULL);
	if (++x->waits == 5 && x->stop_when_silent)
		__atomic_store_n(&x->stop_when_silent->stop, true, __ATOMIC_RELEASE);
}

static void fake_mark(struct source *s, bool with_last, __u64 *mark)
{
	*mark = ((struct fake *)s)->given - !with_last;
}

static const struct source_ops fake_ops = { .next = fake_next,
					    .wait = fake_wait,
					    .mark = fake_mark };

struct run {
	struct queue q;
	struct capture c;
	unsigned int combos, frames, largest;
	uint64_t first_age_ns; /* age of the first combo when it was pushed */
	unsigned int set_each; /* as the source's */
	unsigned int readings; /* in the combos */
};

static struct combo_reader reader;

/* Readings come right before the frame that they are for. */
static void check_readings(struct run *r, struct combo *c)
{
	struct clock_readings got;
	struct combo_frame f;
	struct combo_event e;

	combo_close(c);
	assert_int_equal(combo_open(&reader, c->body, c->body_len, c->frames), 0);
	for (uint32_t i = 0; i < c->frames; i++) {
		bool set = (r->frames + i) % r->set_each == 0;

		assert_int_equal(combo_next_event(&reader, &e), set);
		if (set) {
			assert_int_equal(e.type, COMBO_EVENT_CLOCK);
			assert_int_equal(clock_readings_read(&got, e.bytes, e.len), 0);
			assert_int_equal(got.count, 1);
			assert_int_equal(got.list[0].realtime_minus_monotonic_ns, r->frames + i);
			r->readings++;
		}
		assert_int_equal(combo_next_event(&reader, &e), 0);
		assert_int_equal(combo_next(&reader, &f), 1);
	}
}

/* Runs the capture thread to its end and takes the combos it pushes. */
static void run(struct run *r, struct fake *x)
{
	pthread_t t;

	x->base.ops = &fake_ops;
	r->c.source = &x->base;
	r->c.queue = &r->q;
	assert_int_equal(queue_init(&r->q, QUEUE_LEN, COMBO_SIZE_DEFAULT, 192, 1), 0);
	assert_int_equal(pthread_create(&t, NULL, capture_thread, &r->c), 0);
	while (!queue_finished(&r->q)) {
		struct slot *s = queue_front(&r->q);
		struct combo *c;

		if (!s) {
			event_wait(r->q.filled_fd, 1000);
			continue;
		}
		c = &s->combo;
		if (!r->combos++)
			r->first_age_ns = monotonic_ns() - c->opened_ns;
		if (r->set_each)
			check_readings(r, c);
		r->frames += c->frames;
		assert_int_equal(*s->ends, r->frames); /* its own frames only */
		if (c->frames > r->largest)
			r->largest = c->frames;
		queue_pop(&r->q);
	}
	pthread_join(t, NULL);
	queue_free(&r->q);
}

static void full_combos_and_a_rest(void **state)
{
	struct fake x = { .left = 1000, .ends = true, .end_code = -ENODATA };
	struct run r = { .c = { .combo_age_ns = 60000000000ULL } };

	(void)state;
	run(&r, &x);
	assert_int_equal(r.frames, 1000);
	assert_in_range(r.combos, 7, 8);
	assert_in_range(r.largest * 100, COMBO_SIZE_DEFAULT - 2000, COMBO_SIZE_DEFAULT);
	assert_false(r.c.failed);
}

/* Frames in no combo yet stay in a ring that outlives the agent. */
static void stopped_with_frames_left(void **state)
{
	struct fake x = { .left = 1000 };
	struct run r = { .c = { .combo_age_ns = 60000000000ULL } };

	(void)state;
	x.stop_at_once = &r.c;
	run(&r, &x);
	assert_int_equal(r.frames, 1);
	assert_int_equal(x.given, 1);
}

static void a_lone_frame_waits_for_its_age_and_no_longer(void **state)
{
	struct fake x = { .left = 1 };
	struct run r = { .c = { .combo_age_ns = 150000000ULL, .drain = true } };

	(void)state;
	x.stop_when_silent = &r.c;
	run(&r, &x);
	assert_int_equal(r.frames, 1);
	assert_in_range(r.first_age_ns / 1000000, 150, 300);
}

static void a_combo_closes_when_it_spans_too_much_of_the_ring(void **state)
{
	struct fake x = { .left = 100, .ends = true, .end_code = -ENODATA };
	struct run r = { .c = { .combo_age_ns = 60000000000ULL, .ring_span_max = 10000 } };

	(void)state;
	run(&r, &x);
	assert_int_equal(r.frames, 100);
	assert_int_equal(r.largest, 11);
}

static void a_broken_source_keeps_what_it_gave(void **state)
{
	struct fake x = { .left = 10, .ends = true, .end_code = -EBADMSG };
	struct run r = { .c = { .combo_age_ns = 60000000000ULL } };

	(void)state;
	run(&r, &x);
	assert_int_equal(r.frames, 10);
	assert_true(r.c.failed);
}

static void stop_drains_a_ring_but_not_a_file(void **state)
{
	struct fake ring = { .left = 5000 }, file = { .left = 5000 };
	struct run a = { .c = { .combo_age_ns = 1000000000ULL, .drain = true, .stop = true } };
	struct run b = { .c = { .combo_age_ns = 1000000000ULL, .stop = true } };

	(void)state;
	run(&a, &ring);
	run(&b, &file);
	assert_int_equal(a.frames, 5000);
	assert_int_equal(b.frames, 0);
}

static void readings_come_before_their_frames(void **state)
{
	struct fake x = { .left = 1000, .ends = true, .end_code = -ENODATA, .set_each = 7 };
	struct run r = { .c = { .combo_age_ns = 60000000000ULL }, .set_each = 7 };

	(void)state;
	run(&r, &x);
	assert_int_equal(r.frames, 1000);
	assert_int_equal(r.readings, 143);
	assert_in_range(r.combos, 7, 9);
}

static void a_clock_makes_no_combos(void **state)
{
	struct fake x = { 0 };
	struct run r = { .c = { .combo_age_ns = 1000000, .drain = true } };

	(void)state;
	x.base.clock = &x.clock;
	x.stop_when_silent = &r.c;
	run(&r, &x);
	assert_int_equal(r.combos, 0);
	assert_int_not_equal(r.c.readings.last[1].monotonic_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_combos_and_a_rest),
		cmocka_unit_test(stopped_with_frames_left),
		cmocka_unit_test(a_lone_frame_waits_for_its_age_and_no_longer),
		cmocka_unit_test(a_combo_closes_when_it_spans_too_much_of_the_ring),
		cmocka_unit_test(a_broken_source_keeps_what_it_gave),
		cmocka_unit_test(stop_drains_a_ring_but_not_a_file),
		cmocka_unit_test(readings_come_before_their_frames),
		cmocka_unit_test(a_clock_makes_no_combos),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
