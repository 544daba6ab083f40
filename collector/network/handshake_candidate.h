/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake candidate: the session that a set-up or renewal has made and no datagram has used yet.
 * In: roots of sessions. Out: the sensor's candidate, in the place of the one before.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_CANDIDATE_H
#define COLLECTOR_NETWORK_HANDSHAKE_CANDIDATE_H

#include "collector/model/sensors.h"
#include "session.h"

#define HANDSHAKE_CANDIDATE_NS 5000000000ULL
/* Another instance takes a sensor over when the present one has been silent for so long. */
#define HANDSHAKE_SILENT_NS 10000000000ULL

/* Makes the candidate of the root `k2`. Returns NULL where there is no memory for it. */
struct session *handshake_candidate_make(struct sensor *s, struct table *t, uint8_t k2[KEY_LEN],
					 uint32_t window, uint64_t now_ns);
/* Copies to the candidate what its m1 says of the session. */
void handshake_candidate_hello(struct session *c, const struct tryst_hello *hello);
/* Whether an m1 is older than the candidate that the sensor is about to use. */
bool handshake_candidate_overtook(const struct sensor *s, const struct tryst_hello *hello,
				  uint64_t now_ns);
/* Whether the sensor is being heard from another machine than the m1 is of: its key was copied. */
bool handshake_candidate_is_busy(const struct sensor *s, const struct tryst_hello *hello,
				 uint64_t now_ns);

#endif
