// SPDX-License-Identifier: GPL-2.0
/* links: wire/dwell.o */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/dwell.h"

static const struct dwell usual = { .interface = 1,
				    .mhz = 5180,
				    .width = 80,
				    .center = 5210,
				    .from_ns = 1700000000000000000ULL,
				    .to_ns = 1700000000250000000ULL,
				    .frames = 300,
				    .marked = 2,
				    .switch_ns = 35000,
				    .up_ns = 300000000000 };

static void assert_dwell(const struct dwell *got, const struct dwell *want)
{
	assert_int_equal(got->interface, want->interface);
	assert_int_equal(got->mhz, want->mhz);
	assert_int_equal(got->width, want->width);
	assert_int_equal(got->center, want->center);
	assert_true(got->from_ns == want->from_ns);
	assert_true(got->to_ns == want->to_ns);
	assert_true(got->frames == want->frames);
	assert_true(got->marked == want->marked);
	assert_true(got->switch_ns == want->switch_ns);
	assert_int_equal(got->error, want->error);
	assert_true(got->up_ns == want->up_ns);
}

/* Reads from a block of exactly its size, so that sanitizers see a read beyond it. */
static int read_copy(struct dwell *d, const uint8_t *in, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, in, len);
	err = dwell_read(d, copy, len);
	free(copy);
	return err;
}

static void dwells_come_back(void **state)
{
	const struct dwell most = { UINT8_MAX,	UINT16_MAX, UINT16_MAX, UINT16_MAX, 0, UINT64_MAX,
				    UINT64_MAX, UINT64_MAX, UINT64_MAX, 0,	    0 };
	const struct dwell failed = { .mhz = 2412,
				      .width = 20,
				      .center = 2412,
				      .from_ns = UINT64_MAX,
				      .to_ns = UINT64_MAX,
				      .marked = 3,
				      .switch_ns = 7,
				      .error = UINT32_MAX,
				      .up_ns = UINT64_MAX };
	const struct dwell *list[] = { &usual, &most, &failed };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint8_t out[DWELL_MAX + 1] = { 0 }, end[VARINT_MAX];
		size_t len = dwell_write(out, list[i]);
		struct dwell got;

		assert_true(len <= DWELL_MAX);
		assert_int_equal(read_copy(&got, out, len), 0);
		assert_dwell(&got, list[i]);
		/* A later version has more fields. */
		assert_int_equal(read_copy(&got, out, len + 1), 0);
		assert_dwell(&got, list[i]);
		for (size_t cut = 0; cut < len; cut++) {
			/* An earlier version has only these fields. */
			bool before = list[i]->up_ns &&
				      cut == len - store_varint(end, list[i]->up_ns);

			assert_int_equal(read_copy(&got, out, cut), before ? 0 : -EBADMSG);
			assert_true(!before || got.up_ns == 0);
		}
	}
}

static void the_format_is_frozen(void **state)
{
	static const char frozen[] =
		"01bc2850da2817979cfe362a000080e59a77ac02b89102000280f092cbdd08";
	char text[2 * DWELL_MAX + 1];
	uint8_t out[DWELL_MAX];
	size_t len = dwell_write(out, &usual);

	(void)state;
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", out[i]);
	assert_string_equal(text, frozen);
}

/* Sets one value of a dwell that dwell_write would not write. */
static int read_lie(int index, uint64_t value)
{
	const uint64_t values[] = { 5180, 80, 5210, 0, 300, 35000, 0, 2, 7 };
	uint8_t out[9 * VARINT_MAX + 9] = { 1 }, *p = out + 1;
	struct dwell d;

	for (int i = 0; i < 9; i++) {
		if (i == 3) {
			store_be(p, usual.from_ns, 8);
			p += 8;
		}
		p += store_varint(p, i == index ? value : values[i]);
	}
	return read_copy(&d, out, p - out);
}

static void what_cannot_be_is_refused(void **state)
{
	static const struct {
		int index;
		uint64_t value;
		int result;
	} lies[] = {
		{ -1, 0, 0 },
		{ 0, 0, -EBADMSG }, /* no channel */
		{ 0, 1, 0 },
		{ 0, UINT16_MAX, 0 },
		{ 0, UINT16_MAX + 1, -EBADMSG },
		{ 1, UINT16_MAX, 0 },
		{ 1, UINT16_MAX + 1, -EBADMSG },
		{ 2, UINT16_MAX, 0 },
		{ 2, UINT16_MAX + 1, -EBADMSG },
		{ 3, UINT64_MAX - 1700000000000000000ULL, 0 },
		{ 3, UINT64_MAX - 1699999999999999999ULL, -EBADMSG }, /* the time wraps */
		{ 4, UINT64_MAX, 0 },
		{ 5, UINT64_MAX, 0 },
		{ 6, 16, -EBADMSG }, /* frames in a dwell of no length */
		{ 7, UINT64_MAX, 0 },
		{ 8, UINT64_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (read_lie(lies[i].index, lies[i].value) != lies[i].result)
			fail_msg("value %d is %llu", lies[i].index,
				 (unsigned long long)lies[i].value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwells_come_back),
		cmocka_unit_test(the_format_is_frozen),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("dwell", tests, NULL, NULL);
}
