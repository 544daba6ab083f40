// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing: see seal.h for protocol and promises. Every function follows its message from the
 * first byte to the last; `chain` is the one secret that all keys of a set-up come from.
 */
#include "seal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

#define aead_seal crypto_aead_chacha20poly1305_ietf_encrypt
#define aead_open crypto_aead_chacha20poly1305_ietf_decrypt

_Static_assert(SEAL_TAG_LEN == crypto_aead_chacha20poly1305_ietf_ABYTES, "Poly1305");

/* Keyed BLAKE2b-256 of a label and up to two inputs. */
static void kdf(uint8_t out[KEY_LEN], const uint8_t *key, const char *label, const uint8_t *a,
		size_t a_len, const uint8_t *b, size_t b_len)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, key, key ? KEY_LEN : 0, KEY_LEN);
	crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
	if (a_len)
		crypto_generichash_update(&state, a, a_len);
	if (b_len)
		crypto_generichash_update(&state, b, b_len);
	crypto_generichash_final(&state, out, KEY_LEN);
	sodium_memzero(&state, sizeof(state));
}

static void nonce_write(uint8_t nonce[12], uint64_t counter)
{
	memset(nonce, 0, 4);
	store_be(nonce + 4, counter, 8);
}

/* ---- data ------------------------------------------------------------------------------------ */

size_t seal_datagram(struct seal_tx *tx, uint8_t *out, const uint8_t *message, size_t len)
{
	uint64_t counter = tx->counter++;
	uint8_t nonce[12];

	out[0] = SEAL_DATA;
	store_be(out + 1, tx->session, 4);
	store_be(out + 5, counter, 8);
	nonce_write(nonce, counter);
	aead_seal(out + SEAL_HEADER_LEN, NULL, message, len, out, SEAL_HEADER_LEN, NULL, nonce,
		  tx->key);
	return len + SEAL_OVERHEAD;
}

int seal_session_of(const uint8_t *in, size_t len, uint32_t *session)
{
	if (len < SEAL_OVERHEAD || in[0] != SEAL_DATA)
		return -EBADMSG;
	*session = load_be(in + 1, 4);
	return 0;
}

static uint64_t *window_word(struct seal_rx *rx, uint64_t counter)
{
	return &rx->window[counter / 64 % (SEAL_WINDOW / 64)];
}

static int window_has(struct seal_rx *rx, uint64_t counter)
{
	/* One word less than the window: the word being filled may hold old bits above. */
	if (counter == 0 || counter + SEAL_WINDOW - 64 <= rx->highest)
		return 1;
	return counter <= rx->highest && (*window_word(rx, counter) >> counter % 64 & 1);
}

static void window_add(struct seal_rx *rx, uint64_t counter)
{
	uint64_t word = rx->highest / 64 + 1, last = counter / 64;

	if (counter > rx->highest) {
		if (last >= word + SEAL_WINDOW / 64)
			word = last - SEAL_WINDOW / 64 + 1;
		for (; word <= last; word++)
			*window_word(rx, word * 64) = 0;
		rx->highest = counter;
	}
	*window_word(rx, counter) |= 1ULL << counter % 64;
}

