// SPDX-License-Identifier: GPL-2.0
/* Tryst: see tryst.h. Every function follows its message from the first byte to the last. */
#include "tryst.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

#define INIT_HEADER_LEN (8 + DERIVE_FRESH_LEN)
#define ANSWER_HEADER_LEN (8 + DERIVE_FRESH_LEN)
#define FLAGS_MASK ((1 << TRYST_VERSION_BITS) - 1)

int tryst_pair(uint8_t pair[KEY_LEN], const struct keypair *own, const uint8_t peer[KEY_LEN],
	       bool own_is_sensor, const uint8_t *preshared)
{
	uint8_t shared[KEY_LEN], rest[2 * KEY_LEN] = { 0 };
	int err = derive_shared(shared, own->secret, peer);

	memcpy(rest, own_is_sensor ? peer : own->public, KEY_LEN); /* C */
	if (preshared)
		memcpy(rest + KEY_LEN, preshared, KEY_LEN);
	if (!err)
		derive(pair, shared, "pair", own_is_sensor ? own->public : peer, KEY_LEN, rest,
		       sizeof(rest));
	sodium_memzero(shared, sizeof(shared));
	sodium_memzero(rest, sizeof(rest));
	return err ? -EINVAL : 0;
}

void tryst_slots(uint64_t slots[TRYST_SLOTS], const uint8_t pair[KEY_LEN], uint64_t interval)
{
	uint8_t key[KEY_LEN], number[8], stream[TRYST_SLOTS * 8];

	store_be(number, interval / TRYST_INTERVALS_A_DAY, 8);
	derive(key, pair, "day", number, sizeof(number), NULL, 0);
	store_be(number, interval, 8);
	crypto_stream_chacha20(stream, sizeof(stream), number, key);
	for (int j = 0; j < TRYST_SLOTS; j++)
		slots[j] = load_word(stream + 8 * j);
	sodium_memzero(key, sizeof(key));
	sodium_memzero(stream, sizeof(stream));
}

void tryst_ephemeral(struct keypair *out, const uint8_t own[KEY_LEN], uint64_t time_ns)
{
	uint8_t random[KEY_LEN], time[8];

	randombytes_buf(random, sizeof(random));
	store_be(time, time_ns, 8);
	derive(out->secret, own, "ephemeral", random, sizeof(random), time, sizeof(time));
	key_public(out->public, out->secret);
	sodium_memzero(random, sizeof(random));
}

/* k1 = B(P, "k1", H(m1) ‖ DH(c, E_s)). Returns 0 or -EBADMSG. */
static int first_key(uint8_t k1[KEY_LEN], const uint8_t pair[KEY_LEN], const uint8_t *m1,
		     size_t len, const uint8_t secret[KEY_LEN], const uint8_t public[KEY_LEN])
{
	uint8_t hash[KEY_LEN], shared[KEY_LEN];
	int err = derive_shared(shared, secret, public);

	derive_hash(hash, m1, len);
	if (!err)
		derive(k1, pair, "k1", hash, KEY_LEN, shared, KEY_LEN);
	sodium_memzero(shared, sizeof(shared));
	return err;
}

/* k2 = B(k1, "k2", H(m2) ‖ two shared secrets). */
static void second_key(uint8_t k2[KEY_LEN], const uint8_t k1[KEY_LEN], const uint8_t *m2,
		       size_t len, uint8_t shared[2 * KEY_LEN])
{
	uint8_t hash[KEY_LEN];

	derive_hash(hash, m2, len);
	derive(k2, k1, "k2", hash, KEY_LEN, shared, 2 * KEY_LEN);
}

static void init_key(uint8_t key[KEY_LEN], const uint8_t pair[KEY_LEN], const uint8_t *m1)
{
	derive(key, pair, "set-up", m1, INIT_HEADER_LEN, NULL, 0);
}

/* ---- m1 -------------------------------------------------------------------------------------- */

