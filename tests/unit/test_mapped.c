// SPDX-License-Identifier: GPL-2.0
/* links: agent/rings/mapped.o */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/rings/mapped.h"

/* Rings in the format that bpf/mapped.h writes. */
#define SIZE 4096
#define LANES 3

struct bed {
	struct mapped m;
	uint8_t *memory;
};

/* Releases all that was given. */
static void release_all(struct mapped *m)
{
	__u64 mark[LANES];

	mapped_mark(m, true, mark);
	mapped_release(m, mark);
}

static struct saluki_mapped *ring_of(const struct bed *b, uint32_t lane)
{
	return (void *)(b->memory + lane * mapped_value_size(SIZE));
}

static void setup(struct bed *b, uint64_t at)
{
	b->memory = aligned_alloc(64, LANES * mapped_value_size(SIZE));
	assert_non_null(b->memory);
	memset(b->memory, 0, LANES * mapped_value_size(SIZE));
	for (uint32_t i = 0; i < LANES; i++)
		ring_of(b, i)->head = ring_of(b, i)->tail = at;
	assert_int_equal(mapped_init(&b->m, b->memory, SIZE, LANES), 0);
}

static void teardown(struct bed *b)
{
	mapped_unmap(&b->m);
	free(b->memory);
}

/* Returns 0, or -1 if the ring is full. */
static int put(struct saluki_mapped *r, uint64_t time_ns, uint32_t len)
{
	uint64_t next = saluki_mapped_next(r->head, len, SIZE);
	struct saluki_record *rec = (void *)(r->data + (r->head & (SIZE - 1)));

	if (next - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) > SIZE)
		return -1;
	*rec = (struct saluki_record){ .time_ns = time_ns, .kept_len = len };
	memset(rec + 1, (int)time_ns & 255, len);
	__atomic_store_n(&r->head, next, __ATOMIC_RELEASE);
	return 0;
}

static void check(const struct saluki_record *r, uint64_t time_ns, uint32_t len)
{
	const uint8_t *bytes = (const uint8_t *)(r + 1);

	assert_non_null(r);
	assert_int_equal(r->time_ns, time_ns);
	assert_int_equal(r->kept_len, len);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], time_ns & 255);
}

static void the_default_takes_a_64th_of_the_memory(void **state)
{
	const uint64_t gib = 1 << 30;

	(void)state;
	assert_true(mapped_affordable(4 << 20, 4, gib));
	assert_false(mapped_affordable(4 << 20, 4, gib - 4096));
	assert_false(mapped_affordable(4 << 20, 5, gib));
	assert_true(mapped_affordable(64 << 10, 2, gib / 128));
	assert_true(mapped_affordable(256 << 20, 64, 1024 * gib));
	assert_false(mapped_affordable(256 << 20, 65, 1024 * gib));
}

static void lanes_are_merged_by_time(void **state)
{
	struct bed b;

	(void)state;
	setup(&b, 0);
	assert_null(mapped_next(&b.m));
	for (uint64_t t = 1; t <= 30; t++)
		assert_int_equal(put(ring_of(&b, t * t % LANES), t, t), 0);
	for (uint64_t t = 1; t <= 30; t++)
		check(mapped_next(&b.m), t, t);
	assert_null(mapped_next(&b.m));
	put(ring_of(&b, 2), 31, 0);
	check(mapped_next(&b.m), 31, 0);
	teardown(&b);
}

static void a_lane_that_was_empty_is_found_when_another_runs_out(void **state)
{
	__u64 mark[LANES];
	struct bed b;

	(void)state;
	setup(&b, 0);
	put(ring_of(&b, 0), 1, 8);
	put(ring_of(&b, 0), 2, 8);
	put(ring_of(&b, 1), 3, 8);
	check(mapped_next(&b.m), 1, 8);
	put(ring_of(&b, 2), 4, 8);
	put(ring_of(&b, 0), 5, 8);
	for (uint64_t t = 2; t <= 5; t++)
		check(mapped_next(&b.m), t, 8);
	mapped_mark(&b.m, true, mark);
	put(ring_of(&b, 1), 6, 8);
	check(mapped_next(&b.m), 6, 8);
	assert_null(mapped_next(&b.m));
	teardown(&b);
}

static void a_record_runs_over_the_end_and_the_next_begins_at_the_start(void **state)
{
	struct bed b;

	(void)state;
	setup(&b, 10 * SIZE - 32);
	assert_int_equal(put(ring_of(&b, 0), 1, 1000), 0);
	assert_int_equal(ring_of(&b, 0)->head, 10 * SIZE);
	assert_int_equal(put(ring_of(&b, 0), 2, 8), 0);
	check(mapped_next(&b.m), 1, 1000);
	check(mapped_next(&b.m), 2, 8);
	assert_null(mapped_next(&b.m));
	assert_int_equal(b.m.taken, 64);
	teardown(&b);
}

