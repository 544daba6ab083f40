// SPDX-License-Identifier: GPL-2.0
/* Journal: see journal.h. Stores have release order, so a reader after a kill sees them in
 * order. */
#include "journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t journal_size(uint32_t lanes)
{
	size_t size = offsetof(struct saluki_journal, ends) + lanes * sizeof(uint64_t);

	return size > sizeof(struct saluki_journal) ? size : sizeof(struct saluki_journal);
}

int journal_open(struct journal *j, int fd, uint32_t lanes)
{
	size_t page = sysconf(_SC_PAGESIZE), len = (journal_size(lanes) + page - 1) & ~(page - 1);
	void *p;

	memset(j, 0, sizeof(*j));
	j->lanes = lanes;
	if (fd < 0) {
		j->shared = calloc(1, len);
		return j->shared ? 0 : -ENOMEM;
	}
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	j->shared = p;
	j->mapped_len = len;
	return 0;
}

void journal_close(struct journal *j)
{
	if (j->mapped_len)
		munmap(j->shared, j->mapped_len);
	else
		free(j->shared);
	memset(j, 0, sizeof(*j));
}

static uint64_t slot(const struct journal *j)
{
	return j->shared->state & SALUKI_JOURNAL_SLOT;
}

static void set_state(struct journal *j, uint64_t state)
{
	__atomic_store_n(&j->shared->state, state, __ATOMIC_RELEASE);
	/* The next step's stores come after it, for a reader after a kill in between. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

const struct saluki_exported *journal_done(const struct journal *j)
{
	return &j->shared->done[slot(j)];
}

uint64_t journal_state(const struct journal *j)
{
	return j->shared->state & ~(uint64_t)SALUKI_JOURNAL_SLOT;
}

void journal_begin(struct journal *j, uint64_t frames, const __u64 *ends)
{
	j->shared->frames = frames;
	memcpy(j->shared->ends, ends, j->lanes * sizeof(*ends));
	set_state(j, SALUKI_JOURNAL_PENDING | slot(j));
}

void journal_commit(struct journal *j, const struct saluki_exported *done)
{
	uint64_t other = slot(j) ^ SALUKI_JOURNAL_SLOT;

	j->shared->done[other] = *done;
	set_state(j, SALUKI_JOURNAL_RELEASE | other);
}

void journal_settle(struct journal *j)
{
	set_state(j, SALUKI_JOURNAL_IDLE | slot(j));
}
