/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals: lines for people about who asks for a session and gets none. Each is said once a
 * minute, and 16 lines a minute at most (log_limit.h). There are three such quotas: for sensors
 * that have proved their key, for keys that anybody can make up, and for datagrams that anybody can
 * send.
 */
#ifndef COLLECTOR_NETWORK_REFUSALS_H
#define COLLECTOR_NETWORK_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log_limit.h"
#include "wire/keys.h"

/* Datagrams that open under no key: of a session that a restart ended they come for some seconds.
 */
#define REFUSALS_STRANGE_NS 10000000000ULL
#define REFUSALS_STRANGE_COUNT 8
#define REFUSALS_STRANGE_SETS 8
#define REFUSALS_STRANGE_WAYS 4
#define REFUSALS_EXPECTED 8
#define REFUSALS_EXPECTED_NS 600000000000ULL
#define REFUSALS_ADDRESS_MAX 64

struct refusals {
	struct log_limit sensors, keys, datagrams;
	/* Addresses that datagrams come from which open under no key. */
	struct refusals_strange {
		uint64_t address, since_ns, last_ns; /* address: its hash */
		unsigned int count;
	} strange[REFUSALS_STRANGE_SETS][REFUSALS_STRANGE_WAYS]; /* by their hash */
	/* Addresses of one-way sensors that share a key: what opens under no key is known of them.
	 */
	struct {
		uint64_t what, until_ns;
	} expected[REFUSALS_EXPECTED];
};

/* ADDRESS:PORT, "[ADDRESS]:PORT" of IPv6. */
void refusals_address(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr_storage *from);

/* The key is not in the sensors file. */
void refusals_key(struct refusals *r, const uint8_t key[KEY_LEN],
		  const struct sockaddr_storage *from, uint64_t now_ns);
/* The sensor of this name does not share our P. */
void refusals_proof(struct refusals *r, const char *name, const struct sockaddr_storage *from,
		    uint64_t now_ns);
/* It speaks another version of the protocol; `name` is NULL where it is not known. */
void refusals_version(struct refusals *r, const char *name, unsigned int version,
		      const struct sockaddr_storage *from, uint64_t now_ns);
/* The sensor is being heard from the address `at`, and another instance is at `from`. Where that is
 * one-way, it sends on: its datagrams are expected to open under no key, and that is not said. */
void refusals_busy(struct refusals *r, const char *name, const struct sockaddr *at,
		   const struct sockaddr_storage *from, bool one_way, uint64_t now_ns);
/* The sensor goes to and fro between two processes that say they are one. */
void refusals_twice(struct refusals *r, const char *name, const struct sockaddr *at,
		    const struct sockaddr *from, uint64_t now_ns);
/* A datagram of `len` bytes from there opens under no key. Set-ups and requests have REQUEST_LEN
 * bytes: others are not those of a sensor that waits for a session. */
void refusals_strange(struct refusals *r, size_t len, const struct sockaddr_storage *from,
		      uint64_t now_ns);

/* A sensor there has proved itself: what opened under no key was its clock. */
void refusals_known(struct refusals *r, const struct sockaddr_storage *from);

#endif
