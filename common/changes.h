/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sequence counter, like the kernel's seqcount_t, for numbers that one thread writes and others
 * read at the same time. It is needed if a write takes more than one store: for several numbers
 * that belong together, or for 64 bits on a 32-bit machine. The writer counts before and after a
 * write; the count is odd during the write. The reader reads again if the count has changed. The
 * functions are inline, because the capture thread writes with them. No pinned map has such
 * numbers.
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

/* Copies word by word, as the other side may access the data too. `len` is in bytes, and a multiple
 * of a word. */
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
