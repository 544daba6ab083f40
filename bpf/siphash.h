/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-1-3 (Aumasson and Bernstein, 2012) of 64-bit words. Outputs reveal neither the key nor
 * other outputs. Compiled for BPF and for the host.
 */
#ifndef SALUKI_BPF_SIPHASH_H
#define SALUKI_BPF_SIPHASH_H

struct siphash {
	unsigned long long v0, v1, v2, v3;
};

#define siphash_rotate(x, n) ((x) << (n) | (x) >> (64 - (n)))
#define siphash_inline static inline __attribute__((always_inline))

siphash_inline void siphash_round(struct siphash *s)
{
	s->v0 += s->v1;
	s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
	s->v0 = siphash_rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
	s->v2 = siphash_rotate(s->v2, 32);
}

siphash_inline void siphash_begin(struct siphash *s, const unsigned long long key[2])
{
	s->v0 = key[0] ^ 0x736f6d6570736575ULL;
	s->v1 = key[1] ^ 0x646f72616e646f6dULL;
	s->v2 = key[0] ^ 0x6c7967656e657261ULL;
	s->v3 = key[1] ^ 0x7465646279746573ULL;
}

siphash_inline void siphash_word(struct siphash *s, unsigned long long word)
{
	s->v3 ^= word;
	siphash_round(s);
	s->v0 ^= word;
}

/* `len`: number of bytes hashed. */
siphash_inline unsigned long long siphash_end(struct siphash *s, unsigned int len)
{
	siphash_word(s, (unsigned long long)len << 56);
	s->v2 ^= 0xff;
	siphash_round(s);
	siphash_round(s);
	siphash_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif
