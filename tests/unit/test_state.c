// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/state.o collector/output/written.o collector/output/late.o
 * collector/output/pcapng.o collector/output/pcapng_walk.o pcapng/combo_name.o wire/channel.o */
/* The state file: it reads back as written, and not at all if any byte differs. */
#include "unit.h"

#include <errno.h>

#include "collector/output/state.h"

static char text[4096];
/* Heard by an earlier collector: one, one that has ended, and one that is not listed any more. */
static struct sensor sensors[] = {
	{ .id = 17, .listed = true, .before = { 1795271173, false } },
	{ .id = 65535, .listed = true, .before = { UINT32_MAX, true } },
	{ .id = 16, .before = { 1795271173, false } },
};
static struct sensor *list[] = { &sensors[0], &sensors[1], &sensors[2] };
static const struct sensors all = { .list = list, .count = 3 };

static const struct late_gap gaps[] = {
	{ .run = UINT64_MAX - 4, .from = 1, .to = 3, .first = 7, .end = 21 },
	{ .run = UINT64_MAX - 5, .from = 0, .to = UINT64_MAX, .first = 0, .end = UINT64_MAX },
};

/* The sensors know what was read, and it is freed. */
static void recalled(struct state *s)
{
	struct sensor one = { .id = 17 }, ended = { .id = 65535 }, never = { .id = 1 };
	struct sensor *of[] = { &one, &ended, &never };
	const struct sensors others = { .list = of, .count = 3 };

	state_recall(s, &others);
	assert_null(s->sensors);
	assert_true(one.before.heard_s == 1795271173 && one.presence == SENSOR_NEVER);
	assert_true(ended.before.ended && ended.presence == SENSOR_ENDED);
	assert_true(!never.before.heard_s && never.presence == SENSOR_NEVER);
}

/* Writes a state with runs of two sensors. Returns its bytes. */
static size_t write_state(const char *name)
{
	struct state s = { .floor_ns = 1795271173933000001ULL, .offset = 123456789012ULL };
	struct written n = { 0 };
	FILE *f = fmemopen(text, sizeof(text), "w");
	size_t len;

	snprintf(s.file, sizeof(s.file), "%s", name);
	for (uint64_t run = 1; run <= WRITTEN_RUNS + 1; run++)
		written_put(&n, 17, UINT64_MAX - run, run, run * 7);
	written_put(&n, 65535, 0, UINT64_MAX, UINT64_MAX);
	written_gap_put(&n, 17, &gaps[0]);
	written_gap_put(&n, 17, &gaps[1]);
	assert_int_equal(state_write(f, &s, &n, &all), 0);
	len = ftell(f);
	fclose(f);
	written_free(&n);
	return len;
}

static int read_state(size_t len, struct state *s, struct written *n)
{
	FILE *f = tmpfile();
	int err;

	assert_int_equal(fwrite(text, 1, len, f), len);
	rewind(f);
	err = state_read(f, s, n);
	fclose(f);
	return err;
}

static void it_comes_back(void **state)
{
	size_t len = write_state("/var/captures of mine/out.pcapng");
	struct written n = { 0 };
	struct late l = { 0 };
	struct state s;

	(void)state;
	assert_int_equal(read_state(len, &s, &n), 0);
	assert_true(s.floor_ns == 1795271173933000001ULL && s.offset == 123456789012ULL);
	assert_string_equal(s.file, "/var/captures of mine/out.pcapng");
	for (uint64_t run = 2; run <= WRITTEN_RUNS + 1; run++) {
		const struct sensor_run *r = written_find(&n, 17, UINT64_MAX - run);

		assert_non_null(r);
		assert_true(r->next == run && r->accounted == run * 7);
	}
	assert_null(written_find(&n, 17, UINT64_MAX - 1));
	assert_true(n.of[17]->runs[0].run == UINT64_MAX - WRITTEN_RUNS - 1);
	assert_true(written_find(&n, 65535, 0)->next == UINT64_MAX);
	assert_true(s.sensors[17].heard_s == 1795271173 && !s.sensors[17].ended);
	assert_true(s.sensors[65535].heard_s == UINT32_MAX && s.sensors[65535].ended);
	assert_true(s.sensors[0].heard_s == 0 && s.sensors[16].heard_s == 0);
	recalled(&s);
	written_gaps(&n, 65535, &l);
	assert_int_equal(l.count, 0);
	written_gaps(&n, 17, &l);
	assert_int_equal(l.count, 2);
	for (int i = 0; i < 2; i++)
		assert_true(l.of[i].run == gaps[i].run && l.of[i].from == gaps[i].from &&
			    l.of[i].to == gaps[i].to && l.of[i].first == gaps[i].first &&
			    l.of[i].end == gaps[i].end && l.of[i].earlier);
	written_free(&n);
}

static void nothing_of_a_damaged_one(void **state)
{
	size_t len = write_state("out.pcapng");
	struct written n = { 0 };
	struct state s;

	(void)state;
	assert_int_equal(read_state(0, &s, &n), -ENOENT);
	for (size_t cut = 1; cut < len - 1; cut++) {
		assert_int_equal(read_state(cut, &s, &n), -EBADMSG);
		assert_true(s.floor_ns == 0 && !n.of[17] && !n.of[65535] && !s.sensors);
	}
	for (size_t i = 0; i < len - 1; i++) {
		text[i] ^= 1;
		assert_int_equal(read_state(len, &s, &n), -EBADMSG);
		text[i] ^= 1;
	}
	assert_true(!n.of[17]);
}

/* A name that does not fit into a line is left out; files are searched then. */
static void a_name_with_a_newline(void **state)
{
	struct written n = { 0 };
	struct state s;

	(void)state;
	assert_int_equal(read_state(write_state("out\nend.pcapng"), &s, &n), 0);
	assert_string_equal(s.file, "");
	assert_int_equal(s.offset, 0);
	written_free(&n);
	recalled(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_back),
		cmocka_unit_test(nothing_of_a_damaged_one),
		cmocka_unit_test(a_name_with_a_newline),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
