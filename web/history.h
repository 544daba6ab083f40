/* SPDX-License-Identifier: GPL-2.0 */
/*
 * History: minutes of the last hour, from the board's states. In: each new state. Out: for each
 * group and channel, the time that sensors listened, and frames; and the fill rate of the disk. A
 * state that saluki-web missed is in no minute, neither as time nor as frames. Memory is limited.
 */
#ifndef WEB_HISTORY_H
#define WEB_HISTORY_H

#include "board/look.h"
#include "wire/channel.h"

#define HISTORY_MINUTES 60
#define HISTORY_GROUPS_MAX (BOARD_GROUPS_MAX + 1) /* and sensors without a group */
#define HISTORY_SERIES_MAX 4096			  /* channels of groups */
#define HISTORY_RATE_US 60000000		  /* a fill rate needs this time */

struct web_history;

struct history_cell {
	uint64_t listened_ns; /* sum over sensors */
	uint64_t frames;
};

struct history_channel {
	struct radio_channel channel;
	struct history_cell minutes[HISTORY_MINUTES]; /* the oldest first */
};

/* What history_view() returns. */
struct history_view {
	uint64_t minute;		     /* the newest, since 1970-01-01 UTC; 0: no state */
	uint64_t sensor_ns[HISTORY_MINUTES]; /* sum of the times of sensors with channels */
	struct history_channel *channels;    /* malloc, by frequency */
	unsigned int count;
	uint64_t not_shown; /* changes of channels without room */
};

/* Returns NULL without memory. */
struct web_history *history_new(void);
void history_free(struct web_history *h);
/* Adds a state. Call it once for each new one. */
void history_take(struct web_history *h, const struct board_states *s);
/* Returns the name of group `i`, below HISTORY_GROUPS_MAX; NULL: there is none with channels. */
const char *history_group(const struct web_history *h, uint32_t i);
/* Sums the sensors of a group; NULL: of all groups. Returns 0, -ENOENT if the group has no
 * channels, or -ENOMEM. */
int history_view(struct history_view *v, const struct web_history *h, const char *group);
/* Returns whether it is known how many bytes a second the disk fills by; below 0: it empties. */
bool history_fill_rate(const struct web_history *h, double *bytes_per_second);

#endif
