/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of X25519, which takes nearly all the time of a harness with many handshakes: products
 * modulo a prime. Both ends get the same value, others a different one, and zero is refused; it is
 * not secret otherwise. fuzz_tryst.c uses the real one. For harnesses only.
 */
#ifndef TESTS_FUZZ_X25519_H
#define TESTS_FUZZ_X25519_H

#include <sodium.h>
#include <string.h>

#define FUZZ_PRIME ((1ULL << 61) - 1)

int crypto_scalarmult(unsigned char *out, const unsigned char *secret, const unsigned char *public)
{
	unsigned long long a, b, product;

	memcpy(&a, secret, sizeof(a));
	memcpy(&b, public, sizeof(b));
	product = (unsigned __int128)(a % FUZZ_PRIME) * (b % FUZZ_PRIME) % FUZZ_PRIME;
	memset(out, 0, crypto_scalarmult_BYTES);
	memcpy(out, &product, sizeof(product));
	return product ? 0 : -1;
}

#endif
