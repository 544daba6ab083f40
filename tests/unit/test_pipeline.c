// SPDX-License-Identifier: GPL-2.0
/* links: agent/capture/capture.o agent/capture/fill.o agent/capture/queue.o
 * agent/capture/readings.o agent/capture/watermark.o wire/clock_readings.o agent/export/pipeline.o
 * agent/export/compressor.o agent/export/level.o agent/radio/dwells.o agent/source/clock.o
 * wire/combo.o wire/columns.o wire/combo_open.o wire/compress.o wire/dictionary.o
 * wire/dot11_templates.o wire/dwell.o wire/fields.o wire/module_event.o wire/wired_append.o
 * wire/tails.o wire/wired_next.o wire/wired_templates.o */
#include "unit.h"

#include <pthread.h>

#include "agent/capture/capture.h"
#include "agent/capture/fill.h"
#include "agent/export/pipeline.h"
#include "agent/source/clock.h"

#define PIPELINES 3
#define FRAMES 200000
#define COMBO_SIZE 4096
#define LEN_MAX 200
#define KEPT 65536 /* frames that the ring keeps: more than are on their way */
#define EVENT_EACH 1000

/* A source of `count` frames that stay valid. Frame n has a length and first bytes of its own, and
 * begins at position n of lane n % 2. */
struct fake {
	struct source base;
	uint64_t given, count, set_each;
	struct clock_offset clock;
	__u64 next[2], released[2];
	struct {
		_Alignas(8) uint8_t bytes[LEN_MAX];
	} data[KEPT];
};

static struct fake source;
static struct queue q;
static struct capture capture;

/* Small ones, then suddenly large ones: estimates fail in both directions. */
static uint32_t len_of(uint64_t n)
{
	return n / 3000 % 2 ? LEN_MAX - n % 7 : 8 + n % 5;
}

/* A sensor without modules has no events. */
static bool is_event(uint64_t n)
{
	const struct combo_frame f = { .linktype = SALUKI_LINKTYPE_EVENT };

	return n % EVENT_EACH == 1 && fill_is_event(&f);
}

/* The difference of CLOCK_REALTIME is the number of the next frame. */
static void fake_set_clock(void)
{
	source.base.clock = &source.clock;
	source.clock.measured_ns = source.clock.reading.monotonic_ns = 1 + source.given;
	source.clock.reading.realtime_minus_monotonic_ns = source.given;
}

static int fake_next(struct source *s, struct source_frame *f)
{
	uint64_t n = source.given;
	uint8_t *bytes = source.data[n % KEPT].bytes;

	(void)s;
	if (n == source.count)
		return -ENODATA;
	if (source.set_each && n % source.set_each == 0)
		fake_set_clock();
	memcpy(bytes, &n, sizeof(n));
	memset(f, 0, sizeof(*f));
	f->heard_ns = monotonic_ns();
	f->frame.linktype = is_event(n) ? SALUKI_LINKTYPE_EVENT : 9; /* PPP: stored as it is */
	f->frame.orig_len = f->frame.kept_len =
		is_event(n) ? offsetof(struct saluki_event, bytes) + 4 : len_of(n);
	f->frame.data = bytes;
	source.next[n % 2] = n + 1;
	source.given++;
	return 1;
}

static void fake_mark(struct source *s, bool with_last, __u64 *mark)
{
	uint64_t last = source.given - 1;

	(void)s;
	memcpy(mark, source.next, sizeof(source.next));
	if (!with_last && source.given)
		mark[last % 2] = last > 1 ? last - 1 : 0;
}

static void fake_pass(const struct source *s, __u64 *mark, const struct combo_frame *f)
{
	uint64_t n;

	(void)s;
	memcpy(&n, f->data, sizeof(n));
	assert_true(mark[n % 2] == (n > 1 ? n - 1 : 0)); /* in order, each once */
	mark[n % 2] = n + 1;
}

static uint32_t fake_filled(const struct source *s)
{
	(void)s;
	return 0;
}

static const struct source_ops fake_ops = {
	.next = fake_next, .mark = fake_mark, .pass = fake_pass, .filled = fake_filled
};

static struct pipeline pipelines[PIPELINES];
static struct compressor compressors[PIPELINES];
static struct compressor_sight sight;

static void begin(uint64_t count)
{
	const struct handover h = { .kind = HANDOVER_RING, .ring_size = 0 };
	size_t size = queue_size_max(COMBO_SIZE);

	memset(&source, 0, sizeof(source));
	source.base = (struct source){ .ops = &fake_ops, .lanes = 2 };
	source.count = count;
	assert_int_equal(queue_init(&q, QUEUE_LEN, size, LEN_MAX, 2), 0);
	assert_int_equal(queue_init_pipelines(&q, PIPELINES, COMBO_SIZE), 0);
	assert_int_equal(capture_init(&capture, &source.base, &q, &h, 60000), 0);
	capture_begin(&capture, 7, 0);
	for (int i = 0; i < PIPELINES; i++) {
		assert_int_equal(compressor_init(&compressors[i], 1, false, COMBO_SIZE), 0);
		assert_int_equal(
			pipeline_init(&pipelines[i], &q, &source.base, &compressors[i], &sight), 0);
	}
}

static void end(void)
{
	for (int i = 0; i < PIPELINES; i++) {
		compressor_free(&compressors[i]);
		pipeline_free(&pipelines[i]);
	}
	capture_free(&capture);
	queue_free(&q);
}

