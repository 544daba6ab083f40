// SPDX-License-Identifier: GPL-2.0
/* links: common/log.o common/monotonic.o merge/air/answer.o merge/air/damaged.o merge/air/match.o
 * merge/air/order.o merge/air/pool.o merge/air/retained.o merge/clock/anchor.o merge/clock/arrive.o
 * merge/clock/bridge.o merge/clock/bridges.o merge/clock/clock.o merge/clock/clocks.o
 * merge/clock/earliest.o merge/clock/epoch.o merge/clock/find.o merge/clock/level.o
 * merge/clock/own.o merge/clock/parts.o merge/clock/queue.o merge/clock/radios.o
 * merge/clock/references.o merge/clock/seek.o merge/clock/solve.o merge/clock/wanted.o
 * merge/sweep/merge.o merge/sweep/rehearse.o merge/sweep/retire.o merge/sweep/sweep.o */
#include "unit.h"

#include "common/monotonic.h"
#include "merge/clock/parts.h"
#include "merge/sweep/merge.h"
#include "merge/model/chunk.h"

#define SECOND_NS 1000000000LL
#define SENSORS 6400
#define SHARE 16	 /* of the sensors must have news (merge.c), */
#define WAIT_NS 20000000 /* or so much time must pass */

static struct merge m;

static int take(void *context, const struct transmission *t)
{
	(void)context;
	(void)t;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return merge_init(&m, &(struct merge_sink){ .take = take });
}

static int end(void **state)
{
	(void)state;
	merge_free(&m);
	return 0;
}

static void reception(uint32_t radio, int64_t stamp_ns)
{
	static const uint8_t frame[64];
	struct reception r = { .stamp_ns = stamp_ns, .key = radio, .radio = radio };

	r.chunk = chunk_make(0);
	r.frame = frame;
	r.kept = sizeof(frame);
	assert_int_equal(merge_take(&m, &r), 0);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void a_stream_of_many_is_not_swept_for_each_reception(void **state)
{
	uint64_t begun, sweeps = 0, calls = 10 * SENSORS;

	(void)state;
	m.hold_ns = SECOND_NS;
	for (uint32_t i = 0; i < SENSORS; i++)
		reception(merge_add_radio(&m, i, 0), SECOND_NS);
	begun = monotonic_ns();
	for (uint64_t i = 0; i < calls; i++) {
		merge_nothing_before(&m, i % SENSORS, SECOND_NS + i);
		assert_int_equal(merge_sweep(&m), 0);
		sweeps += !m.news;
	}
	assert_true(sweeps >= calls / (SENSORS / SHARE) / 2);
	assert_true(sweeps <= calls / (SENSORS / SHARE) + 2 + (monotonic_ns() - begun) / WAIT_NS);
}

static void a_stream_of_few_is(void **state)
{
	(void)state;
	m.hold_ns = SECOND_NS;
	for (uint32_t i = 0; i < SHARE - 1; i++)
		merge_add_radio(&m, i, 0);
	for (int i = 0; i < 100; i++) {
		reception(i % (SHARE - 1), SECOND_NS + i);
		assert_int_equal(merge_sweep(&m), 0);
		assert_int_equal(m.news, 0);
	}
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void numbers_of_parts_are_given_again(void **state)
{
	static int64_t given_ns[65536];
	struct clocks *c = &m.clocks;
	struct domain *d = clocks_add(c, 0);
	uint32_t most = 0;

	(void)state;
	d->clock.known = true;
	for (int i = 1; i < 200000; i++) {
		c->now_ns = i * SECOND_NS / 100;
		d->part = parts_new(c);
		assert_true(d->part < 65536);
		assert_true(!given_ns[d->part] || c->now_ns - given_ns[d->part] >= 60 * SECOND_NS);
		given_ns[d->part] = c->now_ns;
		most = d->part > most ? d->part : most;
		if (i % 100 == 0)
			parts_give_back(c);
	}
	assert_true(most < 8000);
	assert_int_equal(c->parts, 199999);
}

/* ---- references ------------------------------------------------------------------------------ */

static void domains_differ_beyond_16_bits(void **state)
{
	struct references *r = &m.clocks.references;
	struct reference *e;

	(void)state;
	references_add(r, 1, 0, 70000);
	e = references_find(r, 1);
	assert_int_equal(e->domain, 70000);
	assert_false(references_replayed(e, 5, 0));
	assert_false(references_replayed(e, 5 + 65536, 10 * REFERENCES_TWICE_NS));
	assert_false(references_replayed(e, 70000 - 65536, 10 * REFERENCES_TWICE_NS));
	assert_true(references_replayed(e, 5 + 65536, 10 * REFERENCES_TWICE_NS));
}

static bool is_seven(void *context, uint32_t domain)
{
	(void)context;
	return domain == 7;
}

static void references_forget_who_retires(void **state)
{
	struct references *r = &m.clocks.references;

	(void)state;
	references_add(r, 1, 0, 7);
	references_add(r, 2, 0, 8);
	references_replayed(references_find(r, 2), 7, 0);
	references_replayed(references_find(r, 2), 9, 0);
	references_forget(r, is_seven, NULL);
	assert_null(references_find(r, 1));
	assert_non_null(references_find(r, 2));
	/* Another domain with this number has not heard it. */
	assert_false(references_replayed(references_find(r, 2), 7, 10 * REFERENCES_TWICE_NS));
	assert_true(references_replayed(references_find(r, 2), 9, 10 * REFERENCES_TWICE_NS));
}

/* ---- domains --------------------------------------------------------------------------------- */

static void a_domain_is_used_again(void **state)
{
	struct clocks *c = &m.clocks;
	struct domain *first = clocks_add(c, 3), *second = clocks_add(c, 3), *third;

	(void)state;
	assert_false(first->again);
	assert_true(second->again);
	clocks_give_back(c, second);
	assert_ptr_equal(c->of_sensor[3].last, first);
	clocks_give_back(c, first);
	assert_null(c->of_sensor[3].first);
	third = clocks_add(c, 3);
	assert_int_equal(c->count, 2);
	assert_true(third->again);
	assert_int_equal(third->serial, 2);
	assert_ptr_equal(c->of_sensor[3].first, third);
	assert_ptr_equal(c->list[third->number], third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stream_of_many_is_not_swept_for_each_reception,
						begin, end),
		cmocka_unit_test_setup_teardown(a_stream_of_few_is, begin, end),
		cmocka_unit_test_setup_teardown(numbers_of_parts_are_given_again, begin, end),
		cmocka_unit_test_setup_teardown(domains_differ_beyond_16_bits, begin, end),
		cmocka_unit_test_setup_teardown(references_forget_who_retires, begin, end),
		cmocka_unit_test_setup_teardown(a_domain_is_used_again, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
