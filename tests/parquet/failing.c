// SPDX-License-Identifier: GPL-2.0
/* Preloaded: the allocation with the number in FAIL_AT fails, counted from 1, without small ones.
 */
#include <errno.h>
#include <stdlib.h>

#define SMALL 200 /* words that scanf() reads */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

static int fails(size_t size)
{
	static int left = -1;

	if (left < 0)
		left = getenv("FAIL_AT") ? atoi(getenv("FAIL_AT")) : 0;
	if (size <= SMALL || !left || --left)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	return fails(size) ? NULL : __libc_realloc(p, size);
}
