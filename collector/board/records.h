/* SPDX-License-Identifier: GPL-2.0 */
/* Records: writes a sensor's records into a state of the board. In: the sensor, each room's part of
 * it. Out: its record, and those of its interfaces, their channels, and its modules. */
#ifndef COLLECTOR_BOARD_RECORDS_H
#define COLLECTOR_BOARD_RECORDS_H

#include "board/board.h"
#include "collector/combo/combos.h"
#include "collector/model/sensors.h"
#include "wire/info.h"

/* A sensor's description. It rarely changes, and reading its text takes longer than the rest. */
struct record_texts {
	uint32_t version; /* of the text */
	char application[64], links[INFO_INTERFACES_MAX + 1];
	uint64_t round_trip_us, ahead_us, behind_us;
	uint64_t newest_us;
	/* Of each interface: frames seen, and when they were last seen to rise. */
	uint64_t seen[INFO_INTERFACES_MAX], rose_us[INFO_INTERFACES_MAX];
	bool radio[INFO_INTERFACES_MAX]; /* it has had 802.11 frames, or samples channels */
	unsigned int count;
	struct info_interface interfaces[];
};

/* A state that is being written. */
struct record_writer {
	struct board_slot *slot;
	struct board_collector *collector; /* the slot's */
	const struct combos *combos;
	uint64_t now_ns, now_us; /* monotonic, Unix time */
};

/* Returns the Unix time of a monotonic one; 0 for 0. */
uint64_t record_time_us(const struct record_writer *w, uint64_t ns);
/* Writes the records of `s`. Reads its description into `*texts` (malloc) after a change. */
void record_sensor(struct record_writer *w, const struct sensor *s, struct record_texts **texts);

#endif
