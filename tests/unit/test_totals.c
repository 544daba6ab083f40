// SPDX-License-Identifier: GPL-2.0
/* links: wire/totals.o */
#include "unit.h"

#include "wire/message.h"
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
	const uint8_t fewer[] = { MESSAGE_TOTALS, 2, 10, 3 };
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

static void interfaces_come_back(void **state)
{
	struct totals t = { .seen = 7 }, got;
	uint8_t out[TOTALS_WIRE_MAX + 1];
	size_t alone = totals_write(out, &t), len;

	(void)state;
	memset(&t, 0xff, sizeof(t));
	assert_true(totals_write(out, &t) <=
		    TOTALS_WIRE_MAX); /* any count, and the largest numbers */
	for (uint64_t n = 1; n <= TOTALS_INTERFACES_MAX; n++) {
		t = (struct totals){ .seen = 7, .interface_count = n };
		for (uint64_t i = 0; i < n; i++)
			t.interfaces[i] =
				(struct totals_interface){ .seen = i, .captured = 1 << i };
		len = totals_write(out, &t);
		assert_int_equal(totals_read(&got, out, len), 0);
		assert_memory_equal(&t, &got, sizeof(t));
		for (size_t i = 0; i < len; i++) /* truncated between its two parts it is whole */
			assert_int_equal(totals_read(&got, out, i), i == alone ? 0 : -EBADMSG);
		assert_int_equal(totals_read(&got, out, len + 1), -EBADMSG);
	}
}

/* More fields of more interfaces than this version knows, and fewer. */
static void nor_need_they_know_the_same_of_interfaces(void **state)
{
	uint8_t in[100] = { MESSAGE_TOTALS, 1, 9, 10, 7 };
	const uint8_t fewer[] = { MESSAGE_TOTALS, 0, 2, 1, 5, 6 };
	const uint8_t none[] = { MESSAGE_TOTALS, 0, 200, 0 };
	struct totals got;

	(void)state;
	for (unsigned int i = 0; i < 70; i++)
		in[5 + i] = i;
	assert_int_equal(totals_read(&got, in, 75), 0);
	assert_true(got.seen == 9 && got.interface_count == TOTALS_INTERFACES_MAX);
	assert_true(got.interfaces[1].seen == 7 && got.interfaces[1].captured == 11);
	assert_true(got.interfaces[7].seen == 49 && got.interfaces[7].captured == 53);
	assert_int_equal(totals_read(&got, in, 74), -EBADMSG);
	assert_int_equal(totals_read(&got, fewer, sizeof(fewer)), 0);
	assert_true(got.interface_count == 2 && got.interfaces[1].seen == 6);
	assert_true(got.interfaces[1].filtered == 0);
	assert_int_equal(totals_read(&got, none, sizeof(none)), 0);
	assert_int_equal(got.interface_count, TOTALS_INTERFACES_MAX);
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
	piece_header_write(m, 0, 7, 100); /* not the start of a piece */
	assert_int_equal(piece_read(&p, m, PIECE_HEADER_LEN + 93), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_come_back),
		cmocka_unit_test(either_end_may_know_more),
		cmocka_unit_test(interfaces_come_back),
		cmocka_unit_test(nor_need_they_know_the_same_of_interfaces),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
