/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals: log lines about refused sensors, and their list. The same line is printed once per
 * minute, and at most 16 lines per minute (log_limit.h). Sensors that proved their key have one
 * such quota, unproved keys another.
 */
#ifndef COLLECTOR_NETWORK_REFUSALS_H
#define COLLECTOR_NETWORK_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log_limit.h"
#include "refused_list.h"
#include "wire/keys.h"

#define REFUSALS_ADDRESS_MAX 64

struct refusals {
	struct log_limit sensors, keys;
	struct refused_list list;
};

/* Writes ADDRESS:PORT, or "[ADDRESS]:PORT" for IPv6. */
void refusals_address(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr *from);
/* Returns a hash of `why` and the address without its port, which a sensor changes with each
 * attempt. An IPv6 address counts as its /64, as one host may use all addresses of a /64. */
uint64_t refusals_hash(const char *why, const struct sockaddr *from);

/* Returns a hash of `why` and a sensor's name. */
uint64_t refusals_sensor_hash(const char *why, const char *name);

/* The key is not in the sensors file. */
void refusals_key(struct refusals *r, const uint8_t key[KEY_LEN], const struct sockaddr *from,
		  uint64_t now_ns);
/* The sensor of this name does not share our P. */
void refusals_proof(struct refusals *r, const char *name, const struct sockaddr *from,
		    uint64_t now_ns);
/* The sensor uses another protocol version. `name` is NULL if not known. */
void refusals_version(struct refusals *r, const char *name, unsigned int version,
		      const struct sockaddr *from, uint64_t now_ns);
/* The sensor is active at the address `at`, and another instance is at `from`. The latter continues
 * and `loses` its frames, or was told to wait. */
void refusals_busy(struct refusals *r, const char *name, const struct sockaddr *at,
		   const struct sockaddr *from, bool loses, uint64_t now_ns);
/* The sensor alternates between two processes that claim to be one instance. */
void refusals_twice(struct refusals *r, const char *name, const struct sockaddr *at,
		    const struct sockaddr *from, uint64_t now_ns);

#endif
