/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrong key: detects a sensor with the public key of another collector, or an old one. It gets no
 * answer, and is unknown here. In: datagrams that open under no key. Out: a line about an address
 * that sends such set-ups for WRONG_KEY_NS, at most 16 lines per minute (log_limit.h).
 */
#ifndef COLLECTOR_NETWORK_WRONG_KEY_H
#define COLLECTOR_NETWORK_WRONG_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log_limit.h"

/* Longer than datagrams of an ended session still arrive after a restart. */
#define WRONG_KEY_NS 10000000000ULL
#define WRONG_KEY_COUNT 8
#define WRONG_KEY_SETS 8
#define WRONG_KEY_WAYS 4
#define WRONG_KEY_EXPECTED 8
#define WRONG_KEY_EXPECTED_NS 600000000000ULL

struct wrong_key {
	struct log_limit lines;
	/* Source addresses of datagrams that open under no key. */
	struct wrong_key_address {
		uint64_t address, since_ns, last_ns; /* address: its hash */
		unsigned int count;
	} addresses[WRONG_KEY_SETS][WRONG_KEY_WAYS]; /* by the address's hash */
	struct {
		uint64_t address, until_ns;
	} expected[WRONG_KEY_EXPECTED];
};

/* Takes a datagram of `len` bytes that opens under no key. Only set-ups and requests, with
 * REQUEST_LEN bytes, count: other datagrams do not ask for a session. Returns whether its address
 * is probably such a sensor's. */
bool wrong_key_datagram(struct wrong_key *w, size_t len, const struct sockaddr *from,
			uint64_t now_ns);
/* Clears an address after a sensor proved its key there: only its clock was wrong. */
void wrong_key_proved(struct wrong_key *w, const struct sockaddr *from);
/* Ignores an address for WRONG_KEY_EXPECTED_NS: the reason for its unopened datagrams is known. */
void wrong_key_expect(struct wrong_key *w, const struct sockaddr *from, uint64_t now_ns);

#endif
