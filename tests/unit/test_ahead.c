// SPDX-License-Identifier: GPL-2.0
/* links: collector/combo/ahead.o collector/combo/ahead_plan.o collector/combo/unpack.o
 * collector/combo/decompress.o collector/combo/reassemble.o collector/combo/reassemble_pool.o
 * wire/combo.o wire/columns.o wire/combo_open.o wire/compress.o wire/dictionary.o
 * wire/dot11_templates.o wire/fields.o wire/wired_append.o wire/tails.o wire/wired_next.o
 * wire/wired_templates.o */
/* Combos that a second thread unpacks before their turn, and which combos these are. */
#include "unit.h"

#include <sched.h>

#include "collector/combo/ahead.h"
#include "collector/combo/combos.h"
#include "collector/combo/reassemble.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"
#include "wire/bytes.h"
#include "wire/compress.h"

#define SENSORS 3
#define COUNTS 16
#define FRAMES 40
#define ID 7

static struct made {
	uint8_t bytes[COMBO_WIRE_MAX];
	size_t len;
} made[SENSORS][COUNTS];
static struct sensor sensors[SENSORS];
static struct combo_sensor parts[SENSORS];
static struct combos *room;
static struct ahead *a;
static struct decompress d;

uint16_t split_id(const struct sensor *s, const uint8_t *combo, size_t len)
{
	(void)s;
	(void)combo;
	(void)len;
	return ID;
}

/* Combos that all have the same length, so that only their bytes differ. */
static void make(struct combo *c, struct compress *z, unsigned int sensor, unsigned int count)
{
	struct made *m = &made[sensor][count];
	uint8_t data[64];

	combo_reset(c);
	c->first = count * FRAMES;
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct combo_frame f = { .data = data,
					 .kept_len = sizeof(data),
					 .orig_len = sizeof(data),
					 .time_ns = 1000 * i,
					 .linktype = 101 };

		for (unsigned int k = 0; k < sizeof(data); k++)
			data[k] = i + sensor * 16 + count;
		combo_append(c, &f);
	}
	combo_close(c);
	combo_header_write(m->bytes, ID, count, c->frames, c->body_len);
	m->len = COMBO_HEADER_LEN +
		 compress_combo(z, m->bytes + COMBO_HEADER_LEN, c->body, c->body_len, 0);
}

static int make_all(void **state)
{
	struct compress z = { 0 };
	struct combo c;

	(void)state;
	if (combo_init(&c, COMBO_SIZE_DEFAULT, 64) || compress_init(&z, 1, COMBO_SIZE_DEFAULT))
		return -1;
	for (unsigned int s = 0; s < SENSORS; s++)
		for (unsigned int n = 0; n < COUNTS; n++)
			make(&c, &z, s, n);
	compress_free(&z);
	combo_free(&c);
	return decompress_init(&d);
}

static int free_all(void **state)
{
	(void)state;
	decompress_free(&d);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memset(sensors, 0, sizeof(sensors));
	memset(parts, 0, sizeof(parts));
	for (int i = 0; i < SENSORS; i++)
		sensors[i].combo = &parts[i];
	room = calloc(1, sizeof(*room));
	room->pool.limit = REASSEMBLE_POOL_LIMIT_DEFAULT;
	a = &room->ahead;
	return 0;
}

static int begin_thread(void **state)
{
	return begin(state) || ahead_start_thread(a);
}

/* Nothing runs the jobs, so their states are what the main thread makes them. */
static int begin_still(void **state)
{
	begin(state);
	a->jobs = calloc(AHEAD_JOBS, sizeof(*a->jobs));
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < SENSORS; i++)
		reassemble_free(&parts[i].reassembly, &room->pool);
	free(room);
	return 0;
}

static int end_thread(void **state)
{
	ahead_stop(a);
	assert_null(a->jobs);
	return end(state);
}

static int end_still(void **state)
{
	free(a->jobs);
	return end(state);
}

static struct ahead_combo combo(unsigned int sensor, uint64_t count)
{
	const struct made *m = &made[sensor][count % COUNTS];

	return (struct ahead_combo){ &sensors[sensor], m->bytes, m->len, count % COUNTS, ID };
}

static uint32_t state_of(const struct ahead_job *j)
{
	return __atomic_load_n(&j->state, __ATOMIC_SEQ_CST);
}

/* Waits until the thread has nothing to do. */
static void wait_done(void)
{
	for (int i = 0; i < AHEAD_JOBS; i++)
		while (state_of(&a->jobs[i]) == AHEAD_READY ||
		       state_of(&a->jobs[i]) == AHEAD_RUNNING)
			sched_yield();
}

static unsigned int count_of(uint32_t state)
{
	unsigned int n = 0;

	for (int i = 0; i < AHEAD_JOBS; i++)
		n += state_of(&a->jobs[i]) == state;
	return n;
}

static void submit(unsigned int sensor, uint64_t first, unsigned int count)
{
	struct ahead_combo list[1 + AHEAD_JOBS];

	for (unsigned int i = 0; i < count; i++)
		list[i] = combo(sensor, first + i);
	ahead_submit(a, list, count);
}

