// SPDX-License-Identifier: GPL-2.0
/* links: agent/rings/journal.o agent/export/resume.o agent/capture/queue.o agent/capture/fill.o
 * wire/module_event.o wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/fields.o */
#include "unit.h"

#include "agent/capture/fill.h"
#include "agent/export/resume.h"

/* A ring of two lanes that outlives its reader, its journal, and a collector that takes each combo
 * number once. The reader is killed between any two stores, at every combo. */
#define LANES 2
#define FRAMES 60
#define FRAME_LEN 100

static struct {
	_Alignas(8) uint8_t journal[sizeof(struct saluki_journal)];
	uint64_t tail[LANES];
	unsigned int frames; /* in the ring: lane n % LANES has frame n */
	bool read_in_turn;   /* lane by lane, as on CPUs taking turns; otherwise by number */
} left;

static struct {
	uint64_t numbers[FRAMES + 1]; /* of combos, in order of arrival */
	unsigned int numbers_len;
	unsigned int times[FRAMES]; /* how often each frame was taken */
	unsigned int order[FRAMES], taken;
} collector;

/* ---- a source -------------------------------------------------------------------------------- */

struct fake {
	struct source base;
	uint64_t next[LANES], limit[LANES];
	int given; /* lane of the last frame given; -1: none */
	uint8_t data[FRAME_LEN];
};

static uint64_t lane_len(unsigned int lane)
{
	return (left.frames + LANES - 1 - lane) / LANES;
}

static int fake_next(struct source *s, struct source_frame *f)
{
	struct fake *x = (struct fake *)s;
	int best = -1;

	if (x->given >= 0)
		x->next[x->given]++;
	for (int i = 0; i < LANES; i++) {
		if (x->next[i] >= lane_len(i) || x->next[i] >= x->limit[i])
			continue;
		if (best < 0 || (!left.read_in_turn && x->next[i] < x->next[best]))
			best = i;
	}
	x->given = best;
	if (best < 0)
		return 0;
	memset(f, 0, sizeof(*f));
	memset(x->data, 0, sizeof(x->data));
	x->data[0] = x->next[best] * LANES + best;
	f->frame.linktype = 9; /* PPP: its bytes are stored one after the other */
	f->frame.interface = best;
	f->frame.orig_len = f->frame.kept_len = FRAME_LEN;
	f->frame.data = x->data;
	return 1;
}

static void fake_mark(struct source *s, bool with_last, __u64 *mark)
{
	struct fake *x = (struct fake *)s;

	if (with_last && x->given >= 0) {
		x->next[x->given]++;
		x->given = -1;
	}
	memcpy(mark, x->next, sizeof(x->next));
}

static void fake_release(struct source *s, const __u64 *mark)
{
	(void)s;
	memcpy(left.tail, mark, sizeof(left.tail));
}

static void fake_limit(struct source *s, const __u64 *positions)
{
	for (int i = 0; i < LANES; i++)
		((struct fake *)s)->limit[i] = positions ? positions[i] : UINT64_MAX;
}

static const struct source_ops fake_ops = {
	.next = fake_next, .mark = fake_mark, .release = fake_release, .limit = fake_limit
};

/* ---- an agent -------------------------------------------------------------------------------- */

/* In order of time; the agent can be killed at each. */
enum moment {
	NEVER,
	IN_BEGIN, /* combo described, state is the old one */
	BEGUN,	  /* nothing sent yet */
	SENT,
	IN_COMMIT, /* counts written, state is the old one */
	COMMITTED,
	IN_RELEASE, /* one lane's tail has moved */
	RELEASED,
	SETTLED,
	MOMENTS
};

struct agent {
	struct fake source;
	struct queue queue;
	struct session session;
	struct exporter e;
};

