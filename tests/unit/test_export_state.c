// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/export_state.o agent/capture/queue.o wire/combo.o wire/columns.o
 * wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o wire/tails.o wire/fields.o */
#include "unit.h"

#include "agent/export/export.h"

#define SECOND_NS 1000000000ULL

static struct spool spool;
static struct session session;
static struct queue queue;
static struct exporter exporter;

/* ---- what the state asks of other stages ----------------------------------------------------- */

uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay)
{
	(void)s, (void)exported, (void)totals, (void)len;
	*stay = 1;
	return 0;
}

void deliver_drop_oldest(struct deliver *d)
{
	(void)d;
	fail();
}

size_t export_totals_write(struct exporter *e, uint8_t message[TOTALS_WIRE_MAX], bool final)
{
	(void)e, (void)message, (void) final;
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
	(void)state;
	memset(&spool, 0, sizeof(spool));
	memset(&session, 0, sizeof(session));
	memset(&exporter, 0, sizeof(exporter));
	session.peer = "";
	exporter.session = &session;
	exporter.queue = &queue;
	exporter.spool = &spool;
	exporter.stop = true;
	spool.deliver = &exporter.deliver;
	return queue_init(&queue, 2, COMBO_SIZE_MIN, 100, 1);
}

static int end(void **state)
{
	(void)state;
	queue_free(&queue);
	return 0;
}

/* The state after `seconds` without a collector. */
static enum export_state after(unsigned int seconds, uint64_t stuck_until)
{
	spool.stuck_until = stuck_until;
	exporter.state = export_next(&exporter, false, false, (1 + seconds) * SECOND_NS);
	return exporter.state;
}

static void push(void)
{
	assert_non_null(queue_slot(&queue));
	queue_push(&queue);
}

/* A spool that cannot be written for a while takes what is left when it can. */
static void test_a_spool_recovers(void **state)
{
	(void)state;
	push();
	assert_int_equal(after(0, SPOOL_WORKS), EXPORT_ENDING);
	assert_int_equal(after(20, SPOOL_FAILS), EXPORT_GIVING_UP);
	assert_int_equal(after(21, SPOOL_WORKS), EXPORT_SPOOLING);
}

/* If a combo's frames were left in a ring, committing a later one would release them. */
static void test_frames_left_in_a_ring_stay(void **state)
{
	(void)state;
	push();
	assert_int_equal(after(0, SPOOL_WORKS), EXPORT_ENDING);
	assert_int_equal(after(20, SPOOL_FAILS), EXPORT_GIVING_UP);
	exporter.left = true;
	assert_int_equal(after(21, SPOOL_WORKS), EXPORT_GIVING_UP);
	queue_end(&queue);
	assert_int_equal(after(22, SPOOL_WORKS), EXPORT_GIVING_UP);
	queue_pop(&queue);
	assert_int_equal(after(23, SPOOL_WORKS), EXPORT_OVER);
	assert_int_equal(exporter.outcome, EXPORT_SPOOLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_spool_recovers, begin, end),
		cmocka_unit_test_setup_teardown(test_frames_left_in_a_ring_stay, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
