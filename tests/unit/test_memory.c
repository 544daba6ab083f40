// SPDX-License-Identifier: GPL-2.0
/* The AP70's memcpy(), memset() and memcmp() against this machine's (packaging/ap70/memory.c; on
 * the AP70, against themselves).
 * links: none */
#include "unit.h"

#define memcpy ap70_memcpy
#define memset ap70_memset
#define memcmp ap70_memcmp
#define bcmp ap70_bcmp
void *ap70_memcpy(void *restrict to, const void *restrict from, size_t n);
int ap70_memcmp(const void *a, const void *b, size_t n);
#include "packaging/ap70/memory.c"
#undef memcpy
#undef memset
#undef memcmp
#undef bcmp

/* Each alignment, and each length up to 79 bytes. */
static void memory_is_as_theirs(void **state)
{
	uint8_t from[96], to[96], want[96];

	(void)state;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (size_t i = 0; i < 4 * 4 * 80; i++) {
		size_t a = i % 4, b = i / 4 % 4, n = i / 16;

		memset(to, 0xee, sizeof(to));
		memset(want, 0xee, sizeof(want));
		memcpy(want + b, from + a, n);
		assert_ptr_equal(ap70_memcpy(to + b, from + a, n), to + b);
		assert_memory_equal(to, want, sizeof(to));
		assert_int_equal(ap70_memcmp(to + b, from + a, n), 0);
		if (n) {
			to[b + n - 1]++;
			assert_true(ap70_memcmp(to + b, from + a, n) > 0);
			assert_true(ap70_memcmp(from + a, to + b, n) < 0);
		}
		memset(want + b, 0xa5, n);
		assert_ptr_equal(ap70_memset(to + b, 0x7a5, n), to + b);
		assert_memory_equal(to, want, sizeof(to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_as_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
