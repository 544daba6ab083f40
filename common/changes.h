/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that one thread or process writes and others read meanwhile, where they take more than
 * one store: several that belong together, or 64 bits on a machine of 32. The writer counts before
 * and after (odd: it is at it), the reader reads again if the count has moved: a sequence counter,
 * as the kernel's seqcount_t. In line, as that is: the capture thread writes with it.
 * Threads of the sensor share such numbers; none is in a pinned map, so no border has them.
 */
#ifndef COMMON_CHANGES_H
#define COMMON_CHANGES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define CHANGES_SPIN 16	  /* then the writer needs the CPU, perhaps our own */
#define CHANGES_TRIES 100 /* and then it is not to be believed: as it is */

static inline void changes_begin(unsigned int *changes)
{
	__atomic_store_n(changes, *changes + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void changes_end(unsigned int *changes)
{
	__atomic_store_n(changes, *changes + 1, __ATOMIC_RELEASE);
}

/* A word at a time, as the other side may be at it. `len` is in bytes, a multiple of a word. */
static inline void changes_copy(void *to, const void *from, size_t len)
{
	for (size_t i = 0; i < len / sizeof(long); i++)
		__atomic_store_n((long *)to + i,
				 __atomic_load_n((const long *)from + i, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

static inline void changes_read(const unsigned int *changes, void *to, const void *from, size_t len)
{
	for (int i = 0; i < CHANGES_TRIES; i++) {
		unsigned int before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);

		changes_copy(to, from, len);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(changes, __ATOMIC_RELAXED) == before)
			return;
		if (i >= CHANGES_SPIN)
			poll(NULL, 0, 1);
	}
}

#endif
