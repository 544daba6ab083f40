/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Open: datagrams become authentic messages of known sensors, or a counter. Set-up of sessions,
 * receipts, and what each kind of message leads to. Mirror of agent/export/session.h and the
 * sealing half of agent/export/export.h.
 */
#ifndef COLLECTOR_OPEN_H
#define COLLECTOR_OPEN_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "decompress.h"
#include "output.h"
#include "sensors.h"
#include "wire/piece.h"

#define OPEN_INITS_A_SECOND 200 /* set-ups opened a second, each worth some Diffie-Hellman */
#define OPEN_KNOWN_SETS 1024	/* of set-ups that are remembered, each of so many */
#define OPEN_KNOWN_WAYS 8
#define OPEN_RECEIPT_EVERY 16 /* datagrams */
#define OPEN_FINAL_WAIT_NS 500000000ULL

/* name, what it counts */
#define OPEN_COUNTERS(X)                                                                           \
	X(datagrams, "datagrams received")                                                         \
	X(bytes, "bytes of UDP payload received")                                                  \
	X(not_ours, "datagrams of no known type or length")                                        \
	X(unknown_session, "datagrams of sessions that are not (or no longer) known")              \
	X(not_authentic, "datagrams that do not open")                                             \
	X(replayed, "datagrams that were opened before")                                           \
	X(bad_inits, "set-ups that do not open")                                                   \
	X(limited_inits, "set-ups beyond OPEN_INITS_A_SECOND")                                     \
	X(replayed_inits, "set-ups that are not newer than the last")                              \
	X(unknown_sensors, "set-ups of sensors that are not in the file")                          \
	X(sessions, "sessions begun")

struct open_counters {
#define X(name, help) uint64_t name;
	OPEN_COUNTERS(X)
#undef X
};

struct open {
	int sock;
	struct keypair own;
	const char *sensors_file; /* for messages */
	struct sensors *sensors;
	struct decompress *decompress;
	struct output *output;
	struct open_counters counters;
	uint64_t init_second, inits; /* opened in this second */
	uint64_t known_inits[OPEN_KNOWN_SETS][OPEN_KNOWN_WAYS];
	uint64_t told_unknown_ns;
};

/* Takes one datagram of `len` bytes from `from`. */
void open_datagram(struct open *o, const uint8_t *in, size_t len,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns);
/* Sends receipts that are due, passes over what will not come. Returns whether it wants to be
 * called again within 50 ms. */
bool open_tick(struct open *o, uint64_t now_ns);
/* The end: takes what is complete, closes every run. */
void open_finish(struct open *o, uint64_t now_ns);

#endif
