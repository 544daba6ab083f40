// SPDX-License-Identifier: GPL-2.0
/* links: collector/model/ledger.o */
#include "unit.h"

#include <errno.h>

#include "collector/model/ledger.h"

static struct totals totals(uint64_t exported, bool final)
{
	return (struct totals){ .seen = exported + 5,
				.filtered = 2,
				.ring_full = 3,
				.captured = exported,
				.exported = exported,
				.final = final };
}

static struct totals left_in_ring(struct totals t, uint64_t frames)
{
	t.in_ring = frames;
	t.captured += frames;
	t.seen += frames;
	return t;
}

static void combo(struct ledger *l, uint64_t first, uint32_t frames)
{
	assert_int_equal(ledger_combo(l, first, frames), 0);
	l->pending += frames;
	ledger_flushed(l, true);
}

static void a_run_without_loss(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(30, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 10);
	combo(&l, 10, 20);
	ledger_totals(&l, &t);
	ledger_run_close(&l);
	assert_int_equal(ledger_balance(&l), 0);
	assert_int_equal(ledger_sum(&l).written, 30);
	assert_int_equal(ledger_sum(&l).lost_missing, 0);
}

static void gaps_and_the_tail_are_known_to_the_frame(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(100, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 7, 10);
	combo(&l, 20, 20);
	assert_int_equal(ledger_sum(&l).lost_missing, 7 + 3);
	ledger_totals(&l, &t);
	assert_int_equal(ledger_in_flight(&l), 60);
	assert_int_equal(ledger_balance(&l), 0);
	ledger_run_close(&l);
	assert_int_equal(ledger_in_flight(&l), 0);
	assert_int_equal(ledger_sum(&l).lost_missing, 70);
	assert_int_equal(ledger_balance(&l), 0);
}

static void a_combo_cannot_go_back(void **state)
{
	struct ledger l = { 0 };

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 10);
	assert_int_equal(ledger_combo(&l, 9, 10), -EBADMSG);
	assert_int_equal(ledger_combo(&l, UINT64_MAX, 1), -EBADMSG);
}

static void what_the_disk_refused_and_what_was_before_us(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(60, true);

	(void)state;
	ledger_run_start(&l, 1, 40);
	assert_int_equal(ledger_combo(&l, 40, 20), 0);
	l.pending += 20;
	assert_int_equal(ledger_in_flight(&l), 20);
	ledger_flushed(&l, false);
	ledger_totals(&l, &t);
	ledger_run_close(&l);
	assert_int_equal(ledger_sum(&l).earlier, 40);
	assert_int_equal(ledger_sum(&l).lost_disk, 20);
	assert_int_equal(ledger_balance(&l), 0);
}

static void runs_add_up(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(10, true), u = totals(4, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 8); /* two of the first run are lost */
	ledger_totals(&l, &t);
	ledger_run_start(&l, 2, 0);
	combo(&l, 0, 4);
	ledger_totals(&l, &u);
	assert_int_equal(ledger_sum(&l).sensor.exported, 14);
	assert_int_equal(ledger_sum(&l).written, 12);
	assert_int_equal(ledger_sum(&l).lost_missing, 2);
	assert_int_equal(ledger_balance(&l), 0);
	ledger_free(&l);
}

static void an_imbalance_is_seen(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(10, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 10);
	t.seen++; /* a frame the hook saw is nowhere */
	ledger_totals(&l, &t);
	assert_int_equal(ledger_balance(&l), 1);
	t.captured += 2; /* two vanished in the agent */
	t.seen += 2;
	ledger_totals(&l, &t);
	assert_int_equal(ledger_balance(&l), 1 + 2);
	l.now.written--; /* one vanished here */
	assert_int_equal(ledger_balance(&l), 1 + 2 + 1);
}

static void totals_that_are_overtaken_change_nothing(void **state)
{
	struct ledger l = { 0 };
	struct totals new = totals(10, true), old = totals(5, false);

	(void)state;
	ledger_run_start(&l, 1, 0);
	ledger_totals(&l, &new);
	ledger_totals(&l, &old);
	assert_int_equal(l.now.sensor.exported, 10);
	assert_int_equal(l.now.sensor.final, 1);
}

/* Some of a packet socket's frames count as refused until it stops, and then no longer
 * (packet_counts.h). */
