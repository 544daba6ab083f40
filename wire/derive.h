/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Derive: the function B of docs/wire.md, from which every key and address of the protocol comes,
 * and the protocol's one way to seal.
 */
#ifndef WIRE_DERIVE_H
#define WIRE_DERIVE_H

#include <stddef.h>
#include <stdint.h>

#include "keys.h"

#define DERIVE_TAG_LEN 16
#define DERIVE_FRESH_LEN 16

/* out = BLAKE2b-256, keyed with `key`, of "saluki1 " label 0 and up to two inputs. `out` may be
 * `key`. */
void derive(uint8_t out[KEY_LEN], const uint8_t key[KEY_LEN], const char *label, const void *a,
	    size_t a_len, const void *b, size_t b_len);
/* out = BLAKE2b-256 of the input. */
void derive_hash(uint8_t out[KEY_LEN], const void *in, size_t len);
/* Fresh bytes for a key that seals one message only. They depend on getrandom(2) and on the
 * message. So a machine that is resumed twice from one snapshot never seals two messages with one
 * key. */
void derive_fresh(uint8_t out[DERIVE_FRESH_LEN], const uint8_t key[KEY_LEN], const uint8_t *message,
		  size_t len);
/* X25519. Returns 0, or -EBADMSG if `public` is a point of low order. */
int derive_shared(uint8_t out[KEY_LEN], const uint8_t secret[KEY_LEN],
		  const uint8_t public[KEY_LEN]);
/* ChaCha20-Poly1305 with nonce `n`; out takes len + DERIVE_TAG_LEN. */
void derive_seal(const uint8_t key[KEY_LEN], uint64_t n, uint8_t *out, const uint8_t *in,
		 size_t len);
/* `len` includes the tag; out takes len - DERIVE_TAG_LEN. Returns 0, or -EBADMSG; then `out` must
 * not be used. */
int derive_open(const uint8_t key[KEY_LEN], uint64_t n, uint8_t *out, const uint8_t *in,
		size_t len);

#endif