/* Checks a combo's frames, which follow frame `n`, and returns the next one. Events count too. */
static uint64_t check(const struct slot *s, uint64_t n, uint64_t *events)
{
	const struct combo *c = &s->combo;
	const uint8_t *frame = c->room + c->headroom;
	uint32_t frames = 0, seen = 0;

	while (frames < c->frames || seen < c->events) {
		uint64_t number;

		if (is_event(n)) {
			seen++;
			n++;
			continue;
		}
		memcpy(&number, frame, sizeof(number));
		assert_int_equal(number, n);
		frame += len_of(n++);
		frames++;
	}
	assert_int_equal(seen, c->events);
	*events += seen;
	return n;
}

static void frames_keep_their_order(void **state)
{
	uint64_t n = 0, events = 0, again = 0;
	pthread_t threads[1 + PIPELINES];
	struct slot *s;

	(void)state;
	begin(FRAMES);
	pthread_create(&threads[PIPELINES], NULL, capture_thread, &capture);
	for (int i = 0; i < PIPELINES; i++)
		pthread_create(&threads[i], NULL, pipeline_thread, &pipelines[i]);
	while (!queue_finished(&q)) {
		if (!(s = queue_front(&q))) {
			event_wait(q.filled_fd, 1000);
			continue;
		}
		assert_int_equal(s->combo.first, 7 + n - events);
		n = check(s, n, &events);
		assert_in_range(s->combo.body_len, 1, queue_size_max(COMBO_SIZE) + 64);
		assert_true(s->wire_len > COMBO_HEADER_LEN);
		assert_int_equal(s->ends[(n - 1) % 2], n);
		assert_int_equal(s->ends[n % 2], n - 1);
		again += s->at < s->listed;
		queue_pop(&q);
	}
	assert_int_equal(n, FRAMES);
	assert_int_equal(events, is_event(1) ? FRAMES / EVENT_EACH : 0);
	assert_true(again > 0);
	queue_stop(&q);
	for (int i = 0; i <= PIPELINES; i++)
		pthread_join(threads[i], NULL);
	end();
}

static struct combo_reader reader;

/* Each combo's readings come right before the frame that they are for. Returns the next frame. */
static uint64_t check_readings(const struct combo *c, uint64_t n, uint64_t *readings)
{
	struct clock_readings got;
	struct combo_event e;
	struct combo_frame f;

	assert_int_equal(combo_open(&reader, c->body, c->body_len, c->frames), 0);
	for (uint32_t i = 0; i <= c->frames; i++, n++) {
		while (combo_next_event(&reader, &e)) {
			if (is_event(n) && e.type == COMBO_EVENT_SAID) {
				n++;
				continue;
			}
			assert_int_equal(e.type, COMBO_EVENT_CLOCK);
			assert_true(i < c->frames); /* not in the combo before */
			assert_int_equal(clock_readings_read(&got, e.bytes, e.len), 0);
			assert_int_equal(got.list[0].realtime_minus_monotonic_ns, n);
			++*readings;
		}
		if (i == c->frames)
			break;
		assert_int_equal(combo_next(&reader, &f), 1);
		assert_memory_equal(f.data, &n, sizeof(n));
	}
	return n;
}

static void readings_come_before_their_frames(void **state)
{
	uint64_t n = 0, readings = 0;
	pthread_t threads[1 + PIPELINES];
	struct slot *s;

	(void)state;
	begin(FRAMES / 10);
	source.set_each = 34; /* some lists end before they are full */
	pthread_create(&threads[PIPELINES], NULL, capture_thread, &capture);
	for (int i = 0; i < PIPELINES; i++)
		pthread_create(&threads[i], NULL, pipeline_thread, &pipelines[i]);
	while (!queue_finished(&q)) {
		if (!(s = queue_front(&q))) {
			event_wait(q.filled_fd, 1000);
			continue;
		}
		n = check_readings(&s->combo, n, &readings);
		queue_pop(&q);
	}
	assert_int_equal(n, FRAMES / 10);
	assert_int_equal(readings, (FRAMES / 10 + 33) / 34);
	queue_stop(&q);
	for (int i = 0; i <= PIPELINES; i++)
		pthread_join(threads[i], NULL);
	end();
}

/* The agent gave up while slots wait: threads end all the same. */
static void an_abandoned_queue(void **state)
{
	pthread_t threads[PIPELINES];

	(void)state;
	begin(FRAMES);
	for (int i = 0; i < PIPELINES; i++)
		pthread_create(&threads[i], NULL, pipeline_thread, &pipelines[i]);
	queue_stop(&q);
	for (int i = 0; i < PIPELINES; i++)
		pthread_join(threads[i], NULL);
	end();
}

/* An earlier agent's combo is in the queue when threads start: it is not listed. */
static void a_combo_before_the_lists(void **state)
{
	struct slot *s;

	(void)state;
	begin(10);
	queue_push(&q);
	assert_ptr_equal(queue_front(&q), &q.slots[0]);
	capture_thread(&capture);
	s = queue_claim(&q);
	assert_ptr_equal(s, &q.slots[1]);
	pipeline_fill(&pipelines[0], s);
	assert_int_equal(s->combo.frames + s->combo.events, 10);
	queue_filled(&q, s);
	queue_pop(&q);
	assert_ptr_equal(queue_front(&q), s);
	queue_pop(&q);
	assert_true(queue_finished(&q));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_keep_their_order),
		cmocka_unit_test(readings_come_before_their_frames),
		cmocka_unit_test(an_abandoned_queue),
		cmocka_unit_test(a_combo_before_the_lists),
	};

	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
