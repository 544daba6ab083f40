/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sealing: everything that is known of the export protocol's cryptography, and nothing else.
 * Messages in the clear come in on one side and come out on the other, or not at all.
 *
 * Set-up is Noise IK (noiseprotocol.org, as WireGuard uses it) on X25519, ChaCha20-Poly1305
 * and keyed BLAKE2b: one datagram from the sensor, one back, new keys for each session.
 *
 *     INIT    type 1, E_s 32, sealed S 32+16, sealed {time 8, run 8, info (info.h)} +16, mac 16
 *     ANSWER  type 1, E_c 32, sealed {session 4, sensor id 2} +16
 *     DATA    type 1, session 4, counter 8, sealed message +16
 *
 * `mac` is keyed with the collector's public key: who does not know it, or has recorded no INIT,
 * costs no Diffie-Hellman.
 * `time` must rise with every INIT of a sensor, and a session is used only after a datagram of
 * it opened, so a replayed INIT does nothing. The counter is the nonce; a datagram is opened
 * once (sliding window as in RFC 6479).
 *
 * What an observer sees here (type, session, counter) names a session; the identifier-free
 * protocol replaces this file's wire format behind the same functions.
 */
#ifndef WIRE_SEAL_H
#define WIRE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "keys.h"

enum {
	SEAL_INIT = 1,
	SEAL_ANSWER = 2,
	SEAL_DATA = 3,
};

#define SEAL_TAG_LEN 16
#define SEAL_HEADER_LEN 13
#define SEAL_OVERHEAD (SEAL_HEADER_LEN + SEAL_TAG_LEN) /* bytes beyond a message */
#define SEAL_INFO_MAX 1000
#define SEAL_INIT_MIN (1 + 32 + 48 + 16 + 16 + 16)
#define SEAL_INIT_MAX (SEAL_INIT_MIN + SEAL_INFO_MAX)
#define SEAL_ANSWER_LEN (1 + 32 + 6 + 16)
#define SEAL_WINDOW 2048 /* datagrams that may arrive behind the highest */

/* One direction of a session, on the sealing and on the opening side. */
struct seal_tx {
	uint8_t key[KEY_LEN];
	uint32_t session;
	uint64_t counter; /* of the next datagram; starts at 1 */
};

struct seal_rx {
	uint8_t key[KEY_LEN];
	uint64_t highest; /* counter opened so far, 0: none */
	uint64_t window[SEAL_WINDOW / 64];
};

struct seal_session {
	struct seal_tx tx;
	struct seal_rx rx;
};

/* ---- data ------------------------------------------------------------------------------------ */

/* Seals `len` bytes into `out`, which takes len + SEAL_OVERHEAD. Returns the datagram's bytes. */
size_t seal_datagram(struct seal_tx *tx, uint8_t *out, const uint8_t *message, size_t len);

/* The session a datagram says it belongs to; not yet authentic. Returns 0 or -EBADMSG. */
int seal_session_of(const uint8_t *in, size_t len, uint32_t *session);

/* Opens a datagram into `out`, which takes len - SEAL_OVERHEAD. Returns the message's bytes,
 * -EBADMSG where it is not authentic, -EALREADY where it was opened before or is too old to
 * tell. Nothing changes unless it opens. */
long seal_open(struct seal_rx *rx, uint8_t *out, const uint8_t *in, size_t len);

/* ---- set-up: the sensor ---------------------------------------------------------------------- */

struct seal_initiator {
	struct keypair own, ephemeral;
	uint8_t peer[KEY_LEN];
	uint8_t chain[KEY_LEN];
};

/* Writes an INIT into `out` (SEAL_INIT_MAX). `info_len` is at most SEAL_INFO_MAX. Returns the
 * datagram's bytes, or -EINVAL where the collector's public key is not one. */
long seal_init(struct seal_initiator *i, uint8_t *out, uint64_t time_ns, uint64_t run,
	       const void *info, size_t info_len);
/* Takes the ANSWER to the last INIT. Returns 0 or -EBADMSG; only 0 changes anything. */
int seal_finish(struct seal_initiator *i, struct seal_session *s, uint16_t *sensor_id,
		const uint8_t *in, size_t len);

/* ---- set-up: the collector ------------------------------------------------------------------- */

struct seal_responder {
	uint8_t sensor[KEY_LEN]; /* public key of the sensor, authentic once seal_accept is 0 */
	uint8_t ephemeral[KEY_LEN];
	uint8_t chain[KEY_LEN];
	uint64_t time_ns, run;
	uint8_t info[SEAL_INFO_MAX + 1];
	size_t info_len; /* `info` is terminated by a 0 */
};

/* Returns whether an INIT's mac is right: whether opening it is worth the work. */
int seal_init_plausible(const struct keypair *own, const uint8_t *in, size_t len);
/* Opens an INIT. Returns 0 or -EBADMSG. */
int seal_accept(struct seal_responder *r, const struct keypair *own, const uint8_t *in, size_t len);
/* Writes the ANSWER to the INIT in `r` and makes the session. */
void seal_answer(struct seal_responder *r, struct seal_session *s, uint8_t out[SEAL_ANSWER_LEN],
		 uint32_t session, uint16_t sensor_id);

#endif
