/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tryst: sets a session up and renews it (docs/wire.md; the name is SlyFi's, MobiSys 2008). In:
 * keys, protocol time. Out: datagrams that look random, and keys for Shroud. Nothing here keeps
 * time, sockets or tables.
 */
#ifndef WIRE_TRYST_H
#define WIRE_TRYST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive.h"
#include "keys.h"
#include "shroud.h"

#define TRYST_VERSION 2	     /* of the protocol; a hello says it */
#define TRYST_VERSION_BITS 4 /* of its flags, above the flags: the version less one */
#define TRYST_INTERVAL_NS 120000000000ULL
#define TRYST_INTERVALS_A_DAY 720
#define TRYST_SLOTS 32 /* of an interval */
#define TRYST_INFO_MAX 1000
#define TRYST_HELLO_LEN 55   /* in front of the info */
#define TRYST_NEXT_LEN 8     /* behind it, of a one-way session */
#define TRYST_INSTANCE_LEN 8 /* behind that */
#define TRYST_WELCOME_LEN 47
#define TRYST_INIT_MIN (8 + 16 + TRYST_HELLO_LEN + TRYST_INSTANCE_LEN + DERIVE_TAG_LEN)
#define TRYST_ANSWER_MIN (8 + DERIVE_FRESH_LEN + TRYST_WELCOME_LEN + DERIVE_TAG_LEN)

enum {
	TRYST_PADDED = 1,
	TRYST_ONE_WAY = 2,
	TRYST_SPOOL = 4,
	TRYST_BUSY = 8, /* in welcome: another instance of the sensor is being heard; no session */
};

/* P: what a sensor and a collector share for ever. `preshared` is 32 bytes or NULL. Returns 0 or
 * -EINVAL where the other's public key is none. */
int tryst_pair(uint8_t pair[KEY_LEN], const struct keypair *own, const uint8_t peer[KEY_LEN],
	       bool own_is_sensor, const uint8_t *preshared);

/* The addresses of all slots of an interval, as load_word() reads 8 bytes each. */
void tryst_slots(uint64_t slots[TRYST_SLOTS], const uint8_t pair[KEY_LEN], uint64_t interval);

/* The keys of a set-up, at either end. */
struct tryst_keys {
	const struct keypair *own;
	const uint8_t *peer; /* its public key */
	const uint8_t *pair; /* P */
};

struct tryst_hello {
	uint8_t ephemeral[KEY_LEN]; /* E_s */
	uint64_t run, time_ns;
	uint32_t window;
	uint8_t version; /* of the protocol, set by tryst_accept; ours is said */
	uint8_t flags;	 /* TRYST_ */
	uint16_t info_len;
	uint8_t info[TRYST_INFO_MAX + 1];     /* ends with a 0 */
	uint64_t next;			      /* with TRYST_ONE_WAY: number of the next datagram */
	uint8_t instance[TRYST_INSTANCE_LEN]; /* of the sensor: a machine since its start */
};

struct tryst_welcome {
	uint8_t ephemeral[KEY_LEN]; /* E_c */
	uint64_t time_ns;
	uint32_t window;
	uint8_t flags;
	uint16_t sensor_id;
};

/* ---- the sensor ------------------------------------------------------------------------------ */

struct tryst_asked { /* an m1 that waits for its m2 */
	struct keypair ephemeral;
	uint8_t k1[KEY_LEN];
	uint8_t answer[8]; /* address of the m2 */
};

/* Makes an ephemeral key from fresh random bytes, the clock and `own` secret, so that a machine
 * that boots without entropy or is restored from a snapshot does not make one twice. */
void tryst_ephemeral(struct keypair *out, const uint8_t own[KEY_LEN], uint64_t time_ns);

/* Writes m1 under `slot` (one of tryst_slots, or a cookie) to `out`; `hello->ephemeral` is made
 * here. With `padded_len` it has that many bytes. Returns its bytes, at most SHROUD_DATAGRAM_MAX,
 * or -EINVAL where the collector's key is none. */
long tryst_init(struct tryst_asked *a, uint8_t *out, const struct tryst_keys *keys, uint64_t slot,
		struct tryst_hello *hello, size_t padded_len);
/* Takes the m2. Returns 0 with the session's root k2 in `k2`, and `a` wiped; -EPROTO where it is
 * that of a collector of protocol version 1; or -EBADMSG. Then nothing has changed. */
int tryst_finish(struct tryst_asked *a, const struct keypair *own, struct tryst_welcome *welcome,
		 uint8_t k2[KEY_LEN], const uint8_t *in, size_t len);

/* Writes an m1 of a one-way session, whose `hello->ephemeral` is there: it is repeated while the
 * session lives. Otherwise as tryst_init. */
long tryst_announce(uint8_t *out, const uint8_t pair[KEY_LEN], uint64_t slot,
		    const struct tryst_hello *hello, size_t padded_len);

/* ---- the collector --------------------------------------------------------------------------- */

/* Opens an m1 (whose slot the table knew, or whose cookie is ours). With another `version` than
 * TRYST_VERSION only that is set. Returns 0 or -EBADMSG. */
int tryst_accept(struct tryst_hello *hello, const uint8_t pair[KEY_LEN], const uint8_t *in,
		 size_t len);
/* Writes the m2 to the m1 `in` that was accepted; `welcome->ephemeral` is made here. Returns its
 * bytes (SHROUD_DATAGRAM_PADDED, if `welcome` has TRYST_PADDED), with k2, or -EBADMSG. */
long tryst_answer(uint8_t *out, uint8_t k2[KEY_LEN], const struct tryst_keys *keys,
		  const struct tryst_hello *hello, struct tryst_welcome *welcome, const uint8_t *in,
		  size_t len);

/* ---- both ------------------------------------------------------------------------------------ */

/* The keys of the session with root `k2`: `up` from the sensor, `down` from the collector, and its
 * chain. `k2` is wiped. */
void tryst_session(uint8_t k2[KEY_LEN], struct shroud_keys *up, struct shroud_keys *down,
		   uint8_t chain[KEY_LEN]);
/* Root of the one-way session that `hello` is of: `secret` is the ephemeral's and `public` the
 * collector's at the sensor, the other way round at the collector. Returns 0 or -EBADMSG. */
int tryst_one_way(uint8_t k2[KEY_LEN], const uint8_t pair[KEY_LEN], const struct tryst_hello *hello,
		  const uint8_t secret[KEY_LEN], const uint8_t public[KEY_LEN]);
/* Root of the session that renews the one with `chain`. `own` is this end's ephemeral pair. Returns
 * 0 or -EBADMSG. */
int tryst_renew(uint8_t k2[KEY_LEN], const uint8_t chain[KEY_LEN], const struct keypair *own,
		const uint8_t peer[KEY_LEN], bool own_is_sensor);

#endif
