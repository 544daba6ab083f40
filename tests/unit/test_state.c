// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/state.o collector/output/written.o collector/output/pcapng.o
 * collector/output/pcapng_walk.o wire/channel.o */
/* The state file: it reads back as written, and not at all if any byte differs. */
#include "unit.h"

#include <errno.h>

#include "collector/output/state.h"

static char text[4096];

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
	state_heard(&s, 17, (struct state_sensor){ 1795271173, false });
	state_heard(&s, 65535, (struct state_sensor){ UINT32_MAX, true });
	assert_int_equal(state_write(f, &s, &n), 0);
	len = ftell(f);
	fclose(f);
	written_free(&n);
	state_free(&s);
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
	assert_true(state_sensor_of(&s, 17).heard_s == 1795271173 &&
		    !state_sensor_of(&s, 17).ended);
	assert_true(state_sensor_of(&s, 65535).heard_s == UINT32_MAX &&
		    state_sensor_of(&s, 65535).ended);
	assert_true(state_sensor_of(&s, 0).heard_s == 0 && state_sensor_of(&s, 16).heard_s == 0);
	state_free(&s);
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
	state_free(&s);
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
