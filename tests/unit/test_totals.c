// SPDX-License-Identifier: GPL-2.0
/* links: wire/totals.o */
#include "unit.h"

#include "wire/piece.h"
#include "wire/totals.h"

static void totals_come_back(void **state)
{
	struct totals t = { .seen = UINT64_MAX, .exported = 5, .final = 1 }, got;
	uint8_t out[TOTALS_WIRE_MAX];
	size_t len = totals_write(out, &t);

	(void)state;
	assert_true(len <= sizeof(out));
	assert_int_equal(totals_read(&got, out, len), 0);
	assert_memory_equal(&t, &got, sizeof(t));
	for (size_t i = 0; i < len; i++)
		assert_int_equal(totals_read(&got, out, i), -EBADMSG);
}

static void either_end_may_know_more(void **state)
{
	const uint8_t fewer[] = { PIECE_TOTALS, 2, 10, 3 };
	uint8_t more[TOTALS_WIRE_MAX + 1];
	struct totals t = { .seen = 4 }, got;
	size_t len = totals_write(more, &t);

	(void)state;
	assert_int_equal(totals_read(&got, fewer, sizeof(fewer)), 0);
	assert_true(got.seen == 10 && got.filtered == 3 && got.captured == 0);
	more[1]++;
	more[len++] = 99;
	assert_int_equal(totals_read(&got, more, len), 0);
	assert_memory_equal(&t, &got, sizeof(t));
}

static void pieces(void **state)
{
	uint8_t m[PIECE_HEADER_LEN + PIECE_DATA_MAX] = { 0 };
	struct piece p;

	(void)state;
	piece_header_write(m, 0x1234567, PIECE_DATA_MAX, PIECE_DATA_MAX + 10);
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN + 10), 0);
	assert_int_equal(p.combo, 0x234567);
	assert_int_equal(p.offset, PIECE_DATA_MAX);
	assert_int_equal(p.len, 10);
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN + 11), -1); /* beyond the total */
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN + 9), -1);	/* not the end, not full */
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN), -1);
	piece_header_write(m, 0, 7, 100); /* not where a piece begins */
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN + 93), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_come_back),
		cmocka_unit_test(either_end_may_know_more),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
