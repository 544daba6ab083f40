/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Journal: the state of a ring's export (struct saluki_journal) in a pinned map. With it, the agent
 * after a killed one knows which frames of the ring were exported. The steps of a combo:
 *
 *     journal_begin     these frames, up to these positions, may have been sent as combo `next`
 *     (datagrams are sent)
 *     journal_commit    they are counted; combo `next` is another now
 *     (the ring's tail moves to the positions)
 *     journal_settle    the tail is where it belongs
 *
 * After a kill before commit, the next agent sends the same frames with the same number again, and
 * the collector keeps one copy. After a kill behind commit, it moves the tail. Each step is one
 * store. Sources without a persistent ring have a journal in their own memory.
 */
#ifndef AGENT_RINGS_JOURNAL_H
#define AGENT_RINGS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/record.h>

struct journal {
	struct saluki_journal *shared;
	size_t mapped_len; /* 0: own memory */
	uint32_t lanes;	   /* positions in `ends` */
};

/* Returns the bytes of a map's value for `lanes` positions. */
size_t journal_size(uint32_t lanes);
/* Maps the journal `fd`, or makes one if it is -1. Returns 0 or -errno. */
int journal_open(struct journal *j, int fd, uint32_t lanes);
void journal_close(struct journal *j);

/* Returns the counts exported so far. */
const struct saluki_exported *journal_done(const struct journal *j);
/* Returns the state that an earlier agent left: SALUKI_JOURNAL_ without the slot. */
uint64_t journal_state(const struct journal *j);

void journal_begin(struct journal *j, uint64_t frames, const __u64 *ends);
void journal_commit(struct journal *j, const struct saluki_exported *done);
void journal_settle(struct journal *j);

#endif