/* Returns the bytes of what is said, without zeros. */
static size_t hello_write(uint8_t *message, const struct tryst_hello *hello)
{
	uint8_t *behind = message + TRYST_HELLO_LEN + hello->info_len;

	memcpy(message, hello->ephemeral, KEY_LEN);
	store_be(message + 32, hello->run, 8);
	store_be(message + 40, hello->time_ns, 8);
	store_be(message + 48, hello->window, 4);
	message[52] = hello->flags | (TRYST_VERSION - 1) << TRYST_VERSION_BITS;
	store_be(message + 53, hello->info_len, 2);
	memcpy(message + TRYST_HELLO_LEN, hello->info, hello->info_len);
	if (hello->flags & TRYST_ONE_WAY) {
		store_be(behind, hello->next, TRYST_NEXT_LEN);
		behind += TRYST_NEXT_LEN;
	}
	memcpy(behind, hello->instance, TRYST_INSTANCE_LEN);
	return behind + TRYST_INSTANCE_LEN - message;
}

long tryst_announce(uint8_t *out, const uint8_t pair[KEY_LEN], uint64_t slot,
		    const struct tryst_hello *hello, size_t padded_len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX] = { 0 }, key[KEY_LEN];
	size_t len = hello_write(message, hello);

	if (padded_len > len + INIT_HEADER_LEN + DERIVE_TAG_LEN)
		len = padded_len - INIT_HEADER_LEN - DERIVE_TAG_LEN;
	memcpy(out, &slot, sizeof(slot));
	derive_fresh(out + 8, pair, message, len);
	init_key(key, pair, out);
	derive_seal(key, 0, out + INIT_HEADER_LEN, message, len);
	sodium_memzero(key, sizeof(key));
	return len + INIT_HEADER_LEN + DERIVE_TAG_LEN;
}

long tryst_init(struct tryst_asked *a, uint8_t *out, const struct tryst_keys *keys, uint64_t slot,
		struct tryst_hello *hello, size_t padded_len)
{
	uint8_t key[KEY_LEN];
	long len;

	tryst_ephemeral(&a->ephemeral, keys->own->secret, hello->time_ns);
	memcpy(hello->ephemeral, a->ephemeral.public, KEY_LEN);
	len = tryst_announce(out, keys->pair, slot, hello, padded_len);
	if (first_key(a->k1, keys->pair, out, len, a->ephemeral.secret, keys->peer))
		return -EINVAL;
	derive(key, a->k1, "answer address", NULL, 0, NULL, 0);
	memcpy(a->answer, key, sizeof(a->answer));
	return len;
}

/* What is behind the info. Returns 0 or -EBADMSG. */
static int accept_behind(struct tryst_hello *hello, const uint8_t *message, size_t len)
{
	bool one_way = hello->flags & TRYST_ONE_WAY;

	hello->next = 0;
	if (len < (one_way ? TRYST_NEXT_LEN : 0) + TRYST_INSTANCE_LEN)
		return -EBADMSG;
	if (one_way) {
		hello->next = load_be(message, TRYST_NEXT_LEN);
		message += TRYST_NEXT_LEN;
	}
	memcpy(hello->instance, message, TRYST_INSTANCE_LEN);
	return one_way && !hello->next ? -EBADMSG : 0;
}

/* `len` is that of the whole message, TRYST_HELLO_LEN at least. Returns 0 or -EBADMSG. */
static int accept_hello(struct tryst_hello *hello, const uint8_t *message, size_t len)
{
	hello->version = (message[52] >> TRYST_VERSION_BITS) + 1;
	if (hello->version != TRYST_VERSION)
		return 0;
	memcpy(hello->ephemeral, message, KEY_LEN);
	hello->run = load_be(message + 32, 8);
	hello->time_ns = load_be(message + 40, 8);
	hello->window = load_be(message + 48, 4);
	hello->flags = message[52] & FLAGS_MASK;
	hello->info_len = load_be(message + 53, 2);
	len -= TRYST_HELLO_LEN;
	if (hello->info_len > TRYST_INFO_MAX || hello->info_len > len)
		return -EBADMSG;
	memcpy(hello->info, message + TRYST_HELLO_LEN, hello->info_len);
	hello->info[hello->info_len] = 0;
	return accept_behind(hello, message + TRYST_HELLO_LEN + hello->info_len,
			     len - hello->info_len);
}

