/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same keys in every run: libsodium's random numbers are generated from a counter, so that an
 * input always behaves the same. For harnesses only.
 */
#ifndef TESTS_FUZZ_RANDOM_H
#define TESTS_FUZZ_RANDOM_H

#include <sodium.h>

#include "fuzz.h"
#include "wire/keys.h"

static uint64_t fuzz_random_state;

static uint32_t fuzz_random(void)
{
	/* Knuth's MMIX generator: any will do. */
	fuzz_random_state = fuzz_random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return fuzz_random_state >> 32;
}

static void fuzz_random_buffer(void *out, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)out)[i] = fuzz_random();
}

static const char *fuzz_random_name(void)
{
	return "counted";
}

/* In place of keys_init. */
static inline void fuzz_random_init(void)
{
	static struct randombytes_implementation counted = {
		.implementation_name = fuzz_random_name,
		.random = fuzz_random,
		.buf = fuzz_random_buffer,
	};

	randombytes_set_implementation(&counted);
	CHECK(keys_init() == 0);
}

static inline void fuzz_keypair(struct keypair *pair)
{
	key_generate(pair->secret);
	CHECK(key_public(pair->public, pair->secret) == 0);
}

#endif
