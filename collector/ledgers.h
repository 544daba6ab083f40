/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ledgers: with --sink, puts each present sensor's ledger into the topic PUT_LEDGER every
 * LEDGERS_NS, as JSON with the names of --stats-file. In: all sensors. Out: messages for the sink,
 * a few at a time, so that 10,000 ledgers hold up no datagram.
 */
#ifndef COLLECTOR_LEDGERS_H
#define COLLECTOR_LEDGERS_H

#include <stdint.h>

#include "collector/model/sensors.h"
#include "collector/sink/sink.h"

#define LEDGERS_NS 10000000000ULL

struct ledgers {
	char collector[64]; /* host:port */
	unsigned int next;  /* sensor */
	uint64_t next_ns;   /* monotonic */
};

/* Names this collector, by its host's name and its port. */
void ledgers_init(struct ledgers *l, const char *port);
/* Puts those that are due. Returns milliseconds until the next ones. */
int ledgers_tick(struct ledgers *l, struct sink *k, const struct sensors *sensors, uint64_t now_ns);
/* Puts those of all present sensors, at the end. */
void ledgers_last(const struct ledgers *l, struct sink *k, const struct sensors *sensors,
		  uint64_t now_ns);

#endif
