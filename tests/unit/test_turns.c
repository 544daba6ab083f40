// SPDX-License-Identifier: GPL-2.0
/* links: collector/combo/turns.o */
/* The order and times of combos' turns, with a simulated clock and combos of given cost. */
#include "unit.h"

#include <time.h>

#include "collector/combo/combos.h"
#include "collector/combo/gaps.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"
#include "collector/combo/turns.h"

#define US 1000ULL
#define MS (1000 * US)
#define SENSORS 21

static struct sensor of[SENSORS];
static struct output output;
static struct combo_sensor part[SENSORS];
static struct combos *c;
static uint64_t now_ns;

/* Per sensor. */
static struct {
	unsigned int combos; /* waiting */
	uint64_t cost_ns;    /* per combo */
	uint64_t ahead_ns;   /* per combo, of the other thread */
	uint64_t since_ns;   /* arrival of the combo that is due */
	uint64_t longest_ns; /* longest wait of a combo */
	unsigned int taken;
	bool held;
} want[SENSORS];

int clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = now_ns / 1000000000;
	t->tv_nsec = now_ns % 1000000000;
	return 0;
}

enum split_result split_next(struct combos *room, struct sensor *s, uint64_t now)
{
	unsigned int i = s - of;

	(void)now;
	if (!want[i].combos)
		return SPLIT_NONE;
	if (want[i].held)
		return SPLIT_HELD;
	room->ahead.spent_ns += want[i].ahead_ns;
	now_ns += want[i].cost_ns;
	if (now_ns - want[i].since_ns > want[i].longest_ns)
		want[i].longest_ns = now_ns - want[i].since_ns;
	want[i].since_ns = now_ns;
	want[i].combos--;
	want[i].taken++;
	return SPLIT_TAKEN;
}

void ahead_plan(struct combos *room, const struct sensor *s)
{
	(void)room;
	(void)s;
}

const uint8_t *gaps_whole(struct combos *room, struct sensor *s, size_t *len, uint64_t *count)
{
	(void)room;
	(void)s;
	(void)len;
	(void)count;
	return (const uint8_t *)"";
}

bool output_holds(const struct output *out, const struct sensor *s)
{
	(void)out;
	return want[s - of].held;
}

bool output_holds_all(const struct output *out)
{
	return out->hold.on;
}

uint64_t budget_share(const struct budget *b)
{
	(void)b;
	return 0;
}

uint64_t budget_room(const struct budget *b)
{
	(void)b;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memset(of, 0, sizeof(of));
	memset(want, 0, sizeof(want));
	memset(part, 0, sizeof(part));
	for (unsigned int i = 0; i < SENSORS; i++)
		of[i].combo = &part[i];
	c = calloc(1, sizeof(*c));
	c->output = &output;
	now_ns = 1000 * MS;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(c);
	return 0;
}

static void combos_come(unsigned int i, unsigned int n)
{
	if (!want[i].combos)
		want[i].since_ns = now_ns;
	want[i].combos += n;
	turns_ready(c, &of[i]);
}

static void all_are_taken(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SENSORS; i++) {
		want[i].cost_ns = 10 * US;
		combos_come(i, 3 + i);
		combos_come(i, 1);
	}
	turns_all(c, now_ns);
	for (unsigned int i = 0; i < SENSORS; i++)
		assert_int_equal(want[i].taken, 4 + i);
	assert_false(turns_serve(c, now_ns));
}

/* Datagrams have to be received in between. */
static void a_round_ends(void **state)
{
	uint64_t before = now_ns;

	(void)state;
	want[0].cost_ns = 50 * US;
	combos_come(0, 1000);
	assert_true(turns_serve(c, now_ns));
	assert_in_range(now_ns - before, TURNS_ROUND_NS,
			TURNS_ROUND_NS + TURNS_QUANTUM_NS + 50 * US);
}

/* Twenty sensors always have as many combos as possible, of a millisecond each. A sensor with a
 * rare small combo waits for at most one of each. */
