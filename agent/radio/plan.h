/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plan: decides which channels a radio listens to, in which order and for how long. In: the text of
 * --channels with its options, and the frames heard per channel. Out: the next channel and its
 * dwell. Always holds: pure computation without system calls or allocation. A cycle's dwells sum to
 * the requested time, and each is at least the floor.
 *
 *     LIST     ENTRY[,ENTRY]...
 *     ENTRY    CHANNEL or `all`, then xWEIGHT and @DWELL, either or both: 36/80x2@500ms
 *
 * CHANNEL is as in wire/channel.h. `all` means every 20 MHz channel that the card may listen to and
 * the list does not name. A dwell has a unit: us, ms, s, m or h.
 */
#ifndef AGENT_RADIO_PLAN_H
#define AGENT_RADIO_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/model/capture_options.h"
#include "silence_watch.h"
#include "wire/channel.h"

#define PLAN_WEIGHT_MAX 100
#define PLAN_WHY_LEN 160
#define PLAN_DWELL_US 250000 /* default */
#define PLAN_DWELL_MIN_US 5000
#define PLAN_CYCLE_MAX_US 3600000000U /* so that all times fit in 32 bits */
#define PLAN_SETTLE_US 2000
#define PLAN_SETTLE_MAX_US 1000000
#define PLAN_FLOOR 5 /* percent */

struct plan_entry {
	struct radio_channel channel;
	uint8_t weight;
	bool visited;
	uint16_t told;		   /* for the sampler: its last reported errno */
	uint32_t asked_us;	   /* with its weight */
	uint32_t dwell_us;	   /* in the current cycle */
	uint32_t rate;		   /* recent rate while listening: frames in 1000 s */
	struct silence_watch deaf; /* for the sampler */
};

struct plan {
	uint32_t count;
	uint32_t at; /* the current entry */
	uint8_t floor;
	bool proportional;
	/* The position of `all`, from 1, until plan_expand; 0: none. And its dwell and weight. */
	uint8_t all, all_weight;
	uint32_t all_us;
	/* The grid: member `member` of `members`; members 0: no grid. */
	uint32_t member, members;
	struct plan_entry entries[PLAN_MAX];
};

/* The defaults. */
void plan_asked_init(struct plan_asked *a);
/* Reads `list` with the other options in `a`. Returns 0, or -EINVAL with the reason and the
 * place. */
int plan_parse(struct plan *p, const struct plan_asked *a, const char *list, size_t len,
	       char why[PLAN_WHY_LEN]);
/* "250ms", "2s", "1500us": sets microseconds. Returns 0 or -EINVAL. */
int plan_time(const char *text, size_t len, uint32_t *us);
/* Replaces `all` with the card's channels. Returns 0, or -EINVAL with the reason. */
int plan_expand(struct plan *p, const struct radio_channel *channels, unsigned int count,
		char why[PLAN_WHY_LEN]);

/* Starts with the first entry, and computes the dwells of a cycle. */
void plan_start(struct plan *p);
/* Goes to the next entry. After the last one, computes the dwells again from the frames heard. */
void plan_step(struct plan *p);
/* Adds the listening time and the frames of entry `i`. */
void plan_heard(struct plan *p, unsigned int i, uint64_t frames, uint64_t us);
/* Returns the entry of a channel, or -1. */
int plan_find(const struct plan *p, const struct radio_channel *c);

/* For a plan on a grid with others: the collector's clock divided by the first entry's dwell.
 * Member J of K is floor(J * count / K) entries ahead of the first. `now_ns`: the collector's
 * clock, since 1970. `ends_ns`: set to the dwell's end on the same clock. A switch may come an
 * eighth of a dwell early. */
void plan_grid(struct plan *p, uint64_t now_ns, uint64_t *ends_ns);

#endif
