// SPDX-License-Identifier: GPL-2.0
/* X25519 of libsodium in one piece, so that its arithmetic is there once; without the multiples of
 * the base point, a table of 30 KB: wire/keys.c multiplies it like any other. And in place of what
 * sodium_init() prepares and the sensor does not use: nothing.
 *
 * Products are loops here, of the same limbs and in the same order as libsodium's, which has each
 * of their hundred terms by itself: 12 KB. Set-up alone takes any, on the control thread. */
#include <stdint.h>
#include <stdlib.h>

#define fe25519_add fe25519_add_unrolled
#define fe25519_sub fe25519_sub_unrolled
#define fe25519_cswap fe25519_cswap_unrolled
#define fe25519_mul fe25519_mul_unrolled
#define fe25519_sq fe25519_sq_unrolled
#include "private/ed25519_ref10.h"
#undef fe25519_add
#undef fe25519_sub
#undef fe25519_cswap
#undef fe25519_mul
#undef fe25519_sq

static void fe25519_add(fe25519 h, const fe25519 f, const fe25519 g)
{
	for (int i = 0; i < 10; i++)
		h[i] = f[i] + g[i];
}

static void fe25519_sub(fe25519 h, const fe25519 f, const fe25519 g)
{
	for (int i = 0; i < 10; i++)
		h[i] = f[i] - g[i];
}

/* `b` is 0 or 1. */
static void fe25519_cswap(fe25519 f, fe25519 g, unsigned int b)
{
	for (int i = 0; i < 10; i++) {
		int32_t x = (f[i] ^ g[i]) & -(int32_t)b;

		f[i] ^= x;
		g[i] ^= x;
	}
}

/* Of ten limbs, by turns of 26 and 25 bits (2^25.5 to the power of the index): h = f g modulo
 * 2^255 - 19. What lies beyond the last limb comes back 19 times, and two odd limbs' product twice.
 * No index and no branch depends on a limb. */
static void fe25519_mul(fe25519 h, const fe25519 f, const fe25519 g)
{
	int64_t sum[10], carry;

	for (int k = 0; k < 10; k++) {
		sum[k] = 0;
		for (int i = 0; i < 10; i++) {
			int j = i <= k ? k - i : k - i + 10;
			int32_t a = i & j & 1 ? 2 * f[i] : f[i];
			int32_t b = i <= k ? g[j] : 19 * g[j];

			sum[k] += a * (int64_t)b;
		}
	}
	/* Twice from limb to limb, so that each is of its bits again: as libsodium's bounds want.
	 */
	for (int k = 0; k < 20; k++) {
		int i = k % 10, bits = 26 - (i & 1);

		carry = (sum[i] + ((int64_t)1 << (bits - 1))) >> bits;
		sum[i] -= carry * ((int64_t)1 << bits);
		if (i == 9)
			sum[0] += carry * 19;
		else
			sum[i + 1] += carry;
	}
	for (int k = 0; k < 10; k++)
		h[k] = (int32_t)sum[k];
}

static void fe25519_sq(fe25519 h, const fe25519 f)
{
	fe25519_mul(h, f, f);
}

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
