/* SPDX-License-Identifier: GPL-2.0 */
/*
 * links: agent/programs/insert.o
 *
 * Instructions inserted into a program: call targets and offsets afterwards.
 */
#include "unit.h"

#include "agent/programs/insert.h"

#define CALL(by)                                                                                   \
	{                                                                                          \
		BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, by                                      \
	}
#define HELPER(number)                                                                             \
	{                                                                                          \
		BPF_JMP | BPF_CALL, 0, 0, 0, number                                                \
	}
#define SET(imm)                                                                                   \
	{                                                                                          \
		BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, imm                                          \
	}
#define END                                                                                        \
	{                                                                                          \
		BPF_JMP | BPF_EXIT, 0, 0, 0, 0                                                     \
	}

/* Three functions; the last calls the one before it. */
static const struct bpf_insn was[] = {
	/* 0 */ CALL(4), HELPER(5), CALL(4), SET(3), END,
	/* 5 */ SET(5),	 END,
	/* 7 */ SET(7),	 CALL(-4),  END,
};
static const struct bpf_insn more[] = { SET(100), SET(101), SET(102) };

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void assert_inserted(const struct insert *all, size_t n, const struct bpf_insn *want,
			    size_t want_len)
{
	size_t count = LEN(was);
	struct bpf_insn *is = insert_copy(was, &count, all, n);

	assert_non_null(is);
	assert_int_equal(count, want_len);
	for (size_t i = 0; i < count; i++)
		assert_memory_equal(&is[i], &want[i], sizeof(is[i]));
	free(is);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_inserted(NULL, 0, was, LEN(was));
}

static void test_where_functions_begin(void **state)
{
	static const struct bpf_insn want[] = {
		CALL(4), HELPER(5), CALL(6),  SET(3), END,	SET(100), SET(101),
		SET(5),	 END,	    SET(102), SET(7), CALL(-7), END,
	};
	const struct insert all[] = { { 5, more, 2, true }, { 7, more + 2, 1, true } };

	(void)state;
	assert_inserted(all, LEN(all), want, LEN(want));
}

static void test_behind_a_function(void **state)
{
	static const struct bpf_insn want[] = {
		CALL(7),  HELPER(5), CALL(7), SET(3), END,	SET(100), SET(101),
		SET(102), SET(5),    END,     SET(7), CALL(-4), END,
	};
	const struct insert all[] = { { 5, more, 3, false } };

	(void)state;
	assert_inserted(all, LEN(all), want, LEN(want));
}

static void test_at_the_ends(void **state)
{
	static const struct bpf_insn want[] = {
		SET(100), CALL(4), HELPER(5), CALL(4), SET(3),	 END,	   SET(5),
		END,	  SET(7),  CALL(-4),  END,     SET(101), SET(102),
	};
	const struct insert all[] = { { 0, more, 1, true }, { LEN(was), more + 1, 2, false } };

	(void)state;
	assert_inserted(all, LEN(all), want, LEN(want));
}

/* Within a function, and directly before a call. */
static void test_amid_a_function(void **state)
{
	static const struct bpf_insn want[] = {
		CALL(6), HELPER(5), SET(100), SET(101), CALL(4),  SET(3),
		END,	 SET(5),    END,      SET(7),	CALL(-4), END,
	};
	const struct insert all[] = { { 2, more, 2, true } };

	(void)state;
	assert_inserted(all, LEN(all), want, LEN(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_where_functions_begin),
		cmocka_unit_test(test_behind_a_function),
		cmocka_unit_test(test_at_the_ends),
		cmocka_unit_test(test_amid_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
