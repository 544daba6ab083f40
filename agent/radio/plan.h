/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which channels a radio listens to, in which order and for how long. In: the text of --channels
 * and what goes with it, and what was heard where. Out: the next channel and its dwell. Always
 * holds: nothing is asked, waited for or allocated here; the dwells of a cycle sum to what was
 * asked for, and none is below the floor.
 *
 *     LIST     ENTRY[,ENTRY]...
 *     ENTRY    CHANNEL or `all`, then xWEIGHT and @DWELL, either or both: 36/80x2@500ms
 *
 * CHANNEL is that of wire/channel.h, `all` every channel of 20 MHz that the card may listen to and
 * that the list does not name; a dwell has its unit with it: us, ms, s, m or h.
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
#define PLAN_DWELL_US 250000 /* where nothing is said */
#define PLAN_DWELL_MIN_US 5000
#define PLAN_CYCLE_MAX_US 3600000000U /* so that all below is in 32 bits */
#define PLAN_SETTLE_US 2000
#define PLAN_SETTLE_MAX_US 1000000
#define PLAN_FLOOR 5 /* percent */

struct plan_entry {
	struct radio_channel channel;
	uint8_t weight;
	bool visited;
	uint16_t told;		   /* for the sampler's use: the errno that was said of it last */
	uint32_t asked_us;	   /* with its weight in it */
	uint32_t dwell_us;	   /* in the present cycle */
	uint32_t rate;		   /* of late, while it was listened to: frames in 1000 s */
	struct silence_watch deaf; /* for the sampler's use */
};

struct plan {
	uint32_t count;
	uint32_t at; /* the present entry */
	uint8_t floor;
	bool proportional;
	/* Where `all` stands, from 1, until plan_expand; 0: nowhere. And what goes with it. */
	uint8_t all, all_weight;
	uint32_t all_us;
	/* The grid: member `member` of `members`, 0: none. */
	uint32_t member, members;
	struct plan_entry entries[PLAN_MAX];
};

/* The defaults. */
void plan_asked_init(struct plan_asked *a);
/* Reads `list` for what `a` says beside it. Returns 0, or -EINVAL with what is wrong and where. */
int plan_parse(struct plan *p, const struct plan_asked *a, const char *list, size_t len,
	       char why[PLAN_WHY_LEN]);
/* "250ms", "2s", "1500us": sets microseconds. Returns 0 or -EINVAL. */
int plan_time(const char *text, size_t len, uint32_t *us);
/* Puts the card's channels in the place of `all`. Returns 0, or -EINVAL with the reason. */
int plan_expand(struct plan *p, const struct radio_channel *channels, unsigned int count,
		char why[PLAN_WHY_LEN]);

/* Begins with the first entry: the dwells of a cycle are made. */
void plan_start(struct plan *p);
/* Goes to the next entry; behind the last the dwells are made anew, by what was heard. */
void plan_step(struct plan *p);
/* Entry `i` was listened to for so long, and so many frames came. */
void plan_heard(struct plan *p, unsigned int i, uint64_t frames, uint64_t us);
/* The entry of a channel, -1: none. */
int plan_find(const struct plan *p, const struct radio_channel *c);

/* With others on a grid, which is the clock of the collector divided by the first entry's dwell:
 * member J of K is floor(J * count / K) entries ahead of the first. `now_ns` is of that clock,
 * since 1970; sets `ends_ns`, when the dwell ends, on the same clock. A switch may come an eighth
 * of a dwell early. */
void plan_grid(struct plan *p, uint64_t now_ns, uint64_t *ends_ns);

#endif
