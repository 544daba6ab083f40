/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take: writes a record's wanted frames to the stream. Always holds: the statistics of exactly one
 * interface count each frame of a wanted sensor as received or missed.
 */
#ifndef LIVE_TAKE_H
#define LIVE_TAKE_H

#include "directory.h"
#include "interfaces.h"
#include "options.h"
#include "reader.h"
#include "select.h"
#include "stream.h"

struct take {
	const struct source *source; /* NULL: no collector */
	struct directory directory;
	struct select select;
	struct interfaces interfaces;
	struct stream stream;
	uint64_t *unplaced; /* by sensor: missed before its first interface was known */
	uint64_t count;	    /* end after so many frames; 0: no end */
	uint64_t accepted, missed;
	bool unplaced_any;
	bool lost;  /* frames were missed since the last statistics */
	bool warns; /* of sensors that the collector no longer knows; once, after take_check */
};

/* Returns 0, or -errno after a line: a wrong expression. */
int take_init(struct take *t, const struct live_options *o);
void take_free(struct take *t);
/* Another source, or NULL. */
void take_source(struct take *t, const struct source *s);
/* Takes the sensors if they have changed. */
void take_directory(struct take *t);
/* Whether the collector knows the chosen sensors and groups. Returns 0, or -ENOENT after a line. */
int take_check(struct take *t);
/* Takes a record, before which `missed` frames of its sensor were missed. Returns 0, -EBADMSG or
 * another -errno after a line. */
int take_record(struct take *t, const struct live_record *r, const uint8_t *blocks,
		uint64_t missed);
/* As reader_missed calls it; `user` is the take. */
void take_missed(void *user, uint32_t sensor, uint64_t missed);
bool take_is_done(const struct take *t);
/* Writes the statistics of all interfaces that have changed. */
void take_statistics(struct take *t);
void take_report(const struct take *t);

#endif
