/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrong key: a sensor that has another collector's public key, or an old one, gets no answer and
 * nobody knows it here. In: datagrams that open under no key. Out: a line about an address that
 * such set-ups come from for WRONG_KEY_NS, at most 16 lines a minute (log_limit.h).
 */
#ifndef COLLECTOR_NETWORK_WRONG_KEY_H
#define COLLECTOR_NETWORK_WRONG_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log_limit.h"

/* Datagrams of a session that a restart ended come for some seconds. */
#define WRONG_KEY_NS 10000000000ULL
#define WRONG_KEY_COUNT 8
#define WRONG_KEY_SETS 8
#define WRONG_KEY_WAYS 4
#define WRONG_KEY_EXPECTED 8
#define WRONG_KEY_EXPECTED_NS 600000000000ULL

struct wrong_key {
	struct log_limit lines;
	/* Addresses that datagrams come from which open under no key. */
	struct wrong_key_address {
		uint64_t address, since_ns, last_ns; /* address: its hash */
		unsigned int count;
	} addresses[WRONG_KEY_SETS][WRONG_KEY_WAYS]; /* by their hash */
	struct {
		uint64_t address, until_ns;
	} expected[WRONG_KEY_EXPECTED];
};

/* A datagram of `len` bytes from there opens under no key. Set-ups and requests have REQUEST_LEN
 * bytes: others are not those of a sensor that waits for a session. */
void wrong_key_datagram(struct wrong_key *w, size_t len, const struct sockaddr *from,
			uint64_t now_ns);
/* A sensor there has proved itself: its clock was wrong, and not its key. */
void wrong_key_proved(struct wrong_key *w, const struct sockaddr *from);
/* For WRONG_KEY_EXPECTED_NS, it is known why datagrams from there open under no key. */
void wrong_key_expect(struct wrong_key *w, const struct sockaddr *from, uint64_t now_ns);

#endif
