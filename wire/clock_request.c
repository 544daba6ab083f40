// SPDX-License-Identifier: GPL-2.0
/* Clock request: see clock_request.h. */
#include "clock_request.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"
#include "shroud.h"
#include "tryst.h"

#define RANDOM_LEN 16
#define MAC_LEN crypto_shorthash_BYTES
#define KEY_AT (RANDOM_LEN + MAC_LEN)
#define SEALED_AT (KEY_AT + KEY_LEN)

_Static_assert(MAC_LEN == 8 && crypto_shorthash_KEYBYTES == 16, "SipHash-2-4");

void clock_keys_init(struct clock_keys *k, const uint8_t collector[KEY_LEN])
{
	uint8_t full[KEY_LEN];

	derive(full, collector, "clock mac", NULL, 0, NULL, 0);
	memcpy(k->mac, full, sizeof(k->mac));
	sodium_memzero(full, sizeof(full));
}

/* E, or what hides it, at KEY_AT of a question. */
static void mask(uint8_t out[KEY_LEN], const uint8_t *key, const uint8_t collector[KEY_LEN],
		 const uint8_t *r)
{
	uint8_t stream[KEY_LEN];

	derive(stream, collector, "clock mask", r, RANDOM_LEN, NULL, 0);
	for (int i = 0; i < KEY_LEN; i++)
		out[i] = key[i] ^ stream[i];
}

static int question_key(uint8_t key[KEY_LEN], const uint8_t secret[KEY_LEN],
			const uint8_t public[KEY_LEN], const uint8_t *r)
{
	uint8_t shared[KEY_LEN];
	int err = derive_shared(shared, secret, public);

	if (!err)
		derive(key, shared, "clock", r, RANDOM_LEN, NULL, 0);
	sodium_memzero(shared, sizeof(shared));
	return err;
}

int clock_ask(uint8_t key[KEY_LEN], uint8_t *out, size_t len, const struct keypair *own,
	      const uint8_t collector[KEY_LEN], uint64_t time_ns)
{
	uint8_t zeros[SHROUD_DATAGRAM_MAX] = { 0 };
	struct clock_keys keys;
	struct keypair e;
	int err;

	clock_keys_init(&keys, collector);
	tryst_ephemeral(&e, own->secret, time_ns);
	randombytes_buf(out, RANDOM_LEN);
	crypto_shorthash(out + RANDOM_LEN, out, RANDOM_LEN, keys.mac);
	mask(out + KEY_AT, e.public, collector, out);
	err = question_key(key, e.secret, collector, out);
	if (!err)
		derive_seal(key, 0, out + SEALED_AT, zeros, len - SEALED_AT - DERIVE_TAG_LEN);
	sodium_memzero(&e, sizeof(e));
	return err ? -EINVAL : 0;
}

bool clock_plausible(const struct clock_keys *k, const uint8_t *in, size_t len)
{
	uint8_t mac[MAC_LEN];

	if (len < CLOCK_REQUEST_MIN || len > SHROUD_DATAGRAM_MAX)
		return false;
	crypto_shorthash(mac, in, RANDOM_LEN, k->mac);
	return load_word(mac) == load_word(in + RANDOM_LEN); /* one comparison: no time to tell */
}

long clock_answer(uint8_t *out, const struct keypair *own, uint64_t time_ns, const uint8_t *in,
		  size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], e[KEY_LEN], key[KEY_LEN], derived[KEY_LEN];
	size_t zeros = len > SHROUD_DATAGRAM_PADDED ? SHROUD_DATAGRAM_PADDED : len;

	if (len < CLOCK_REQUEST_MIN || len > SHROUD_DATAGRAM_MAX)
		return -EBADMSG;
	mask(e, in + KEY_AT, own->public, in);
	if (question_key(key, own->secret, e, in) ||
	    derive_open(key, 0, message, in + SEALED_AT, len - SEALED_AT))
		return -EBADMSG;
	/* As long as the question where that was padded; else as short as can be. */
	zeros = zeros >= SHROUD_DATAGRAM_PADDED ? zeros - CLOCK_ANSWER_MIN : 0;
	memset(message, 0, sizeof(message));
	store_be(message, time_ns, 8);
	derive(derived, key, "clock address", NULL, 0, NULL, 0);
	memcpy(out, derived, 8);
	derive(derived, key, "clock answer", NULL, 0, NULL, 0);
	derive_seal(derived, 0, out + 8, message, 8 + zeros);
	sodium_memzero(key, sizeof(key));
	sodium_memzero(derived, sizeof(derived));
	return CLOCK_ANSWER_MIN + zeros;
}

int clock_answered(uint8_t key[KEY_LEN], uint64_t *time_ns, const uint8_t *in, size_t len)
{
	uint8_t message[SHROUD_DATAGRAM_MAX], derived[KEY_LEN];
	int err;

	if (len < CLOCK_ANSWER_MIN || len > SHROUD_DATAGRAM_MAX)
		return -EBADMSG;
	derive(derived, key, "clock address", NULL, 0, NULL, 0);
	if (sodium_memcmp(derived, in, 8))
		return -EBADMSG;
	derive(derived, key, "clock answer", NULL, 0, NULL, 0);
	err = derive_open(derived, 0, message, in + 8, len - 8);
	sodium_memzero(derived, sizeof(derived));
	if (err)
		return err;
	*time_ns = load_be(message, 8);
	sodium_memzero(key, KEY_LEN);
	return 0;
}
