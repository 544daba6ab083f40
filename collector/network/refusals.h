/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals: lines for people about who asks for a session and gets none. Each is said once a
 * minute, and 16 lines a minute at most (log_limit.h). There are two such quotas: for sensors
 * that have proved their key, and for keys that anybody can make up.
 */
#ifndef COLLECTOR_NETWORK_REFUSALS_H
#define COLLECTOR_NETWORK_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log_limit.h"
#include "wire/keys.h"

#define REFUSALS_ADDRESS_MAX 64

struct refusals {
	struct log_limit sensors, keys;
};

/* ADDRESS:PORT, "[ADDRESS]:PORT" of IPv6. */
void refusals_address(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr *from);
/* A hash of `why` and the address without its port, which a sensor changes with each attempt. An
 * IPv6 address counts as its /64: whoever has one address there has all. */
uint64_t refusals_hash(const char *why, const struct sockaddr *from);

/* The key is not in the sensors file. */
void refusals_key(struct refusals *r, const uint8_t key[KEY_LEN], const struct sockaddr *from,
		  uint64_t now_ns);
/* The sensor of this name does not share our P. */
void refusals_proof(struct refusals *r, const char *name, const struct sockaddr *from,
		    uint64_t now_ns);
/* It speaks another version of the protocol; `name` is NULL where it is not known. */
void refusals_version(struct refusals *r, const char *name, unsigned int version,
		      const struct sockaddr *from, uint64_t now_ns);
/* The sensor is being heard from the address `at`, and another instance is at `from`. It sends on
 * and `loses` its frames, or has been told to wait. */
void refusals_busy(struct refusals *r, const char *name, const struct sockaddr *at,
		   const struct sockaddr *from, bool loses, uint64_t now_ns);
/* The sensor goes to and fro between two processes that say they are one. */
void refusals_twice(struct refusals *r, const char *name, const struct sockaddr *at,
		    const struct sockaddr *from, uint64_t now_ns);

#endif