static int agent_start(struct agent *a, size_t combo_size)
{
	memset(a, 0, sizeof(*a));
	memcpy(a->source.next, left.tail, sizeof(left.tail));
	a->source.base.ops = &fake_ops;
	a->source.given = -1;
	fake_limit(&a->source.base, NULL);
	assert_int_equal(queue_init(&a->queue, QUEUE_LEN, COMBO_SIZE_MAX, FRAME_LEN, LANES), 0);
	queue_set_size(&a->queue, combo_size);
	a->session.run = 4711;
	a->e.queue = &a->queue;
	a->e.source = &a->source.base;
	a->e.session = &a->session;
	a->e.journal = (struct journal){ .shared = (void *)left.journal, .lanes = LANES };
	return resume(&a->e);
}

static void agent_end(struct agent *a)
{
	queue_free(&a->queue);
}

/* Ignores a combo whose number was seen before. */
static void collect(uint64_t number, const struct combo *c)
{
	const uint8_t *frame = c->room + c->headroom;

	for (unsigned int i = 0; i < collector.numbers_len; i++)
		if (collector.numbers[i] == number)
			return;
	collector.numbers[collector.numbers_len++] = number;
	for (uint32_t i = 0; i < c->frames; i++, frame += FRAME_LEN) {
		collector.order[collector.taken++] = frame[0];
		collector.times[frame[0]]++;
	}
}

/* Exports the combo as export.c does. Returns false if killed. */
static bool agent_export(struct agent *a, const struct slot *s, enum moment kill)
{
	const struct combo *c = &s->combo;
	struct journal *j = &a->e.journal;
	struct saluki_journal before = *j->shared;
	uint64_t tail = left.tail[1];

	journal_begin(j, c->frames, s->ends);
	if (kill == IN_BEGIN)
		j->shared->state = before.state;
	if (kill == IN_BEGIN || kill == BEGUN)
		return false;
	collect(a->e.counters.next, c);
	if (kill == SENT)
		return false;
	a->e.counters.next++;
	a->e.counters.exported += c->frames;
	before.state = j->shared->state;
	journal_commit(j, &a->e.counters);
	if (kill == IN_COMMIT)
		j->shared->state = before.state;
	if (kill == IN_COMMIT || kill == COMMITTED)
		return false;
	fake_release(&a->source.base, s->ends);
	if (kill == IN_RELEASE)
		left.tail[1] = tail;
	if (kill == IN_RELEASE || kill == RELEASED)
		return false;
	journal_settle(j);
	return kill != SETTLED;
}

/* Runs an agent that is killed at a moment of its `nth` combo, or ends when the ring is empty. */
static bool agent_run(size_t combo_size, unsigned int nth, enum moment kill)
{
	static struct agent a;
	struct source_frame f;
	unsigned int n = 0;
	bool alive = true;
	struct slot *s;

	assert_int_equal(agent_start(&a, combo_size), 0);
	for (int got = 1; alive && got;) {
		if ((s = queue_front(&a.queue))) { /* of the agent before */
			alive = agent_export(&a, s, n++ == nth ? kill : NEVER);
			queue_pop(&a.queue);
			continue;
		}
		s = queue_slot(&a.queue);
		/* The frame that does not fit is the next combo's first. */
		if (a.source.given >= 0)
			combo_append(&s->combo, &f.frame);
		while ((got = fake_next(&a.source.base, &f)) && combo_fits(&s->combo, FRAME_LEN))
			combo_append(&s->combo, &f.frame);
		fake_mark(&a.source.base, false, s->ends);
		if (s->combo.frames)
			queue_push(&a.queue);
	}
	while (alive && (s = queue_front(&a.queue))) {
		alive = agent_export(&a, s, n++ == nth ? kill : NEVER);
		queue_pop(&a.queue);
	}
	agent_end(&a);
	return alive;
}

static void begin_anew(bool read_in_turn)
{
	memset(&left, 0, sizeof(left));
	memset(&collector, 0, sizeof(collector));
	left.frames = FRAMES;
	left.read_in_turn = read_in_turn;
}