int tryst_accept(struct tryst_hello *hello, const uint8_t pair[KEY_LEN], const uint8_t *in,
		 size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], key[KEY_LEN];
	int err;

	if (len < INIT_HEADER_LEN + TRYST_HELLO_LEN + DERIVE_TAG_LEN || len > SHROUD_DATAGRAM_MAX)
		return -EBADMSG;
	init_key(key, pair, in);
	err = derive_open(key, 0, message, in + INIT_HEADER_LEN, len - INIT_HEADER_LEN);
	sodium_memzero(key, sizeof(key));
	return err ?: accept_hello(hello, message, len - INIT_HEADER_LEN - DERIVE_TAG_LEN);
}

/* ---- m2 -------------------------------------------------------------------------------------- */

/* Of random bytes of the collector's too: an m1 that is answered twice, as after its restart, has
 * two answers under two keys. */
static void answer_key(uint8_t key[KEY_LEN], const uint8_t k1[KEY_LEN], const uint8_t *fresh)
{
	derive(key, k1, "answer", fresh, DERIVE_FRESH_LEN, NULL, 0);
}

static void welcome_write(uint8_t *message, const struct tryst_welcome *welcome)
{
	memcpy(message, welcome->ephemeral, KEY_LEN);
	store_be(message + 32, welcome->time_ns, 8);
	store_be(message + 40, welcome->window, 4);
	message[44] = welcome->flags;
	store_be(message + 45, welcome->sensor_id, 2);
}

long tryst_answer(uint8_t *out, uint8_t k2[KEY_LEN], const struct tryst_keys *keys,
		  const struct tryst_hello *hello, struct tryst_welcome *welcome, const uint8_t *in,
		  size_t in_len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX] = { 0 }, key[KEY_LEN], k1[KEY_LEN];
	uint8_t shared[2 * KEY_LEN];
	struct keypair ephemeral;
	size_t len = TRYST_WELCOME_LEN;
	int err;

	if (welcome->flags & TRYST_PADDED)
		len = SHROUD_DATAGRAM_PADDED - ANSWER_HEADER_LEN - DERIVE_TAG_LEN;
	if (first_key(k1, keys->pair, in, in_len, keys->own->secret, hello->ephemeral))
		return -EBADMSG;
	tryst_ephemeral(&ephemeral, keys->own->secret, welcome->time_ns);
	memcpy(welcome->ephemeral, ephemeral.public, KEY_LEN);
	welcome_write(message, welcome);
	derive(key, k1, "answer address", NULL, 0, NULL, 0);
	memcpy(out, key, 8);
	derive_fresh(out + 8, k1, message, len);
	answer_key(key, k1, out + 8);
	derive_seal(key, 0, out + ANSWER_HEADER_LEN, message, len);
	len += ANSWER_HEADER_LEN + DERIVE_TAG_LEN;
	err = derive_shared(shared, ephemeral.secret, hello->ephemeral) ||
	      derive_shared(shared + KEY_LEN, ephemeral.secret, keys->peer);
	if (!err)
		second_key(k2, k1, out, len, shared);
	sodium_memzero(key, sizeof(key));
	sodium_memzero(k1, sizeof(k1));
	sodium_memzero(shared, sizeof(shared));
	sodium_memzero(&ephemeral, sizeof(ephemeral));
	return err ? -EBADMSG : (long)len;
}

