/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The journal of a ring's export (struct saluki_journal): in a pinned map, so that the agent that
 * follows one that was killed knows what of the ring has been exported. A combo's life in it:
 *
 *     journal_begin     these frames, up to these positions, may have been sent as combo `next`
 *     (datagrams are sent)
 *     journal_commit    they are counted; combo `next` is another now
 *     (the ring's tail moves to the positions)
 *     journal_settle    the tail is where it belongs
 *
 * Killed in front of commit, the next agent sends the same frames under the same number once more,
 * and the collector takes them if it has not; killed behind it, it moves the tail. Each step is one
 * store. Sources without a ring that outlives them have a journal in memory of their own.
 */
#ifndef AGENT_RINGS_JOURNAL_H
#define AGENT_RINGS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

struct journal {
	struct saluki_journal *shared;
	size_t mapped_len; /* 0: memory of our own */
	uint32_t lanes;	   /* positions in `ends` */
};

/* Bytes of a map's value for `lanes` positions. */
size_t journal_size(uint32_t lanes);
/* Maps the journal behind `fd`, or makes one where it is -1. Returns 0 or -errno. */
int journal_open(struct journal *j, int fd, uint32_t lanes);
void journal_close(struct journal *j);

/* What is exported: the counts so far. */
const struct saluki_exported *journal_done(const struct journal *j);
/* Where an earlier agent left off: SALUKI_JOURNAL_ without the slot. */
uint64_t journal_state(const struct journal *j);

void journal_begin(struct journal *j, uint64_t frames, const uint64_t *ends);
void journal_commit(struct journal *j, const struct saluki_exported *done);
void journal_settle(struct journal *j);

#endif
