// SPDX-License-Identifier: GPL-2.0
/* X25519 of libsodium in one piece, so that its arithmetic is there once; without the multiples of
 * the base point, a table of 30 KB: wire/keys.c multiplies it like any other. And in place of what
 * sodium_init() prepares and the sensor does not use: nothing. */
#include <stdlib.h>

#include "crypto_core/ed25519/ref10/ed25519_ref10.c"

#define ge25519_scalarmult_base(h, a) abort()
#include "crypto_scalarmult/curve25519/ref10/x25519_ref10.c"

int _crypto_pwhash_argon2_pick_best_implementation(void);
int _crypto_stream_salsa20_pick_best_implementation(void);

int _crypto_pwhash_argon2_pick_best_implementation(void)
{
	return 0;
}

int _crypto_stream_salsa20_pick_best_implementation(void)
{
	return 0;
}