/* Opens an m2 under `a`'s address. Returns 0, -EPROTO or -EBADMSG. */
static int answer_open(const struct tryst_asked *a, uint8_t *message, const uint8_t *in, size_t len)
{
	uint8_t key[KEY_LEN];
	int err = -EBADMSG;

	if (len >= TRYST_ANSWER_MIN) {
		answer_key(key, a->k1, in + 8);
		err = derive_open(key, 0, message, in + ANSWER_HEADER_LEN, len - ANSWER_HEADER_LEN);
	}
	if (err) { /* version 1 mixed nothing in */
		derive(key, a->k1, "answer", NULL, 0, NULL, 0);
		err = derive_open(key, 0, message, in + 8, len - 8) ? -EBADMSG : -EPROTO;
	}
	sodium_memzero(key, sizeof(key));
	return err;
}

int tryst_finish(struct tryst_asked *a, const struct keypair *own, struct tryst_welcome *welcome,
		 uint8_t k2[KEY_LEN], const uint8_t *in, size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], shared[2 * KEY_LEN];
	int err;

	if (len < 8 + DERIVE_TAG_LEN || len > SHROUD_DATAGRAM_MAX ||
	    sodium_memcmp(in, a->answer, sizeof(a->answer)))
		return -EBADMSG;
	err = answer_open(a, message, in, len);
	if (err)
		return err;
	if (derive_shared(shared, a->ephemeral.secret, message) ||
	    derive_shared(shared + KEY_LEN, own->secret, message))
		return -EBADMSG;
	second_key(k2, a->k1, in, len, shared);
	sodium_memzero(shared, sizeof(shared));
	memcpy(welcome->ephemeral, message, KEY_LEN);
	welcome->time_ns = load_be(message + 32, 8);
	welcome->window = load_be(message + 40, 4);
	welcome->flags = message[44];
	welcome->sensor_id = load_be(message + 45, 2);
	/* An m1 is answered once. */
	sodium_memzero(a, sizeof(*a));
	randombytes_buf(a->answer, sizeof(a->answer));
	return 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

void tryst_session(uint8_t k2[KEY_LEN], struct shroud_keys *up, struct shroud_keys *down,
		   uint8_t chain[KEY_LEN])
{
	derive(up->address, k2, "up address", NULL, 0, NULL, 0);
	derive(up->seal, k2, "up seal", NULL, 0, NULL, 0);
	derive(down->address, k2, "down address", NULL, 0, NULL, 0);
	derive(down->seal, k2, "down seal", NULL, 0, NULL, 0);
	derive(chain, k2, "chain", NULL, 0, NULL, 0);
	sodium_memzero(k2, KEY_LEN);
}

int tryst_one_way(uint8_t k2[KEY_LEN], const uint8_t pair[KEY_LEN], const struct tryst_hello *hello,
		  const uint8_t secret[KEY_LEN], const uint8_t public[KEY_LEN])
{
	uint8_t front[KEY_LEN + 8], shared[KEY_LEN];
	int err = derive_shared(shared, secret, public);

	memcpy(front, hello->ephemeral, KEY_LEN);
	store_be(front + KEY_LEN, hello->run, 8);
	if (!err)
		derive(k2, pair, "one-way", front, sizeof(front), shared, KEY_LEN);
	sodium_memzero(shared, sizeof(shared));
	return err;
}

int tryst_renew(uint8_t k2[KEY_LEN], const uint8_t chain[KEY_LEN], const struct keypair *own,
		const uint8_t peer[KEY_LEN], bool own_is_sensor)
{
	uint8_t rest[2 * KEY_LEN];
	int err = derive_shared(rest + KEY_LEN, own->secret, peer);

	memcpy(rest, own_is_sensor ? peer : own->public, KEY_LEN);
	if (!err)
		derive(k2, chain, "renew", own_is_sensor ? own->public : peer, KEY_LEN, rest,
		       sizeof(rest));
	sodium_memzero(rest, sizeof(rest));
	return err;
}
