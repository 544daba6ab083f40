// SPDX-License-Identifier: GPL-2.0
/* Request: see request.h. Each function handles a datagram's fields in their order. */
#include "request.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

#define RANDOM_LEN 16
#define MAC_LEN crypto_shorthash_BYTES
#define KEY_AT (RANDOM_LEN + MAC_LEN)
#define SEALED_AT REQUEST_FRONT_LEN
#define MESSAGE_LEN (REQUEST_LEN - SEALED_AT - DERIVE_TAG_LEN)
#define ANSWER_LEN 16 /* time and cookie */
#define SEALED_ANSWER_AT (8 + DERIVE_FRESH_LEN)
#define DATED_MAX (RANDOM_LEN + 8)

_Static_assert(MAC_LEN == 8 && crypto_shorthash_KEYBYTES == 16, "SipHash-2-4");
_Static_assert(SEALED_AT == KEY_AT + KEY_LEN, "r, mac, E");

void request_keys_init(struct request_keys *k, const uint8_t collector[KEY_LEN])
{
	uint8_t full[KEY_LEN];

	derive(full, collector, "clock mac", NULL, 0, NULL, 0);
	memcpy(k->mac, full, sizeof(k->mac));
	sodium_memzero(full, sizeof(full));
}

/* Writes r and, unless the request is undated, the interval. Returns the number of bytes. */
static size_t dated(uint8_t out[DATED_MAX], const uint8_t *r, uint64_t interval)
{
	memcpy(out, r, RANDOM_LEN);
	if (interval == REQUEST_UNDATED)
		return RANDOM_LEN;
	store_be(out + RANDOM_LEN, interval, 8);
	return DATED_MAX;
}

static void mac_of(uint8_t mac[MAC_LEN], const struct request_keys *k, const uint8_t *r,
		   uint64_t interval)
{
	uint8_t input[DATED_MAX];
	size_t len = dated(input, r, interval);

	crypto_shorthash(mac, input, len, k->mac);
}

/* Masks or unmasks E, at KEY_AT of a request. */
static void mask(uint8_t out[KEY_LEN], const uint8_t *key, const uint8_t collector[KEY_LEN],
		 const uint8_t *r)
{
	uint8_t stream[KEY_LEN];

	derive(stream, collector, "clock mask", r, RANDOM_LEN, NULL, 0);
	for (int i = 0; i < KEY_LEN; i++)
		out[i] = key[i] ^ stream[i];
}

/* The key covers the date: anyone with C could make a new mac for a recorded request, but not a new
 * seal. */
static int request_key(uint8_t key[KEY_LEN], const uint8_t secret[KEY_LEN],
		       const uint8_t public[KEY_LEN], const uint8_t *r, uint64_t interval)
{
	uint8_t shared[KEY_LEN], input[DATED_MAX];
	size_t len = dated(input, r, interval);
	int err = derive_shared(shared, secret, public);

	if (!err)
		derive(key, shared, "clock", input, len, NULL, 0);
	sodium_memzero(shared, sizeof(shared));
	return err;
}

