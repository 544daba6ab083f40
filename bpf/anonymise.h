/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Anonymise: replaces the addresses and names in a module's view with pseudonyms. In: a masked
 * view, the operator's key, and the method for each field. Out: the same view with pseudonyms.
 * Always holds: equal values have equal pseudonyms, on all sensors with this key. The prefix method
 * keeps common prefixes: two IP addresses with the same first n bits have pseudonyms with the same
 * first n bits (Xu, Fan, Ammar, Moon, "Prefix-Preserving IP Address Anonymization", 2002, with
 * SipHash instead of AES).
 */
#ifndef SALUKI_BPF_ANONYMISE_H
#define SALUKI_BPF_ANONYMISE_H

#include <saluki/module.h>

#include "siphash.h"

/* The kind is hashed with the value. Equal bytes of two kinds then have unrelated pseudonyms. */
enum { ANONYMISE_MAC = 1, ANONYMISE_SSID, ANONYMISE_IP, ANONYMISE_PREFIX };

struct anonymise_key {
	__u64 words[2];
};

struct anonymise_address {
	__u8 bytes[16];
	__u32 bits;   /* 32 or 128 */
	__u32 by_key; /* part of the map's key: a new secret needs new entries */
};

/* The prefix method computes one hash per bit, so recent addresses are cached. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct anonymise_address);
	__type(value, struct anonymise_address);
} saluki_addresses SEC(".maps");

static __always_inline __u64 anonymise_hash(const struct anonymise_key *key, __u64 a, __u64 b,
					    __u32 kind)
{
	struct siphash s;

	siphash_begin(&s, key->words);
	siphash_word(&s, a);
	siphash_word(&s, b);
	return siphash_end(&s, kind);
}

/* The broadcast address and an absent address stay as they are. */
static __always_inline void anonymise_mac(__u8 *mac, const struct anonymise_key *key)
{
	__u64 word = 0;

	__builtin_memcpy(&word, mac, 6);
	if (!word || word == 0xffffffffffffULL << (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 16 : 0))
		return;
	word = anonymise_hash(key, word, 0, ANONYMISE_MAC);
	/* The group bit stays. The local bit is set, since this address is made up. */
	mac[0] = (mac[0] & 1) | 2 | (word & 0xfc);
	__builtin_memcpy(mac + 1, (const __u8 *)&word + 1, 5);
}

static __always_inline void anonymise_ssid(struct frame_view *v, const struct anonymise_key *key)
{
	__u64 *words = (__u64 *)v->ssid, hash;

	/* A hidden SSID, empty or all zeros, identifies no network. */
	if (!(words[0] | words[1] | words[2] | words[3])) {
		v->ssid_len = 0;
		return;
	}
	hash = anonymise_hash(key, words[0], words[1], ANONYMISE_SSID);
	hash = anonymise_hash(key, hash ^ words[2], words[3], v->ssid_len);
	words[0] = hash;
	words[1] = words[2] = words[3] = 0;
	v->ssid_len = 8;
}

static __always_inline void anonymise_ip(__u8 *address, __u32 version,
					 const struct anonymise_key *key)
{
	__u64 *words = (__u64 *)address;
	__u64 a = anonymise_hash(key, words[0], words[1], ANONYMISE_IP);

	if (version == 4) {
		words[0] = 0;
		__builtin_memcpy(address, &a, 4);
	} else {
		words[1] = anonymise_hash(key, words[0], words[1], ANONYMISE_IP + 16);
		words[0] = a;
	}
}

/* The first `n` bits of 128, as two numbers. */
static __always_inline void prefix_of(__u64 hi, __u64 lo, __u32 n, __u64 *out_hi, __u64 *out_lo)
{
	*out_hi = n >= 64 ? hi : n ? hi & ~0ULL << (64 - n) : 0;
	*out_lo = n > 64 ? lo & ~0ULL << (128 - n) : 0;
}

static __always_inline void prefix_make(const struct anonymise_address *in,
					struct anonymise_address *out,
					const struct anonymise_key *key)
{
	__u64 hi, lo, flips[2] = { 0 };

	__builtin_memcpy(&hi, in->bytes, 8);
	__builtin_memcpy(&lo, in->bytes + 8, 8);
	hi = bpf_be64_to_cpu(hi);
	lo = bpf_be64_to_cpu(lo);
	for (__u32 i = 0; i < 128; i++) {
		__u64 prefix_hi, prefix_lo, bit;

		if (i >= in->bits)
			break;
		prefix_of(hi, lo, i, &prefix_hi, &prefix_lo);
		bit = anonymise_hash(key, prefix_hi, prefix_lo, ANONYMISE_PREFIX + i * 8) & 1;
		flips[0] |= i < 64 ? bit << (63 - i) : 0;
		flips[1] |= i < 64 ? 0 : bit << (127 - i);
	}
	hi = bpf_cpu_to_be64(hi ^ flips[0]);
	lo = bpf_cpu_to_be64(lo ^ flips[1]);
	__builtin_memcpy(out->bytes, &hi, 8);
	__builtin_memcpy(out->bytes + 8, &lo, 8);
}

static __always_inline void prefix_ip(__u8 *address, __u32 version, const struct anonymise_key *key)
{
	struct anonymise_address in = { .bits = version == 4 ? 32 : 128, .by_key = key->words[0] };
	struct anonymise_address out = { 0 }, *known;

	__builtin_memcpy(in.bytes, address, 16);
	known = bpf_map_lookup_elem(&saluki_addresses, &in);
	if (known) {
		__builtin_memcpy(address, known->bytes, 16);
		return;
	}
	prefix_make(&in, &out, key);
	bpf_map_update_elem(&saluki_addresses, &in, &out, BPF_ANY);
	__builtin_memcpy(address, out.bytes, 16);
}

/* `hashed`, `prefix`: VIEW_ bits. */
static __always_inline void anonymise(struct frame_view *v, const struct anonymise_key *key,
				      __u32 hashed, __u32 prefix)
{
	if (hashed & v->has & VIEW_MAC)
		for (int i = 0; i < 4; i++)
			anonymise_mac(v->addr[i], key);
	if (hashed & v->has & VIEW_SSID)
		anonymise_ssid(v, key);
	if (hashed & v->has & VIEW_IP) {
		anonymise_ip(v->saddr, v->ip_version, key);
		anonymise_ip(v->daddr, v->ip_version, key);
	} else if (prefix & v->has & VIEW_IP) {
		prefix_ip(v->saddr, v->ip_version, key);
		prefix_ip(v->daddr, v->ip_version, key);
	}
}

#endif