static struct unpacked *take(struct ahead_combo want, bool *valid)
{
	return ahead_take(a, &want, &d, valid);
}

/* Compares with the combo that was made. */
static void assert_is(struct unpacked *u, unsigned int sensor, uint64_t count)
{
	struct combo_frame f;

	assert_int_equal(u->reader.frames, FRAMES);
	assert_int_equal(u->reader.first, count % COUNTS * FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++) {
		assert_int_equal(combo_next(&u->reader, &f), 1);
		assert_int_equal(f.time_ns, 1000 * i);
		assert_int_equal(f.kept_len, 64);
		assert_int_equal(f.data[63], (uint8_t)(i + sensor * 16 + count % COUNTS));
	}
	assert_int_equal(combo_next(&u->reader, &f), 0);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void all_but_the_first_are_unpacked(void **state)
{
	bool valid = false;

	(void)state;
	submit(0, 3, 5);
	wait_done();
	assert_null(take(combo(0, 3), &valid));
	for (unsigned int n = 4; n < 8; n++) {
		struct unpacked *u = take(combo(0, n), &valid);

		assert_true(u && valid);
		assert_is(u, 0, n);
	}
	assert_true(a->spent_ns > 0);
	assert_null(take(combo(0, 4), &valid)); /* its frames are taken */
	assert_int_equal(count_of(AHEAD_TAKEN), 4);
	submit(0, 8, 1);
	assert_int_equal(count_of(AHEAD_FREE), AHEAD_JOBS);
}

static void few_combos_wake_nobody(void **state)
{
	bool valid;

	(void)state;
	while (!__atomic_load_n(&a->asleep, __ATOMIC_SEQ_CST))
		sched_yield();
	pthread_mutex_lock(&a->lock); /* free only while it sleeps */
	pthread_mutex_unlock(&a->lock);
	submit(0, 0, AHEAD_WAKE);
	assert_int_equal(count_of(AHEAD_FREE), AHEAD_JOBS);
	assert_null(take(combo(0, 1), &valid));
	submit(0, 0, AHEAD_WAKE + 1);
	wait_done();
	assert_int_equal(count_of(AHEAD_DONE), AHEAD_WAKE);
}

/* A sensor may be removed, and another one get its memory. A run may begin with the same counts. */
static void another_combo_of_the_same_count(void **state)
{
	struct ahead_combo other = combo(1, 1), other_id = combo(0, 2);
	uint8_t bytes[COMBO_WIRE_MAX];
	bool valid;

	(void)state;
	submit(0, 0, 5);
	wait_done();
	memcpy(bytes, made[0][1].bytes, made[0][1].len);
	bytes[made[0][1].len - 1] ^= 1;
	other.sensor = &sensors[0];
	other.bytes = bytes;
	other.len = made[0][1].len;
	assert_null(take(other, &valid));
	other_id.id++;
	assert_null(take(other_id, &valid));
	assert_non_null(take(combo(0, 3), &valid));
	assert_null(take(combo(1, 4), &valid));
}

static void hostile_combos_are_invalid(void **state)
{
	struct ahead_combo list[1 + 4] = { combo(0, 0) };
	uint8_t bytes[4][COMBO_WIRE_MAX];
	bool valid = true;

	(void)state;
	for (unsigned int i = 1; i < 5; i++) {
		list[i] = combo(0, i);
		list[i].bytes = memcpy(bytes[i - 1], list[i].bytes, list[i].len);
	}
	bytes[0][0] ^= 1;		 /* magic number */
	store_be(bytes[1] + 6, 4096, 2); /* frames */
	memset(bytes[2] + COMBO_HEADER_LEN + COMBO_CODEC_LEN, 0xff, 8);
	list[4].len = 3;
	ahead_submit(a, list, 5);
	wait_done();
	for (unsigned int i = 1; i < 5; i++) {
		assert_non_null(take(list[i], &valid));
		assert_false(valid);
	}
}

static void what_no_longer_comes_is_freed(void **state)
{
	bool valid;

	(void)state;
	submit(0, 0, 1 + AHEAD_JOBS);
	wait_done();
	submit(1, 0, 5); /* sensor 0 is held, say */
	assert_null(take(combo(0, 1), &valid));
	wait_done();
	assert_int_equal(count_of(AHEAD_DONE), 4);
	assert_non_null(take(combo(1, 1), &valid));
}

/* The main thread takes combos at any moment, in their order. */
static void any_number_at_any_time(void **state)
{
	unsigned int taken = 0;

	(void)state;
	srand(1);
	for (uint64_t n = 0; n < 5000; n++) {
		unsigned int s = n / 50 % SENSORS;
		struct unpacked *u;
		bool valid;

		submit(s, n, 1 + rand() % (1 + AHEAD_JOBS));
		for (int i = rand() % 8 ? 0 : 200; i; i--)
			sched_yield();
		u = take(combo(s, n), &valid);
		taken += u != NULL;
		if (u) {
			assert_true(valid);
			assert_is(u, s, n);
		}
	}
	assert_true(taken > 0);
}

static void it_ends_with_jobs_left(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		submit(0, i, 1 + AHEAD_JOBS);
		ahead_stop(a);
		ahead_stop(a);
		assert_int_equal(ahead_start_thread(a), 0);
	}
}

