// SPDX-License-Identifier: GPL-2.0
/* links: agent/rings/ring.o */
#include "unit.h"

#include <linux/bpf.h>

#include "agent/rings/ring.h"

/* A ring laid out by hand, as kernel/bpf/ringbuf.c lays it out. There the data is mapped twice;
 * here it is twice as large. */
#define SIZE 4096

static uint8_t data[2 * SIZE];
static uint64_t consumer, producer;

static struct ring fresh(uint64_t at)
{
	memset(data, 0, sizeof(data));
	consumer = producer = at;
	return (struct ring){ .limit = UINT64_MAX,
			      .consumer = &consumer,
			      .producer = &producer,
			      .data = data,
			      .size = SIZE,
			      .next = at };
}

static void put(uint32_t len, uint32_t flags, char fill)
{
	uint8_t *p = data + producer % SIZE;
	uint32_t word = len | flags;

	memcpy(p, &word, 4);
	memset(p + 8, fill, len);
	producer += (len + 8 + 7) & ~7u;
}

static void records_in_order_and_discarded_ones_passed_over(void **state)
{
	struct ring r = fresh(0);
	const uint8_t *p;
	size_t len;

	(void)state;
	assert_null(ring_next(&r, &len));
	put(10, 0, 'a');
	put(20, BPF_RINGBUF_DISCARD_BIT, 'b');
	put(30, 0, 'c');
	p = ring_next(&r, &len);
	assert_true(p && *p == 'a' && len == 10);
	p = ring_next(&r, &len);
	assert_true(p && *p == 'c' && len == 30);
	assert_null(ring_next(&r, &len));
	assert_int_equal(r.next, producer);
}

static void a_record_being_written_holds_up_those_behind_it(void **state)
{
	struct ring r = fresh(0);
	uint32_t committed = 10;
	size_t len;

	(void)state;
	put(10, BPF_RINGBUF_BUSY_BIT, 'a');
	put(10, 0, 'b');
	assert_null(ring_next(&r, &len));
	memcpy(data, &committed, 4);
	assert_non_null(ring_next(&r, &len));
	assert_non_null(ring_next(&r, &len));
}

static void space_is_given_back_only_on_release(void **state)
{
	struct ring r = fresh(SIZE - 16); /* the record wraps */
	const uint8_t *p;
	size_t len;

	(void)state;
	put(40, 0, 'x');
	p = ring_next(&r, &len);
	assert_true(p && p[39] == 'x');
	assert_int_equal(consumer, SIZE - 16);
	ring_release(&r, r.next);
	assert_int_equal(consumer, producer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_order_and_discarded_ones_passed_over),
		cmocka_unit_test(a_record_being_written_holds_up_those_behind_it),
		cmocka_unit_test(space_is_given_back_only_on_release),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
