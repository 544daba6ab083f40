/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sink: passes combos to `saluki-kafka put` (wire/put.h), which carries them to Kafka's brokers.
 * In: combos that are opened and checked, as received. Out: for each combo, that the brokers have
 * it or will never take it. Always holds: a sensor's record (sensor_record.h) is with the brokers
 * before a combo that names it leaves.
 *
 *     output/output_sink.c ─▶ sink.c ─▶ window.c ═▶ connection.c ─▶ saluki-kafka
 *                 ◀────────── sink.c ◀──────────── connection.c ◀──
 */
#ifndef COLLECTOR_SINK_SINK_H
#define COLLECTOR_SINK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ack_times.h"
#include "connection.h"
#include "window.h"

struct sensor;

/* A combo of the sensor `s`. */
struct sink_combo {
	uint64_t run, count, first;
	uint32_t frames, refused; /* `refused`: of its frames, by frame_check.h */
	const uint8_t *bytes;
	size_t len;
};

/* A sensor's part. */
struct sink_sensor {
	struct window_part part;
	uint64_t info;	       /* hash of its record; its combos name it */
	uint32_t info_version; /* of the description that the record has */
	uint32_t greetings;    /* of the connection in which its record was put */
	uint32_t list_version; /* of the sensors file that it has */
	unsigned int records;  /* that the brokers do not have yet */
	uint64_t totals_run;   /* of the totals that were last put */
	uint64_t totals_ns;    /* monotonic: when they were put; 0: never */
	uint64_t progress_ns;  /* the same for its progress */
	bool final_put;	       /* those of `totals_run` were final */
};

/* What became of a combo. */
struct sink_fate {
	uint32_t frames, refused;
	bool delivered; /* otherwise the brokers refused it */
};

struct sink {
	struct window window;
	struct connection connection;
	struct ack_times acks;
	uint32_t greetings;		      /* that have the dictionary */
	uint32_t list_version;		      /* rises with each reading of the sensors file */
	uint64_t delivered, refused, skipped; /* messages; `skipped`: totals and ledgers */
	uint64_t refused_logged_ns;
	bool waits_logged;
	/* Called when a combo is delivered or refused, after it has left the window. */
	void (*settled)(void *user, struct sensor *s, const struct sink_fate *f);
	void *user;
};

/* Makes the socket at `path`, in the privileged process. Returns a descriptor, or -errno after a
 * line. */
int sink_listen(const char *path);
/* The caller sets `settled`, `user` and connection.listener. Returns 0 or -ENOMEM. */
int sink_init(struct sink *k);
void sink_free(struct sink *k);
/* The sensors file was read: sensors' records may differ. */
void sink_sensors_changed(struct sink *k);
/* Whether nothing at all can be put at present. */
bool sink_is_full(const struct sink *k);
/* Whether a combo of the sensor has room. */
bool sink_has_room(const struct sink *k, const struct sink_sensor *p);
/* Puts a combo, and before it the sensor's record if it is new. Returns 0 or -ENOMEM. */
int sink_put(struct sink *k, struct sensor *s, struct sink_sensor *p, const struct sink_combo *c,
	     uint64_t now_ns);
/* Puts totals as received (wire/totals.h): final ones, and others each SINK_TOTALS_NS. */
void sink_put_totals(struct sink *k, struct sensor *s, struct sink_sensor *p, uint64_t run,
		     uint64_t next, const uint8_t *totals, size_t len, bool final, uint64_t now_ns);
/* Puts progress as received (wire/progress.h), each SINK_PROGRESS_NS. */
void sink_put_progress(struct sink *k, struct sensor *s, struct sink_sensor *p, uint64_t run,
		       uint64_t next, const uint8_t *progress, size_t len, uint64_t now_ns);
/* Puts a sensor's ledger as JSON, unless the window is half full. */
void sink_put_ledger(struct sink *k, const struct sensor *s, const char *json, size_t len,
		     uint64_t now_ns);
/* Sends and receives: each time round the loop. Returns milliseconds until the next call; -1: when
 * the descriptor of sink_polled() is ready. */
int sink_tick(struct sink *k);
int sink_polled(const struct sink *k, short *events);
/* At the end: waits at most `ms` for what was put. */
void sink_finish(struct sink *k, int ms);

#define SINK_TOTALS_NS 10000000000ULL
#define SINK_PROGRESS_NS 1000000000ULL
#define SINK_FINISH_MS 5000
#define SINK_LAST_MS 1000 /* for the last ledgers */

#endif