static void the_last_word_may_have_seen_less(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(10, false), last = totals(10, true);

	(void)state;
	t.filtered++;
	t.seen++;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 10);
	ledger_totals(&l, &t);
	ledger_totals(&l, &last);
	ledger_totals(&l, &t);
	assert_int_equal(l.now.sensor.seen, 15);
	assert_int_equal(l.now.sensor.filtered, 2);
	assert_int_equal(ledger_balance(&l), 0);
}

/* Stopped in order with 25 frames in the ring. The next agent sends them, and is stopped too. */
static void a_run_that_is_carried_on(void **state)
{
	struct ledger l = { 0 };
	struct totals t = left_in_ring(totals(30, true), 25), live = totals(50, false),
		      last = totals(80, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 30);
	ledger_totals(&l, &t);
	ledger_run_close(&l);
	assert_int_equal(ledger_balance(&l), 0);
	assert_int_equal(ledger_sum(&l).sensor.in_ring, 25);
	live.captured += 5;
	live.seen += 5;
	ledger_run_resume(&l);
	assert_int_equal(l.now.sensor.final, 0);
	assert_int_equal(ledger_sum(&l).sensor.in_ring, 0);
	combo(&l, 30, 20);
	ledger_totals(&l, &live);
	assert_int_equal(l.now.sensor.exported, 50);
	combo(&l, 50, 30);
	ledger_totals(&l, &last);
	ledger_run_close(&l);
	assert_int_equal(ledger_balance(&l), 0);
	assert_int_equal(ledger_sum(&l).written, 80);
	assert_int_equal(ledger_sum(&l).lost_missing, 0);
	assert_int_equal(l.runs, 1);
}

/* The next agent was killed, too; then another run begins. */
static void what_nobody_came_for_has_vanished(void **state)
{
	struct ledger l = { 0 };
	struct totals t = left_in_ring(totals(30, true), 25), other = totals(5, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 30);
	ledger_totals(&l, &t);
	ledger_run_resume(&l);
	t.final = 0; /* totals, but not the last */
	ledger_totals(&l, &t);
	assert_int_equal(ledger_sum(&l).sensor.in_ring, 25);
	combo(&l, 30, 10);
	ledger_run_start(&l, 2, 0);
	assert_int_equal(ledger_sum(&l).vanished, 15);
	assert_int_equal(ledger_sum(&l).sensor.in_ring, 0);
	combo(&l, 0, 5);
	ledger_totals(&l, &other);
	assert_int_equal(ledger_balance(&l), 0);
	ledger_free(&l);
}

/* A run that no agent continues still had its final totals. */
static void frames_left_in_a_ring_stay_counted(void **state)
{
	struct ledger l = { 0 };
	struct totals t = left_in_ring(totals(30, true), 25), other = totals(5, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 30);
	ledger_totals(&l, &t);
	ledger_run_start(&l, 2, 0);
	combo(&l, 0, 5);
	ledger_totals(&l, &other);
	assert_int_equal(ledger_sum(&l).sensor.in_ring, 25);
	assert_int_equal(ledger_sum(&l).vanished, 0);
	assert_int_equal(ledger_balance(&l), 0);
	l.before.sensor.in_ring--;
	assert_int_equal(ledger_balance(&l), 1);
	ledger_free(&l);
}

/* Two machines with one key take the session from each other: each frame counts once. */
static void runs_in_turn(void **state)
{
	struct ledger l = { 0 };
	struct totals one = totals(30, false), other = totals(7, false);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 20);
	one.captured += 3;
	one.seen += 3; /* 10 exported frames are under way, 3 in the sensor */
	ledger_totals(&l, &one);
	ledger_run_close(&l);
	ledger_run_start(&l, 2, 0);
	assert_int_equal(ledger_sum(&l).vanished, 3);
	assert_int_equal(ledger_sum(&l).lost_missing, 10);
	combo(&l, 0, 7);
	ledger_totals(&l, &other);
	for (int turn = 0; turn < 5; turn++) {
		ledger_run_start(&l, 1, 20 + turn);
		assert_int_equal(ledger_sum(&l).vanished, 0);
		combo(&l, 20 + turn, 1);
		ledger_run_close(&l);
		ledger_run_start(&l, 2, 7);
		assert_int_equal(ledger_balance(&l), 0);
	}
	ledger_run_start(&l, 1, 25);
	combo(&l, 25, 8);
	one = totals(33, true);
	ledger_totals(&l, &one);
	assert_int_equal(l.runs, 2);
	assert_int_equal(ledger_sum(&l).sensor.seen, 50);
	assert_int_equal(ledger_sum(&l).written, 40);
	assert_int_equal(ledger_sum(&l).earlier, 0);
	assert_int_equal(ledger_sum(&l).lost_missing, 0);
	assert_int_equal(ledger_balance(&l), 0);
	ledger_free(&l);
}

