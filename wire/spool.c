// SPDX-License-Identifier: GPL-2.0
/* Spool: see spool.h. */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "bytes.h"

#define SEALED_AT DERIVE_FRESH_LEN

/* B(P, "spool", DH(e, C) ‖ E). */
static int wrap_key(uint8_t out[KEY_LEN], const uint8_t pair[KEY_LEN],
		    const uint8_t secret[KEY_LEN], const uint8_t public[KEY_LEN],
		    const uint8_t ephemeral[KEY_LEN])
{
	uint8_t shared[KEY_LEN];
	int err = derive_shared(shared, secret, public);

	if (!err)
		derive(out, pair, "spool", shared, KEY_LEN, ephemeral, KEY_LEN);
	sodium_memzero(shared, sizeof(shared));
	return err;
}

int spool_wrap(uint8_t wrapped[SPOOL_WRAPPED_LEN], const struct keypair *own,
	       const uint8_t pair[KEY_LEN], const uint8_t peer[KEY_LEN], const uint8_t key[KEY_LEN])
{
	uint8_t wrap[KEY_LEN];
	int err = wrap_key(wrap, pair, own->secret, peer, own->public);

	if (!err)
		derive_seal(wrap, 0, wrapped, key, KEY_LEN);
	sodium_memzero(wrap, sizeof(wrap));
	return err;
}

int spool_unwrap(uint8_t key[KEY_LEN], const uint8_t hello[SPOOL_HELLO_LEN],
		 const struct keypair *own, const uint8_t pair[KEY_LEN])
{
	uint8_t wrap[KEY_LEN];
	int err = wrap_key(wrap, pair, own->secret, hello, hello);

	err = err ?: derive_open(wrap, 0, key, hello + KEY_LEN, SPOOL_WRAPPED_LEN);
	sodium_memzero(wrap, sizeof(wrap));
	return err;
}

static void record_key(uint8_t out[KEY_LEN], const uint8_t key[KEY_LEN], const uint8_t *fresh)
{
	derive(out, key, "record", fresh, DERIVE_FRESH_LEN, NULL, 0);
}

size_t spool_seal(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t run, uint64_t count,
		  const uint8_t *combo, size_t len)
{
	uint8_t *plain = out + SEALED_AT, own[KEY_LEN];

	memmove(plain + SPOOL_NAME_LEN, combo, len);
	store_be(plain, run, 8);
	store_be(plain + 8, count, 8);
	derive_fresh(out, key, plain, SPOOL_NAME_LEN + len);
	record_key(own, key, out);
	derive_seal(own, 0, plain, plain, SPOOL_NAME_LEN + len);
	sodium_memzero(own, sizeof(own));
	return len + SPOOL_RECORD_OVERHEAD;
}

uint8_t *spool_open(uint8_t *out, size_t *combo_len, const uint8_t key[KEY_LEN], uint64_t run,
		    uint64_t count, const uint8_t *record, size_t len)
{
	uint8_t own[KEY_LEN];
	int err;

	if (len < SPOOL_RECORD_OVERHEAD || len > SPOOL_RECORD_MAX)
		return NULL;
	record_key(own, key, record);
	err = derive_open(own, 0, out, record + SEALED_AT, len - SEALED_AT);
	sodium_memzero(own, sizeof(own));
	if (err || load_be(out, 8) != run || load_be(out + 8, 8) != count)
		return NULL;
	*combo_len = len - SPOOL_RECORD_OVERHEAD;
	return out + SPOOL_NAME_LEN;
}
