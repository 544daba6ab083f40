// SPDX-License-Identifier: GPL-2.0
/* links: agent/capture/queue.o wire/combo.o wire/columns.o wire/dot11_templates.o
 * wire/wired_templates.o wire/wired_append.o wire/tails.o wire/fields.o */
#include "unit.h"

#include <pthread.h>

#include "agent/capture/queue.h"

#define COMBOS 20000

static void *produce(void *arg)
{
	struct queue *q = arg;

	for (uint64_t i = 0; i < COMBOS; i++) {
		struct slot *s;

		while (!(s = queue_slot(q)))
			queue_wait_slot(q, 1000);
		s->combo.first = i;
		queue_push(q);
	}
	queue_end(q);
	return NULL;
}

static void everything_in_order_across_threads(void **state)
{
	struct queue q;
	pthread_t t;
	uint64_t expected = 0;

	(void)state;
	assert_int_equal(queue_init(&q, QUEUE_LEN, COMBO_SIZE_MIN, 192, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, produce, &q), 0);
	while (!queue_finished(&q)) {
		struct slot *s = queue_front(&q);

		if (!s) {
			event_wait(q.filled_fd, 1000);
			continue;
		}
		assert_int_equal(s->combo.first, expected++);
		queue_pop(&q);
	}
	assert_int_equal(expected, COMBOS);
	pthread_join(t, NULL);
	queue_free(&q);
}

static void full_means_no_slot(void **state)
{
	struct queue q;

	(void)state;
	assert_int_equal(queue_init(&q, QUEUE_LEN, COMBO_SIZE_MIN, 192, 0), 0);
	assert_null(queue_front(&q));
	for (int i = 0; i < QUEUE_LEN; i++) {
		assert_non_null(queue_slot(&q));
		queue_push(&q);
	}
	assert_null(queue_slot(&q));
	queue_pop(&q);
	assert_non_null(queue_slot(&q));
	queue_end(&q);
	assert_false(queue_finished(&q));
	for (int i = 0; i < QUEUE_LEN - 1; i++)
		queue_pop(&q);
	assert_true(queue_finished(&q));
	queue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_order_across_threads),
		cmocka_unit_test(full_means_no_slot),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