static void assert_all_once(void)
{
	const struct journal j = { .shared = (void *)left.journal, .lanes = LANES };

	for (unsigned int i = 0; i < FRAMES; i++)
		assert_int_equal(collector.times[i], 1);
	assert_int_equal(journal_state(&j), SALUKI_JOURNAL_IDLE);
	assert_int_equal(journal_done(&j)->exported, FRAMES);
	assert_int_equal(journal_done(&j)->next, collector.numbers_len);
	assert_int_equal(left.tail[0] + left.tail[1], FRAMES);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void nobody_is_killed(void **state)
{
	(void)state;
	begin_anew(false);
	assert_true(agent_run(1024, 0, NEVER));
	assert_all_once();
	for (unsigned int i = 0; i < FRAMES; i++)
		assert_int_equal(collector.order[i], i);
}

/* Whatever agent follows, the pending combo keeps its frames. */
static void killed_once_at_every_store(void **state)
{
	const size_t sizes[] = { 1024, 2048, 14336, 32768 };

	(void)state;
	for (enum moment m = IN_BEGIN; m < MOMENTS; m++) {
		for (unsigned int i = 0; i < 16; i++) {
			unsigned int nth = 0;

			do {
				begin_anew(false);
				if (agent_run(sizes[i / 4], nth, m))
					break;
				assert_true(agent_run(sizes[i % 4], 0, NEVER));
				assert_all_once();
				for (unsigned int n = 0; n < FRAMES; n++)
					assert_int_equal(collector.order[n], n);
			} while (++nth);
			assert_in_range(nth, 1, FRAMES);
		}
	}
}

/* The next agent is killed too, at once or later. */
static void killed_again_and_again(void **state)
{
	(void)state;
	srandom(4711);
	for (int round = 0; round < 2000; round++) {
		unsigned int kills = 0;

		begin_anew(false);
		while (!agent_run(1024 << random() % 3, random() % 3, random() % MOMENTS))
			assert_true(++kills < 1000);
		assert_all_once();
	}
}

/* The lanes' order changed: the same frames in another order. */
static void read_in_another_order(void **state)
{
	(void)state;
	for (unsigned int nth = 0; nth < 3; nth++) {
		begin_anew(true);
		assert_false(agent_run(1024, nth, SENT));
		left.read_in_turn = false;
		assert_true(agent_run(1024, 0, NEVER));
		assert_all_once();
	}
}

/* Frames that no longer fit even in the largest combo count as exported: the collector has them or
 * counts them as missing. */
static void frames_that_do_not_fit_any_more(void **state)
{
	static struct agent a;
	struct saluki_journal *j = (void *)left.journal;

	(void)state;
	begin_anew(false);
	j->run = 1;
	j->state = SALUKI_JOURNAL_PENDING;
	j->frames = 50;
	j->ends[0] = j->ends[1] = 25;
	j->done[0].next = 7;
	j->done[0].exported = 1000;
	memset(&a, 0, sizeof(a));
	/* Smaller combos have the same effect as larger frames. */
	assert_int_equal(queue_init(&a.queue, QUEUE_LEN, 1024, FRAME_LEN, LANES), 0);
	a.source.base.ops = &fake_ops;
	a.source.given = -1;
	fake_limit(&a.source.base, NULL);
	a.e.queue = &a.queue;
	a.e.source = &a.source.base;
	a.e.session = &a.session;
	a.e.journal = (struct journal){ .shared = j, .lanes = LANES };
	assert_int_equal(resume(&a.e), 0);
	assert_null(queue_front(&a.queue));
	assert_int_equal(queue_slot(&a.queue)->combo.frames, 0);
	assert_int_equal(journal_state(&a.e.journal), SALUKI_JOURNAL_IDLE);
	assert_int_equal(journal_done(&a.e.journal)->exported, 1050);
	assert_int_equal(journal_done(&a.e.journal)->next, 8);
	assert_int_equal(a.e.counters.exported, 1050);
	assert_int_equal(left.tail[0] + left.tail[1], 50);
	agent_end(&a);
}

/* Killed with a combo of events alone, which no ring keeps. The collector may know its number, so
 * no other combo gets it, and all frames are still to come. */
static void events_are_gone_with_their_agent(void **state)
{
	static struct agent a;
	struct saluki_journal *j = (void *)left.journal;

	(void)state;
	begin_anew(false);
	j->run = 1;
	j->state = SALUKI_JOURNAL_PENDING;
	j->done[0].next = j->done[0].combos = 7;
	assert_int_equal(agent_start(&a, 1024), 0);
	assert_null(queue_front(&a.queue));
	assert_int_equal(journal_done(&a.e.journal)->next, 8);
	assert_int_equal(journal_done(&a.e.journal)->combos, 8);
	assert_int_equal(journal_state(&a.e.journal), SALUKI_JOURNAL_IDLE);
	assert_int_equal(a.e.counters.exported, 0);
	assert_int_equal(left.tail[0] + left.tail[1], 0);
	agent_end(&a);
}

/* Three records, of which the second is a module's event. */
static int mixed_next(struct source *s, struct source_frame *f)
{
	struct fake *x = (struct fake *)s;

	if (x->next[0] == 3)
		return 0;
	memset(f, 0, sizeof(*f));
	f->frame.linktype = x->next[0]++ == 1 ? SALUKI_LINKTYPE_EVENT : 9;
	f->frame.orig_len = f->frame.kept_len = FRAME_LEN;
	f->frame.data = x->data;
	return 1;
}

/* Killed with a combo of two frames and an event: its frames are sent again. A sensor without
 * modules knows no events. */
static void frames_with_an_event_between_them(void **state)
{
	bool events = fill_is_event(&(struct combo_frame){ .linktype = SALUKI_LINKTYPE_EVENT });
	struct source_ops ops = fake_ops;
	static struct agent a;
	struct saluki_journal *j = (void *)left.journal;

	(void)state;
	begin_anew(false);
	assert_int_equal(agent_start(&a, 1024), 0);
	ops.next = mixed_next;
	a.source.base.ops = &ops;
	j->run = 1;
	j->state = SALUKI_JOURNAL_PENDING;
	j->frames = events ? 2 : 3;
	assert_int_equal(resume(&a.e), 0);
	assert_int_equal(queue_front(&a.queue)->combo.frames, j->frames);
	agent_end(&a);
}

static void a_ring_that_is_not_the_journals(void **state)
{
	static struct agent a;
	struct saluki_journal *j = (void *)left.journal;

	(void)state;
	begin_anew(false);
	j->run = 1;
	j->state = SALUKI_JOURNAL_PENDING;
	j->frames = 5;
	j->ends[0] = j->ends[1] = 3;
	assert_int_equal(agent_start(&a, 1024), -EBADMSG);
	agent_end(&a);
	assert_int_equal(left.tail[0] + left.tail[1], 0);
}

static void the_run_keeps_its_name(void **state)
{
	static struct agent a;
	struct saluki_journal *j = (void *)left.journal;

	(void)state;
	begin_anew(false);
	assert_int_equal(agent_start(&a, 1024), 0);
	agent_end(&a);
	assert_int_equal(j->run, 4711);
	j->run = 4712;
	assert_int_equal(agent_start(&a, 1024), 0);
	agent_end(&a);
	assert_int_equal(a.session.run, 4712);
}

static void memory_of_its_own(void **state)
{
	struct saluki_exported done = { .exported = 3 };
	__u64 ends[LANES] = { 1, 2 };
	struct journal j;

	(void)state;
	assert_int_equal(journal_open(&j, -1, LANES), 0);
	assert_int_equal(journal_done(&j)->exported, 0);
	journal_begin(&j, 3, ends);
	journal_commit(&j, &done);
	journal_settle(&j);
	assert_int_equal(journal_done(&j)->exported, 3);
	journal_close(&j);
	assert_int_equal(journal_open(&j, 0x7fffffff, LANES), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_killed),
		cmocka_unit_test(killed_once_at_every_store),
		cmocka_unit_test(killed_again_and_again),
		cmocka_unit_test(read_in_another_order),
		cmocka_unit_test(frames_that_do_not_fit_any_more),
		cmocka_unit_test(events_are_gone_with_their_agent),
		cmocka_unit_test(frames_with_an_event_between_them),
		cmocka_unit_test(a_ring_that_is_not_the_journals),
		cmocka_unit_test(the_run_keeps_its_name),
		cmocka_unit_test(memory_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
