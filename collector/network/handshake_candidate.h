/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake candidate: a session made by a set-up or renewal that no datagram has used yet. In: the
 * root of a session. Out: the sensor's candidate, which replaces an earlier one.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_CANDIDATE_H
#define COLLECTOR_NETWORK_HANDSHAKE_CANDIDATE_H

#include "collector/model/sensors.h"
#include "session.h"

#define HANDSHAKE_CANDIDATE_NS 5000000000ULL
/* Another instance may take over a sensor after the current one was silent for this time. */
#define HANDSHAKE_SILENT_NS 10000000000ULL

/* Makes the candidate from the root `k2`. Returns NULL without memory. */
struct session *handshake_candidate_make(struct sensor *s, struct table *t, uint8_t k2[KEY_LEN],
					 uint32_t window, uint64_t now_ns);
/* Copies run, time, instance and info from the m1 to the candidate. */
void handshake_candidate_hello(struct session *c, const struct tryst_hello *hello);
/* Whether an m1 is not newer than the candidate that the sensor is about to use. */
bool handshake_candidate_overtook(const struct sensor *s, const struct tryst_hello *hello,
				  uint64_t now_ns);
/* Whether the sensor currently sends from another machine than that of the m1, which was set up
 * with this pair of keys: its key was copied. */
bool handshake_candidate_is_busy(const struct sensor *s, unsigned int pair,
				 const struct tryst_hello *hello, uint64_t now_ns);

#endif
