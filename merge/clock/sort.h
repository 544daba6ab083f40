/* SPDX-License-Identifier: GPL-2.0 */
/* Sort: times and differences, for medians and quartiles. */
#ifndef MERGE_CLOCK_SORT_H
#define MERGE_CLOCK_SORT_H

#include <stdint.h>
#include <stdlib.h>

static inline int sort_by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Ascending. */
static inline void sort_ns(int64_t *of, unsigned int n)
{
	qsort(of, n, sizeof(*of), sort_by_ns);
}

#endif