static void a_record_that_ends_at_the_end(void **state)
{
	struct bed b;

	(void)state;
	setup(&b, SIZE - 32);
	put(ring_of(&b, 0), 1, 8);
	assert_int_equal(ring_of(&b, 0)->head, SIZE);
	check(mapped_next(&b.m), 1, 8);
	teardown(&b);
}

/* The last record given is after the mark: it goes into the next combo. */
static void space_is_given_back_up_to_a_mark(void **state)
{
	struct saluki_mapped *r;
	__u64 mark[LANES], end[LANES];
	struct bed b;

	(void)state;
	setup(&b, 0);
	r = ring_of(&b, 1);
	for (uint64_t t = 1; put(r, t, 100) == 0; t++)
		;
	check(mapped_next(&b.m), 1, 100);
	check(mapped_next(&b.m), 2, 100);
	mapped_mark(&b.m, false, mark);
	while (mapped_next(&b.m))
		;
	mapped_mark(&b.m, false, end);
	assert_int_equal(put(r, 1000, 100), -1);
	mapped_release(&b.m, mark);
	assert_int_equal(r->tail, 128);
	assert_int_equal(put(r, 1000, 100), 0);
	assert_int_equal(put(r, 1001, 100), -1);
	mapped_release(&b.m, end);
	assert_int_equal(put(r, 1001, 100), 0);
	teardown(&b);
}

/* Or before the mark, if a combo has it already: a stopping agent leaves the ring so. */
static void space_is_given_back_with_the_last(void **state)
{
	struct saluki_mapped *r;
	struct bed b;

	(void)state;
	setup(&b, 0);
	r = ring_of(&b, 1);
	for (uint64_t t = 1; t <= 3; t++)
		assert_int_equal(put(r, t, 100), 0);
	check(mapped_next(&b.m), 1, 100);
	check(mapped_next(&b.m), 2, 100);
	release_all(&b.m);
	assert_int_equal(r->tail, 256);
	check(mapped_next(&b.m), 3, 100);
	assert_null(mapped_next(&b.m));
	release_all(&b.m);
	assert_int_equal(r->tail, r->head);
	teardown(&b);
}

static void sleeps_only_while_there_is_little(void **state)
{
	struct bed b;

	(void)state;
	setup(&b, 0);
	assert_true(mapped_sleep(&b.m, 256));
	assert_int_equal(ring_of(&b, 1)->wake_at, 256);
	put(ring_of(&b, 1), 1, 100);
	assert_true(mapped_sleep(&b.m, 256));
	put(ring_of(&b, 1), 2, 100);
	assert_false(mapped_sleep(&b.m, 256));
	mapped_awake(&b.m);
	assert_int_equal(ring_of(&b, 1)->wake_at, UINT64_MAX);
	teardown(&b);
}

#define STRESS 200000

static void *produce(void *ring)
{
	for (uint64_t t = 1; t <= STRESS;)
		if (put(ring, t, t * 2654435761u % 700) == 0)
			t++;
	return NULL;
}

static void two_cpus_and_a_consumer(void **state)
{
	uint64_t last = 0, got = 0, seen[256] = { 0 };
	pthread_t threads[2];
	struct bed b;

	(void)state;
	setup(&b, (1ULL << 32) - 104); /* across the wrap at 32 bits */
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, ring_of(&b, i)), 0);
	while (got < 2 * STRESS) {
		const struct saluki_record *r = mapped_next(&b.m);
		const uint8_t *bytes = (const uint8_t *)(r + 1);

		if (!r) {
			release_all(&b.m);
			continue;
		}
		assert_int_equal(r->kept_len, r->time_ns * 2654435761u % 700);
		if (r->kept_len)
			assert_true(bytes[0] == (r->time_ns & 255) &&
				    bytes[r->kept_len - 1] == (r->time_ns & 255));
		last = r->time_ns > last ? r->time_ns : last;
		seen[r->time_ns & 255]++;
		if (++got % 7 == 0)
			release_all(&b.m);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(last, STRESS);
	for (int i = 0; i < 256; i++)
		assert_in_range(seen[i], 2 * (STRESS / 256), 2 * (STRESS / 256 + 1));
	assert_null(mapped_next(&b.m));
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_takes_a_64th_of_the_memory),
		cmocka_unit_test(lanes_are_merged_by_time),
		cmocka_unit_test(a_lane_that_was_empty_is_found_when_another_runs_out),
		cmocka_unit_test(a_record_runs_over_the_end_and_the_next_begins_at_the_start),
		cmocka_unit_test(a_record_that_ends_at_the_end),
		cmocka_unit_test(space_is_given_back_up_to_a_mark),
		cmocka_unit_test(space_is_given_back_with_the_last),
		cmocka_unit_test(sleeps_only_while_there_is_little),
		cmocka_unit_test(two_cpus_and_a_consumer),
	};

	return cmocka_run_group_tests_name("mapped", tests, NULL, NULL);
}