/* A sensor gave up combos and reports it: the missing frames are known exactly. */
static void what_a_sensor_gave_up(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(100, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	combo(&l, 0, 10);
	assert_int_equal(ledger_floor(&l, 40), 0);
	assert_int_equal(ledger_floor(&l, 30), 0); /* it was overtaken */
	combo(&l, 40, 60);
	t.dropped_store = 30;
	ledger_totals(&l, &t);
	assert_int_equal(ledger_sum(&l).lost_missing, 30);
	assert_int_equal(ledger_sum(&l).earlier, 0);
	assert_int_equal(ledger_balance(&l), 0);
	assert_int_equal(ledger_floor(&l, UINT64_MAX), -EBADMSG);
}

/* Some of the frames before the run was first heard of were given up; another collector has the
 * rest. */
static void what_was_gone_before(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(100, true);

	(void)state;
	ledger_run_start(&l, 1, 0);
	assert_int_equal(ledger_floor(&l, 50), 0);
	combo(&l, 50, 10);
	assert_int_equal(ledger_floor(&l, 65), 0);
	combo(&l, 65, 35);
	assert_int_equal(ledger_sum(&l).earlier, 50);
	t.dropped_store = 25;
	ledger_totals(&l, &t);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ledger_sum(&l).lost_missing, 25);
		assert_int_equal(ledger_sum(&l).earlier, 30);
		assert_int_equal(ledger_sum(&l).written, 45);
		assert_int_equal(ledger_balance(&l), 0);
		ledger_run_start(&l, 2, 0); /* and afterwards */
		ledger_totals(&l, &(struct totals){ .final = 1 });
	}
	ledger_free(&l);
}

/* The same for a run whose end is unknown: a pipe has no names to read back. */
static void what_was_written_and_not_known(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(100, true);

	(void)state;
	ledger_run_start(&l, 1, 20);
	assert_int_equal(ledger_floor(&l, 40), 0);
	assert_int_equal(ledger_floor(&l, 50), 0);
	combo(&l, 50, 50);
	assert_int_equal(ledger_sum(&l).earlier, 50);
	t.dropped_store = 25;
	ledger_totals(&l, &t);
	assert_int_equal(ledger_sum(&l).lost_missing, 25);
	assert_int_equal(ledger_sum(&l).earlier, 25);
	assert_int_equal(ledger_balance(&l), 0);
}

/* A file has all names: missing frames that it does not name were lost with a killed sensor. */
static void what_is_not_in_the_file_is_missing(void **state)
{
	struct ledger l = { 0 };
	struct totals t = totals(100, true);

	(void)state;
	ledger_run_start(&l, 1, 20);
	ledger_run_known(&l);
	assert_int_equal(ledger_floor(&l, 50), 0);
	combo(&l, 50, 50);
	ledger_totals(&l, &t);
	assert_int_equal(ledger_sum(&l).earlier, 20);
	assert_int_equal(ledger_sum(&l).lost_missing, 30);
	assert_int_equal(ledger_balance(&l), 0);
	ledger_run_start(&l, 2, 0); /* unknown */
	assert_int_equal(ledger_floor(&l, 10), 0);
	assert_int_equal(l.now.unheard, 10);
	ledger_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_loss),
		cmocka_unit_test(gaps_and_the_tail_are_known_to_the_frame),
		cmocka_unit_test(a_combo_cannot_go_back),
		cmocka_unit_test(what_the_disk_refused_and_what_was_before_us),
		cmocka_unit_test(runs_add_up),
		cmocka_unit_test(an_imbalance_is_seen),
		cmocka_unit_test(totals_that_are_overtaken_change_nothing),
		cmocka_unit_test(the_last_word_may_have_seen_less),
		cmocka_unit_test(a_run_that_is_carried_on),
		cmocka_unit_test(what_nobody_came_for_has_vanished),
		cmocka_unit_test(frames_left_in_a_ring_stay_counted),
		cmocka_unit_test(runs_in_turn),
		cmocka_unit_test(what_a_sensor_gave_up),
		cmocka_unit_test(what_was_gone_before),
		cmocka_unit_test(what_was_written_and_not_known),
		cmocka_unit_test(what_is_not_in_the_file_is_missing),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
