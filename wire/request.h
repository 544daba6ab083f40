/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Request: how a sensor sets a session up without a slot (docs/wire.md, "Without a slot"). A sensor
 * that has no free slot, whose set-up was not answered, or that does not know the time asks for the
 * time and a cookie, and then sends its m1 under that cookie. Anybody who does not know the
 * collector's public key costs the collector one SipHash.
 *
 * A request is dated with the interval in which it was made, so that a recording is of no use some
 * minutes later. A sensor that does not know the time sends one without a date, and the collector
 * opens fewer of those.
 *
 * A cookie proves that the m1 is fresh (RFC 9147, section 5.1, uses cookies in the same way), so
 * the collector keeps no state for it.
 */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive.h"
#include "keys.h"
#include "tryst.h"

#define REQUEST_FRONT_LEN (16 + 8 + 32)	   /* r, mac, E: ahead of what is sealed */
#define REQUEST_BODY_LEN (1 + 1 + KEY_LEN) /* version, kind, S */
#define REQUEST_PROOF_LEN 16
/* Every request has as many bytes: its length tells nothing. */
#define REQUEST_LEN SHROUD_DATAGRAM_PADDED
/* In place of an interval: the request has no date. */
#define REQUEST_UNDATED 0
/* The m1 inside a request. */
#define REQUEST_INIT_LEN (REQUEST_LEN - REQUEST_FRONT_LEN - DERIVE_TAG_LEN - REQUEST_BODY_LEN)
#define REQUEST_MIN (REQUEST_FRONT_LEN + DERIVE_TAG_LEN) /* version 1 had no more */
#define REQUEST_ANSWER_MIN (8 + DERIVE_FRESH_LEN + 16 + DERIVE_TAG_LEN)
_Static_assert(TRYST_INIT_MIN + TRYST_INFO_MAX <= REQUEST_INIT_LEN, "any m1 fits");

enum request_kind {
	REQUEST_COOKIE = 0, /* for the time and a cookie */
	REQUEST_SET_UP = 1, /* an m1 follows, under a cookie */
};

/* ---- the sensor ------------------------------------------------------------------------------ */

/* The sensor that asks, the collector, and the time. */
struct request_from {
	const struct keypair *own;
	const uint8_t *collector; /* its public key */
	uint64_t time_ns;	  /* mixed into the ephemeral key */
	uint64_t interval;	  /* the request's date, or REQUEST_UNDATED */
};

/* A request for a cookie that waits for its answer. */
struct request_asked {
	uint8_t key[KEY_LEN];
};

struct request_answer {
	uint64_t time_ns; /* the collector's protocol time */
	uint64_t cookie;  /* in place of a slot, as load_word() reads it */
};

/* Writes a request for a cookie, REQUEST_LEN bytes, to `out`. Returns 0, or -EINVAL where the
 * collector's public key is none. */
int request_cookie(struct request_asked *a, uint8_t *out, const struct request_from *from,
		   const uint8_t pair[KEY_LEN]);
/* Takes an answer. Returns 0, and `a` is wiped; -EPROTO where it is that of a collector of protocol
 * version 1; or -EBADMSG, and nothing has changed. */
int request_answered(struct request_asked *a, struct request_answer *answer, const uint8_t *in,
		     size_t len);
/* Writes a request, REQUEST_LEN bytes, that carries the m1 of REQUEST_INIT_LEN bytes. Returns 0 or
 * -EINVAL. */
int request_set_up(uint8_t *out, const uint8_t *m1, const struct request_from *from);

/* ---- the collector --------------------------------------------------------------------------- */

/* Of the collector's public key, made once. */
struct request_keys {
	uint8_t mac[16];
};
void request_keys_init(struct request_keys *k, const uint8_t collector[KEY_LEN]);

/* A request that was opened. Whose it says it is has not been proved by that. */
struct request {
	uint8_t version, kind;
	uint8_t pair;		 /* the collector's: its number for the two keys */
	uint8_t sensor[KEY_LEN]; /* S */
	uint8_t ephemeral[KEY_LEN], r[16];
	uint8_t key[KEY_LEN];
	size_t len;	 /* of the datagram */
	size_t rest_len; /* and of what follows S: a proof, or an m1 */
	uint8_t rest[SHROUD_DATAGRAM_MAX];
};

/* Whether the short mac is right, for `present`, one of its neighbours, or no interval: that one is
 * `*interval` then. It costs four SipHashes at most, and one unless it has REQUEST_LEN bytes, which
 * every request with a date has. */
bool request_plausible(const struct request_keys *k, const uint8_t *in, size_t len,
		       uint64_t present, uint64_t *interval);
/* Opens a plausible request, which costs a Diffie-Hellman. With another `version` than
 * TRYST_VERSION only `version` and `key` are set. Returns 0 or -EBADMSG. The caller wipes `q`. */
int request_open(struct request *q, const struct keypair *own, const uint8_t *in, size_t len,
		 uint64_t interval);
/* Whether a request for a cookie is that of the sensor with which the collector shares `pair`. */
bool request_proved(const struct request *q, const uint8_t pair[KEY_LEN]);
/* Writes the answer to a request for a cookie, at most as long as that was, to `out`. Returns its
 * bytes. */
size_t request_answer(uint8_t *out, const struct request *q, const struct request_answer *answer);

#endif