long seal_open(struct seal_rx *rx, uint8_t *out, const uint8_t *in, size_t len)
{
	uint8_t nonce[12];
	uint64_t counter;

	if (len < SEAL_OVERHEAD || in[0] != SEAL_DATA)
		return -EBADMSG;
	counter = load_be(in + 5, 8);
	if (window_has(rx, counter))
		return -EALREADY;
	nonce_write(nonce, counter);
	if (aead_open(out, NULL, NULL, in + SEAL_HEADER_LEN, len - SEAL_HEADER_LEN, in,
		      SEAL_HEADER_LEN, nonce, rx->key))
		return -EBADMSG;
	window_add(rx, counter);
	return len - SEAL_OVERHEAD;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static const uint8_t zero_nonce[12]; /* every set-up key seals one message */

/* chain = B(chain, label, bytes that went over the wire, shared secret). Returns -EBADMSG where
 * `public` is a point of low order, which shares no secret. */
static int chain_mix(uint8_t chain[KEY_LEN], const char *label, const uint8_t *bytes, size_t len,
		     const uint8_t *secret, const uint8_t *public)
{
	uint8_t shared[KEY_LEN];
	int err = crypto_scalarmult(shared, secret, public);

	if (!err)
		kdf(chain, chain, label, bytes, len, shared, sizeof(shared));
	sodium_memzero(shared, sizeof(shared));
	return err ? -EBADMSG : 0;
}

static void chain_start(uint8_t chain[KEY_LEN], const uint8_t collector[KEY_LEN])
{
	kdf(chain, NULL, "saluki plain 1", collector, KEY_LEN, NULL, 0);
}

static void chain_seal(const uint8_t chain[KEY_LEN], const char *label, uint8_t *out,
		       const uint8_t *in, size_t len)
{
	uint8_t key[KEY_LEN];

	kdf(key, chain, label, NULL, 0, NULL, 0);
	aead_seal(out, NULL, in, len, NULL, 0, NULL, zero_nonce, key);
	sodium_memzero(key, sizeof(key));
}

static int chain_open(const uint8_t chain[KEY_LEN], const char *label, uint8_t *out,
		      const uint8_t *in, size_t len)
{
	uint8_t key[KEY_LEN];
	int err;

	kdf(key, chain, label, NULL, 0, NULL, 0);
	err = aead_open(out, NULL, NULL, in, len, NULL, 0, zero_nonce, key);
	sodium_memzero(key, sizeof(key));
	return err ? -EBADMSG : 0;
}

static void chain_sessions(const uint8_t chain[KEY_LEN], struct seal_session *s, int sensor,
			   uint32_t session)
{
	memset(s, 0, sizeof(*s));
	kdf(sensor ? s->tx.key : s->rx.key, chain, "to collector", NULL, 0, NULL, 0);
	kdf(sensor ? s->rx.key : s->tx.key, chain, "to sensor", NULL, 0, NULL, 0);
	s->tx.session = session;
	s->tx.counter = 1;
}

static void init_mac(uint8_t mac[16], const uint8_t collector[KEY_LEN], const uint8_t *in,
		     size_t len)
{
	uint8_t key[KEY_LEN], full[KEY_LEN];

	kdf(key, NULL, "saluki plain 1 mac", collector, KEY_LEN, NULL, 0);
	kdf(full, key, "mac", in, len, NULL, 0);
	memcpy(mac, full, 16);
}

long seal_init(struct seal_initiator *i, uint8_t *out, uint64_t time_ns, uint64_t run,
	       const void *info, size_t info_len)
{
	uint8_t payload[16 + SEAL_INFO_MAX], *sealed_key = out + 33, *sealed = out + 33 + 48;
	size_t payload_len = 16 + info_len, len = 33 + 48 + payload_len + SEAL_TAG_LEN;

	key_generate(i->ephemeral.secret);
	key_public(i->ephemeral.public, i->ephemeral.secret);
	out[0] = SEAL_INIT;
	memcpy(out + 1, i->ephemeral.public, KEY_LEN);

	chain_start(i->chain, i->peer);
	if (chain_mix(i->chain, "es", out, 33, i->ephemeral.secret, i->peer))
		return -EINVAL;
	chain_seal(i->chain, "static", sealed_key, i->own.public, KEY_LEN);
	if (chain_mix(i->chain, "ss", sealed_key, 48, i->own.secret, i->peer))
		return -EINVAL;
	store_be(payload, time_ns, 8);
	store_be(payload + 8, run, 8);
	memcpy(payload + 16, info, info_len);
	chain_seal(i->chain, "init", sealed, payload, payload_len);
	kdf(i->chain, i->chain, "sent", sealed, payload_len + SEAL_TAG_LEN, NULL, 0);
	init_mac(out + len, i->peer, out, len);
	return len + 16;
}

int seal_init_plausible(const struct keypair *own, const uint8_t *in, size_t len)
{
	uint8_t mac[16];

	if (len < SEAL_INIT_MIN || len > SEAL_INIT_MAX || in[0] != SEAL_INIT)
		return 0;
	init_mac(mac, own->public, in, len - 16);
	return sodium_memcmp(mac, in + len - 16, 16) == 0;
}

int seal_accept(struct seal_responder *r, const struct keypair *own, const uint8_t *in, size_t len)
{
	const uint8_t *sealed_key = in + 33, *sealed = in + 33 + 48;
	size_t sealed_len = len - 33 - 48 - 16;
	uint8_t payload[16 + SEAL_INFO_MAX];

	if (len < SEAL_INIT_MIN || len > SEAL_INIT_MAX || in[0] != SEAL_INIT)
		return -EBADMSG;
	memcpy(r->ephemeral, in + 1, KEY_LEN);
	chain_start(r->chain, own->public);
	if (chain_mix(r->chain, "es", in, 33, own->secret, r->ephemeral) ||
	    chain_open(r->chain, "static", r->sensor, sealed_key, 48) ||
	    chain_mix(r->chain, "ss", sealed_key, 48, own->secret, r->sensor) ||
	    chain_open(r->chain, "init", payload, sealed, sealed_len))
		return -EBADMSG;
	kdf(r->chain, r->chain, "sent", sealed, sealed_len, NULL, 0);
	r->time_ns = load_be(payload, 8);
	r->run = load_be(payload + 8, 8);
	r->info_len = sealed_len - SEAL_TAG_LEN - 16;
	memcpy(r->info, payload + 16, r->info_len);
	r->info[r->info_len] = 0;
	return 0;
}

void seal_answer(struct seal_responder *r, struct seal_session *s, uint8_t out[SEAL_ANSWER_LEN],
		 uint32_t session, uint16_t sensor_id)
{
	struct keypair ephemeral;
	uint8_t payload[6];

	key_generate(ephemeral.secret);
	key_public(ephemeral.public, ephemeral.secret);
	out[0] = SEAL_ANSWER;
	memcpy(out + 1, ephemeral.public, KEY_LEN);
	/* Both points shared a secret in seal_accept already, so neither is of low order. */
	chain_mix(r->chain, "ee", out, 33, ephemeral.secret, r->ephemeral);
	chain_mix(r->chain, "se", NULL, 0, ephemeral.secret, r->sensor);
	store_be(payload, session, 4);
	store_be(payload + 4, sensor_id, 2);
	chain_seal(r->chain, "answer", out + 33, payload, sizeof(payload));
	chain_sessions(r->chain, s, 0, session);
	sodium_memzero(&ephemeral, sizeof(ephemeral));
	sodium_memzero(r->chain, sizeof(r->chain));
}

int seal_finish(struct seal_initiator *i, struct seal_session *s, uint16_t *sensor_id,
		const uint8_t *in, size_t len)
{
	uint8_t chain[KEY_LEN], payload[6];
	int err = -EBADMSG;

	if (len != SEAL_ANSWER_LEN || in[0] != SEAL_ANSWER)
		return -EBADMSG;
	memcpy(chain, i->chain, KEY_LEN);
	if (chain_mix(chain, "ee", in, 33, i->ephemeral.secret, in + 1) == 0 &&
	    chain_mix(chain, "se", NULL, 0, i->own.secret, in + 1) == 0 &&
	    chain_open(chain, "answer", payload, in + 33, 6 + SEAL_TAG_LEN) == 0) {
		chain_sessions(chain, s, 1, load_be(payload, 4));
		*sensor_id = load_be(payload + 4, 2);
		/* An INIT is answered once. */
		randombytes_buf(i->chain, KEY_LEN);
		sodium_memzero(&i->ephemeral, sizeof(i->ephemeral));
		err = 0;
	}
	sodium_memzero(chain, sizeof(chain));
	return err;
}
