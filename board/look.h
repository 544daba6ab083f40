/* SPDX-License-Identifier: GPL-2.0 */
/* Looks at a sensor's records on the board: its losses, address and trouble. Programs that show the
 * board say the same of a sensor. */
#ifndef BOARD_LOOK_H
#define BOARD_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "read.h"

/* Two states in succession. `before` may be without sensors: then there are no rates. */
struct board_states {
	struct board_state now, before;
};

/* Connects to the board at `path`, and takes its two newest states. Returns 0, or -errno as
 * board_open() and board_copy(). */
int board_states_open(struct board_states *s, const char *path);
void board_states_free(struct board_states *s);
/* Returns the sensor of index `i` a state earlier, in the same run; NULL: it was not there. */
const struct board_sensor *board_earlier(const struct board_states *s, uint32_t i);
/* Returns the first record of the sensor of index `i` among the interfaces (their count, if it has
 * none): its others follow. The same for an interface's channels, and a sensor's modules. */
uint32_t board_first_interface(const struct board_state *s, uint32_t i);
uint32_t board_first_channel(const struct board_state *s, uint32_t interface);
uint32_t board_first_module(const struct board_state *s, uint32_t i);

/* Returns the number of frames that the sensor has lost for good, for all reasons. */
uint64_t board_lost(const struct board_sensor *s);
/* Sums over sensors. */
struct board_sums {
	unsigned int listed, up; /* `up` is part of `listed` */
	unsigned int unbalanced;
	uint64_t seen, written, lost; /* frames */
};

/* Adds a sensor. */
void board_sum(struct board_sums *x, const struct board_sensor *s);
/* Whether the sensor is of interest: one that is not listed any more has a ledger. */
bool board_is_shown(const struct board_sensor *s);
/* Returns by how much the sensor's clock is ahead of the collector's, in microseconds. */
int64_t board_ahead_us(const struct board_sensor *s);
/* Returns a counter's rise per second between two states; 0 if it has fallen. */
double board_per_second(uint64_t now, uint64_t before, uint64_t interval_ns);
/* Writes an address without its port, or "". Returns `out`. */
#define BOARD_ADDRESS_TEXT_MAX 48
const char *board_address(char out[BOARD_ADDRESS_TEXT_MAX], const void *address, uint32_t len);

/* Why saluki-kafka carries nothing; "": all is well. Valid until the next call. */
const char *board_kafka_why(const struct board_kafka *k);
/* Returns the time for which no message was taken although it should be, in microseconds; 0: they
 * go on. */
uint64_t board_stopped_us(const struct board_collector *c, const struct board_kafka *k);
/* Returns the age of the oldest message that waits for the brokers, in microseconds. */
uint64_t board_oldest_us(const struct board_collector *c);
/* Returns what held frames wait for: "saluki-kafka" or "disk space". */
const char *board_held_for(const struct board_collector *c);

/* A radio without any frame for this time is deaf. */
#define BOARD_DEAF_US 60000000

/* A sensor's trouble, the worst last. */
enum board_trouble {
	BOARD_FINE,
	BOARD_AWAITED, /* not heard yet, and the collector has just begun */
	BOARD_HAS_ENDED,
	BOARD_DEAF,	   /* a radio hears no frames */
	BOARD_LOSING,	   /* it lost frames in the last second */
	BOARD_LINK_DOWN,   /* an interface is down, absent, or has no carrier */
	BOARD_SHARED_KEY,  /* two machines used its key in the last minute */
	BOARD_WAITS,	   /* its frames wait for disk space */
	BOARD_NEVER_HEARD, /* not since the collector's start */
	BOARD_IS_SILENT,
	BOARD_UNBALANCED,
	BOARD_TROUBLES
};

/* The trouble of the sensor of index `i`, the worst if there are several. */
enum board_trouble board_trouble(const struct board_states *s, uint32_t i);
/* Whether two machines used the sensor's key in the last minute. */
bool board_shares_key(const struct board_state *s, const struct board_sensor *b);
/* Whether the interface is a radio that hears no frames. */
bool board_is_deaf(const struct board_state *s, const struct board_interface *i);
/* The worst trouble of the sensor's interfaces: BOARD_LINK_DOWN, BOARD_DEAF or BOARD_FINE. */
enum board_trouble board_link_trouble(const struct board_state *s, uint32_t i);
/* Whether the collector began so shortly ago that it cannot know yet whether sensors are silent. */
bool board_just_begun(const struct board_collector *c);
/* Returns a word for JSON and metrics: "fine", "awaited", "ended", "deaf", "losing", "link",
 * "shared_key", "held", "never", "silent", "unbalanced". */
const char *board_trouble_word(enum board_trouble t);
/* Returns words for the state of presence, and why a sensor is refused. */
const char *board_presence_word(uint32_t presence);
const char *board_reason_word(uint32_t reason);

#endif