static void few_and_small_among_many(void **state)
{
	(void)state;
	want[0].cost_ns = 20 * US;
	for (unsigned int i = 1; i < SENSORS; i++)
		want[i].cost_ns = MS;
	for (int round = 0; round < 5000; round++) {
		for (unsigned int i = 1; i < SENSORS; i++)
			combos_come(i, 64 - want[i].combos);
		if (!want[0].combos && round % 3 == 0)
			combos_come(0, 1);
		turns_serve(c, now_ns);
	}
	assert_true(want[0].taken > 200);
	assert_in_range(want[0].longest_ns, 1, 20 * MS + 2 * MS);
}

/* Time is shared, not combos: sensors with expensive combos get fewer. */
static void time_is_what_is_shared(void **state)
{
	(void)state;
	want[0].cost_ns = 50 * US;
	want[1].cost_ns = MS;
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 2; i++)
			combos_come(i, 64 - want[i].combos);
		turns_serve(c, now_ns);
	}
	assert_in_range(want[0].taken * want[0].cost_ns * 100 / (want[1].taken * want[1].cost_ns),
			80, 125);
}

/* What another thread unpacked counts too: it could have worked for others. */
static void time_of_both_threads_is_shared(void **state)
{
	(void)state;
	want[0].cost_ns = 50 * US;
	want[1].cost_ns = 50 * US;
	want[1].ahead_ns = 950 * US;
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 2; i++)
			combos_come(i, 64 - want[i].combos);
		turns_serve(c, now_ns);
	}
	assert_in_range(want[0].taken * 100 / want[1].taken, 20 * 80, 20 * 125);
}

/* A turn that waited for the disk counts TURNS_DEBT_NS at most. */
static void a_slow_disk_is_nobodys_fault(void **state)
{
	(void)state;
	want[0].cost_ns = 1000 * MS;
	want[1].cost_ns = 100 * US;
	combos_come(0, 1);
	combos_come(1, 64);
	turns_serve(c, now_ns);
	want[0].cost_ns = 10 * US;
	combos_come(0, 64);
	for (int round = 0; round < 3; round++)
		turns_serve(c, now_ns);
	assert_true(want[0].taken > 1);
}

/* Sixty-four combos of a millisecond, and as many again at once: all others would wait. */
static void who_hurries_is_stopped(void **state)
{
	uint64_t before = now_ns;

	(void)state;
	want[0].cost_ns = MS;
	combos_come(0, 64);
	turns_hurry(c, &of[0], now_ns);
	assert_in_range(now_ns - before, TURNS_HURRY_NS, TURNS_HURRY_NS + MS);
	before = now_ns;
	turns_hurry(c, &of[0], now_ns);
	assert_int_equal(now_ns, before);
	now_ns += 1000 * MS;
	want[0].cost_ns = 100 * US; /* ordinary ones */
	want[0].combos = 64;
	turns_hurry(c, &of[0], now_ns);
	assert_int_equal(want[0].combos, 0);
}

static void who_is_held_has_no_turn(void **state)
{
	(void)state;
	output.hold.on = true;
	want[0].held = true;
	combos_come(0, 5);
	combos_come(1, 5);
	turns_all(c, now_ns);
	assert_int_equal(want[0].taken, 0);
	assert_int_equal(want[1].taken, 5);
	assert_int_equal(of[0].combo->turn.state, TURNS_HELD);
	assert_true(c->pool.waits && of[0].combo->reassembly.waits);
	now_ns += 700 * MS;
	combos_come(0, 5);
	assert_int_equal(turns_tick(c, now_ns), TURNS_HELD_MS);
	output.hold.on = false;
	now_ns += 700 * MS;
	assert_int_equal(turns_tick(c, now_ns), TURNS_HELD_MS); /* its budget */
	assert_false(c->pool.waits);
	want[0].held = false;
	now_ns += 700 * MS;
	assert_int_equal(turns_tick(c, now_ns), 0);
	turns_all(c, now_ns);
	assert_int_equal(want[0].taken, 10);
	assert_int_equal(turns_tick(c, now_ns), -1);
	assert_int_equal(turns_held_ns(&of[0], now_ns), 2100 * MS);
	assert_false(of[0].combo->reassembly.waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
		T(all_are_taken),
		T(a_round_ends),
		T(few_and_small_among_many),
		T(time_is_what_is_shared),
		T(time_of_both_threads_is_shared),
		T(a_slow_disk_is_nobodys_fault),
		T(who_hurries_is_stopped),
		T(who_is_held_has_no_turn),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