/* ---- the main thread ------------------------------------------------------------------------- */

/* As long as the other thread unpacks the combo. Their time is not this sensor's. */
static void meanwhile_it_does_other_jobs(void **state)
{
	bool valid;

	(void)state;
	submit(0, 0, 4);
	a->jobs[1].state = AHEAD_RUNNING;
	assert_ptr_equal(a->jobs[1].combo.sensor, &sensors[0]);
	assert_int_equal(a->jobs[1].combo.count, 1);
	assert_null(take(combo(0, 1), &valid));
	assert_int_equal(count_of(AHEAD_RUNNING), 1);
	assert_int_equal(count_of(AHEAD_DONE), 2);
	assert_true(a->spent_ns < 0);
	for (unsigned int n = 2; n < 4; n++) {
		struct unpacked *u = take(combo(0, n), &valid);

		assert_true(u && valid);
		assert_is(u, 0, n);
	}
	assert_int_equal(a->spent_ns, 0);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void arrive(unsigned int sensor, uint64_t count, size_t len)
{
	const struct made *m = &made[sensor][count % COUNTS];
	struct piece p = { .combo = count, .total = m->len, .data = m->bytes, .len = len };

	assert_int_equal(reassemble_add(&parts[sensor].reassembly, &room->pool, &p, 1),
			 REASSEMBLE_TAKEN);
}

static void arrive_all(unsigned int sensor)
{
	for (uint64_t n = 0; n < COUNTS; n++)
		arrive(sensor, n, made[sensor][n].len);
}

static bool has(unsigned int sensor, uint64_t count)
{
	for (int i = 0; i < AHEAD_JOBS; i++)
		if (state_of(&a->jobs[i]) == AHEAD_READY &&
		    a->jobs[i].combo.sensor == &sensors[sensor] && a->jobs[i].combo.count == count)
			return !memcmp(a->jobs[i].bytes, made[sensor][count].bytes,
				       made[sensor][count].len);
	return false;
}

static void one_sensor_has_all_jobs(void **state)
{
	(void)state;
	arrive_all(0);
	ahead_plan(room, &sensors[0]);
	assert_int_equal(count_of(AHEAD_READY), AHEAD_JOBS);
	for (uint64_t n = 1; n <= AHEAD_JOBS; n++)
		assert_true(has(0, n));
}

static void sensors_share_the_jobs(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SENSORS; i++)
		arrive_all(i);
	room->turns.first = &sensors[1];
	parts[1].turn.next = room->turns.last = &sensors[2];
	ahead_plan(room, &sensors[0]);
	for (uint64_t n = 0; n < AHEAD_JOBS_EACH; n++)
		assert_true(has(0, 1 + n) && has(1, n));
	assert_int_equal(count_of(AHEAD_READY), 2 * AHEAD_JOBS_EACH);
}

static void only_complete_combos_in_a_row(void **state)
{
	(void)state;
	arrive(0, 0, made[0][0].len);
	arrive(0, 1, made[0][1].len);
	arrive(0, 2, 8);
	arrive(0, 3, made[0][3].len);
	ahead_plan(room, &sensors[0]);
	assert_true(has(0, 1));
	assert_int_equal(count_of(AHEAD_READY), 1);
}

static void a_spool_is_encrypted(void **state)
{
	(void)state;
	arrive_all(0);
	arrive_all(1);
	parts[0].forward.id = ID;
	room->turns.first = room->turns.last = &sensors[1];
	ahead_plan(room, &sensors[0]);
	assert_int_equal(count_of(AHEAD_READY), AHEAD_JOBS_EACH);
	assert_true(has(1, 0));
}

static void without_a_thread(void **state)
{
	bool valid;

	(void)state;
	arrive_all(0);
	ahead_plan(room, &sensors[0]);
	assert_null(take(combo(0, 1), &valid));
	ahead_stop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define THREAD(f) cmocka_unit_test_setup_teardown(f, begin_thread, end_thread)
#define STILL(f) cmocka_unit_test_setup_teardown(f, begin_still, end_still)
		THREAD(all_but_the_first_are_unpacked),
		THREAD(few_combos_wake_nobody),
		THREAD(another_combo_of_the_same_count),
		THREAD(hostile_combos_are_invalid),
		THREAD(what_no_longer_comes_is_freed),
		THREAD(any_number_at_any_time),
		THREAD(it_ends_with_jobs_left),
		STILL(meanwhile_it_does_other_jobs),
		STILL(one_sensor_has_all_jobs),
		STILL(sensors_share_the_jobs),
		STILL(only_complete_combos_in_a_row),
		STILL(a_spool_is_encrypted),
		cmocka_unit_test_setup_teardown(without_a_thread, begin, end),
#undef STILL
#undef THREAD
	};

	return cmocka_run_group_tests(tests, make_all, free_all);
}