/* B(P, "request", r ‖ E). */
static void proof(uint8_t out[KEY_LEN], const uint8_t pair[KEY_LEN], const uint8_t *r,
		  const uint8_t ephemeral[KEY_LEN])
{
	derive(out, pair, "request", r, RANDOM_LEN, ephemeral, KEY_LEN);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Writes r ‖ mac ‖ masked E, with a new E. The message is hashed into r, because a machine that is
 * resumed twice from one snapshot may draw the same random bytes twice. */
static int front(uint8_t key[KEY_LEN], uint8_t ephemeral[KEY_LEN], uint8_t *out,
		 const struct request_from *from, const uint8_t message[MESSAGE_LEN])
{
	struct request_keys keys;
	struct keypair e;
	int err;

	derive_fresh(out, from->own->secret, message, MESSAGE_LEN);
	request_keys_init(&keys, from->collector);
	mac_of(out + RANDOM_LEN, &keys, out, from->interval);
	tryst_ephemeral(&e, from->own->secret, from->time_ns);
	memcpy(ephemeral, e.public, KEY_LEN);
	mask(out + KEY_AT, e.public, from->collector, out);
	err = request_key(key, e.secret, from->collector, out, from->interval);
	sodium_memzero(&e, sizeof(e));
	sodium_memzero(&keys, sizeof(keys));
	return err;
}

static void body(uint8_t message[MESSAGE_LEN], enum request_kind kind, const struct keypair *own)
{
	memset(message, 0, MESSAGE_LEN);
	message[0] = TRYST_VERSION;
	message[1] = kind;
	memcpy(message + 2, own->public, KEY_LEN);
}

int request_cookie(struct request_asked *a, uint8_t *out, const struct request_from *from,
		   const uint8_t pair[KEY_LEN])
{
	uint8_t message[MESSAGE_LEN], ephemeral[KEY_LEN], proved[KEY_LEN];

	body(message, REQUEST_COOKIE, from->own);
	if (front(a->key, ephemeral, out, from, message))
		return -EINVAL;
	proof(proved, pair, out, ephemeral);
	memcpy(message + REQUEST_BODY_LEN, proved, REQUEST_PROOF_LEN);
	derive_seal(a->key, 0, out + SEALED_AT, message, sizeof(message));
	return 0;
}

int request_set_up(uint8_t *out, const uint8_t *m1, const struct request_from *from)
{
	uint8_t message[MESSAGE_LEN], ephemeral[KEY_LEN], key[KEY_LEN];
	int err;

	body(message, REQUEST_SET_UP, from->own);
	memcpy(message + REQUEST_BODY_LEN, m1, REQUEST_INIT_LEN);
	err = front(key, ephemeral, out, from, message);
	if (!err)
		derive_seal(key, 0, out + SEALED_AT, message, sizeof(message));
	sodium_memzero(key, sizeof(key));
	return err ? -EINVAL : 0;
}

bool request_plausible(const struct request_keys *k, const uint8_t *in, size_t len,
		       uint64_t present, uint64_t *interval)
{
	const uint64_t may_be[] = { REQUEST_UNDATED, present, present - 1, present + 1 };
	size_t count = len == REQUEST_LEN ? sizeof(may_be) / sizeof(*may_be) : 1;
	uint8_t mac[MAC_LEN];

	if (len < REQUEST_MIN || len > SHROUD_DATAGRAM_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		mac_of(mac, k, in, may_be[i]);
		if (load_word(mac) != load_word(in + RANDOM_LEN)) /* one comparison */
			continue;
		*interval = may_be[i];
		return true;
	}
	return false;
}

int request_open(struct request *q, const struct keypair *own, const uint8_t *in, size_t len,
		 uint64_t interval)
{
	uint8_t message[SHROUD_DATAGRAM_MAX];
	size_t message_len = len - SEALED_AT - DERIVE_TAG_LEN;

	if (len < REQUEST_MIN || len > SHROUD_DATAGRAM_MAX)
		return -EBADMSG;
	memcpy(q->r, in, sizeof(q->r));
	mask(q->ephemeral, in + KEY_AT, own->public, in);
	if (request_key(q->key, own->secret, q->ephemeral, in, interval) ||
	    derive_open(q->key, 0, message, in + SEALED_AT, len - SEALED_AT))
		return -EBADMSG;
	q->len = len;
	q->version = message_len && message[0] ? message[0] : 1; /* it was all zeros */
	if (q->version != TRYST_VERSION)
		return 0;
	if (message_len < REQUEST_BODY_LEN + REQUEST_PROOF_LEN)
		return -EBADMSG;
	q->kind = message[1];
	memcpy(q->sensor, message + 2, KEY_LEN);
	q->rest_len = message_len - REQUEST_BODY_LEN;
	memcpy(q->rest, message + REQUEST_BODY_LEN, q->rest_len);
	return 0;
}

bool request_proved(const struct request *q, const uint8_t pair[KEY_LEN])
{
	uint8_t expected[KEY_LEN];

	proof(expected, pair, q->r, q->ephemeral);
	return sodium_memcmp(expected, q->rest, REQUEST_PROOF_LEN) == 0;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Address and key depend on the collector's fresh bytes, so a repeated request gets an answer with
 * another address and another key. */
static void answer_address(uint8_t out[8], const uint8_t key[KEY_LEN], const uint8_t *fresh,
			   size_t fresh_len)
{
	uint8_t full[KEY_LEN];

	derive(full, key, "clock address", fresh, fresh_len, NULL, 0);
	memcpy(out, full, 8);
	sodium_memzero(full, sizeof(full));
}

size_t request_answer(uint8_t *out, const struct request *q, const struct request_answer *answer)
{
	uint8_t message[SHROUD_DATAGRAM_MAX] = { 0 }, key[KEY_LEN];
	size_t len = q->len >= REQUEST_LEN ? REQUEST_LEN : REQUEST_ANSWER_MIN;

	store_be(message, answer->time_ns, 8);
	memcpy(message + 8, &answer->cookie, 8);
	len -= SEALED_ANSWER_AT + DERIVE_TAG_LEN;
	derive_fresh(out + 8, q->key, message, len);
	answer_address(out, q->key, out + 8, DERIVE_FRESH_LEN);
	derive(key, q->key, "clock answer", out + 8, DERIVE_FRESH_LEN, NULL, 0);
	derive_seal(key, 0, out + SEALED_ANSWER_AT, message, len);
	sodium_memzero(key, sizeof(key));
	return SEALED_ANSWER_AT + len + DERIVE_TAG_LEN;
}

/* In version 1, the key does not depend on the collector's bytes. */
static bool is_version_1(const uint8_t key[KEY_LEN], const uint8_t *in, size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], old[KEY_LEN], address[8];
	int err;

	answer_address(address, key, NULL, 0);
	if (sodium_memcmp(address, in, sizeof(address)))
		return false;
	derive(old, key, "clock answer", NULL, 0, NULL, 0);
	err = derive_open(old, 0, message, in + 8, len - 8);
	sodium_memzero(old, sizeof(old));
	return !err;
}

int request_answered(struct request_asked *a, struct request_answer *answer, const uint8_t *in,
		     size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], key[KEY_LEN], address[8];
	int err = -EBADMSG;

	if (len < 8 + DERIVE_TAG_LEN || len > SHROUD_DATAGRAM_MAX)
		return -EBADMSG;
	if (len >= REQUEST_ANSWER_MIN) {
		answer_address(address, a->key, in + 8, DERIVE_FRESH_LEN);
		err = sodium_memcmp(address, in, sizeof(address)) ? -EBADMSG : 0;
	}
	if (!err) {
		derive(key, a->key, "clock answer", in + 8, DERIVE_FRESH_LEN, NULL, 0);
		err = derive_open(key, 0, message, in + SEALED_ANSWER_AT, len - SEALED_ANSWER_AT);
		sodium_memzero(key, sizeof(key));
	}
	if (err)
		return is_version_1(a->key, in, len) ? -EPROTO : -EBADMSG;
	answer->time_ns = load_be(message, 8);
	memcpy(&answer->cookie, message + 8, 8);
	sodium_memzero(a, sizeof(*a));
	return 0;
}
