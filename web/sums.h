/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums: counters of groups' channels and of modules, summed over sensors. A sensor's counters begin
 * again with its next run, and a sum of them would fall. Therefore the sums add what each counter
 * has risen from one state to the next, and only rise.
 */
#ifndef WEB_SUMS_H
#define WEB_SUMS_H

#include "board/read.h"

#define SUMS_CHANNELS_MAX 8192
#define SUMS_MODULES_MAX 1000 /* sensors choose the names */
#define SUMS_GROUPS_MAX (BOARD_GROUPS_MAX + 1)

struct sums_channel {
	uint64_t key; /* index of the group, and the channel */
	uint64_t listened_ns, frames;
};

struct sums_module {
	char name[32];
	uint64_t events;
};

struct sums {
	char groups[SUMS_GROUPS_MAX][BOARD_NAME_MAX];
	uint32_t group_count, channel_count, module_count;
	struct sums_channel channels[SUMS_CHANNELS_MAX]; /* by key */
	struct sums_module modules[SUMS_MODULES_MAX];	 /* by name */
	struct sums_channel other_channels;		 /* without room */
	uint64_t other_events;
};

/* Adds what has risen since `before`, the state taken before; without sensors: all. */
void sums_take(struct sums *s, const struct board_state *now, const struct board_state *before);
/* Returns the group's name and the channel of a key. */
const char *sums_group(const struct sums *s, uint64_t key);
struct radio_channel sums_radio(uint64_t key);

#endif
