/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reader: the reader's half of the ring's protocol (wire/live.h). In: a source. Out: records, and
 * how many frames of a sensor were missed. Always holds: frames of records + missed = frames
 * written since the reader began.
 */
#ifndef LIVE_READER_H
#define LIVE_READER_H

#include <stdbool.h>

#include "source.h"

struct reader {
	const struct source *source;
	uint64_t pos;
	uint64_t *next; /* by sensor: its frames so far, missed or read */
	uint8_t *copy;	/* LIVE_RECORD_MAX bytes */
	bool overrun;	/* records were missed, and not yet counted for all sensors */
};

enum { READER_NOTHING, READER_RECORD, READER_OVERRUN };

/* Begins at the head, or with `all` at the oldest record. Returns 0 or -ENOMEM. */
int reader_begin(struct reader *r, const struct source *s, bool all);
/* Returns READER_RECORD with the next record and its blocks, which are valid until the next call,
 * and the number of the sensor's frames that were `missed` before it; another READER_*; or
 * -EBADMSG. */
int reader_next(struct reader *r, struct live_record *record, const uint8_t **blocks,
		uint64_t *missed);
/* After an overrun, if there is nothing to read: calls `add` for each sensor that has missed
 * frames. Call it again while it returns false. */
bool reader_missed(struct reader *r, void (*add)(void *user, uint32_t sensor, uint64_t missed),
		   void *user);
void reader_end(struct reader *r);

#endif
