// SPDX-License-Identifier: GPL-2.0
/* Derive: see derive.h. Leaves no secret on the stack. */
#include "derive.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

#define STACK_DIRTY 2048 /* bytes of stack that BLAKE2b uses */
#define aead_seal crypto_aead_chacha20poly1305_ietf_encrypt
#define aead_open crypto_aead_chacha20poly1305_ietf_decrypt

_Static_assert(DERIVE_TAG_LEN == crypto_aead_chacha20poly1305_ietf_ABYTES, "Poly1305");

/* libsodium wipes its states, but not all copies of them. This function and the one before it use
 * the same part of the stack, which is then wiped. */
__attribute__((noinline)) static void wipe_below(void)
{
	sodium_stackzero(STACK_DIRTY);
}

__attribute__((noinline)) static void hash(uint8_t out[KEY_LEN], const uint8_t key[KEY_LEN],
					   const char *label, const void *a, size_t a_len,
					   const void *b, size_t b_len)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, key, KEY_LEN, KEY_LEN);
	crypto_generichash_update(&state, (const uint8_t *)"saluki1 ", 8);
	crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
	if (a_len)
		crypto_generichash_update(&state, a, a_len);
	if (b_len)
		crypto_generichash_update(&state, b, b_len);
	crypto_generichash_final(&state, out, KEY_LEN);
	sodium_memzero(&state, sizeof(state));
}

void derive(uint8_t out[KEY_LEN], const uint8_t key[KEY_LEN], const char *label, const void *a,
	    size_t a_len, const void *b, size_t b_len)
{
	hash(out, key, label, a, a_len, b, b_len);
	wipe_below();
}

void derive_hash(uint8_t out[KEY_LEN], const void *in, size_t len)
{
	crypto_generichash(out, KEY_LEN, in, len, NULL, 0);
}

void derive_fresh(uint8_t out[DERIVE_FRESH_LEN], const uint8_t key[KEY_LEN], const uint8_t *message,
		  size_t len)
{
	uint8_t random[KEY_LEN], full[KEY_LEN];

	randombytes_buf(random, sizeof(random));
	derive(full, key, "random", random, sizeof(random), message, len);
	memcpy(out, full, DERIVE_FRESH_LEN);
	sodium_memzero(random, sizeof(random));
	sodium_memzero(full, sizeof(full));
}

int derive_shared(uint8_t out[KEY_LEN], const uint8_t secret[KEY_LEN],
		  const uint8_t public[KEY_LEN])
{
	return crypto_scalarmult(out, secret, public) ? -EBADMSG : 0;
}

static void nonce_write(uint8_t nonce[12], uint64_t n)
{
	memset(nonce, 0, 4);
	store_be(nonce + 4, n, 8);
}

void derive_seal(const uint8_t key[KEY_LEN], uint64_t n, uint8_t *out, const uint8_t *in,
		 size_t len)
{
	uint8_t nonce[12];

	nonce_write(nonce, n);
	aead_seal(out, NULL, in, len, NULL, 0, NULL, nonce, key);
}

int derive_open(const uint8_t key[KEY_LEN], uint64_t n, uint8_t *out, const uint8_t *in, size_t len)
{
	uint8_t nonce[12];

	nonce_write(nonce, n);
	return aead_open(out, NULL, NULL, in, len, NULL, 0, nonce, key) ? -EBADMSG : 0;
}
