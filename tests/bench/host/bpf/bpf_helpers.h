/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces libbpf's header of this name for a module compiled for user space
 * (tests/bench/modules_cost.c): maps are plain memory. A hash table has open addresses and one key
 * per line; in a full bucket of an LRU table the oldest is replaced. There is one thread, so
 * per-CPU values are plain. All sizes are known at each use, and the compiler turns an array lookup
 * into an index.
 */
#ifndef BENCH_HOST_HELPERS_H
#define BENCH_HOST_HELPERS_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEC(name)
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#undef __noinline
#define __noinline __attribute__((noinline))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[]

#define HOST_WAYS 8 /* possible places of a key */

struct host_map {
	void *memory; /* in place of the member `type` */
};

/* A place in a hash table: time of last use (0: free), key, value. */
#define HOST_UP(n) (((n) + 7) & ~7UL)

static inline __u64 host_hash(const void *key, unsigned long len)
{
	__u64 h = len, word;

	for (; len >= 8; len -= 8, key = (const char *)key + 8) {
		memcpy(&word, key, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	if (len) {
		word = 0;
		memcpy(&word, key, len);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	}
	return h ^ h >> 32;
}

static inline unsigned long host_buckets(unsigned long entries)
{
	unsigned long n = 1;

	while (n * HOST_WAYS < entries * 2)
		n *= 2;
	return n;
}

static inline void *host_memory(struct host_map *m, unsigned long bytes)
{
	if (__builtin_expect(!m->memory, 0))
		m->memory = calloc(1, bytes);
	return m->memory;
}

/* Returns the key's place, or with `add` a place for it: a free one, or the least recently used. */
static inline char *host_place(struct host_map *m, const void *key, unsigned long key_len,
			       unsigned long value_len, unsigned long entries, int add)
{
	const unsigned long stride = 8 + HOST_UP(key_len) + HOST_UP(value_len);
	const unsigned long buckets = host_buckets(entries);
	char *at = host_memory(m, buckets * HOST_WAYS * stride), *best;
	static __u64 clock;

	at += (host_hash(key, key_len) & (buckets - 1)) * HOST_WAYS * stride;
	best = at;
	for (int i = 0; i < HOST_WAYS; i++, at += stride) {
		if (*(__u64 *)at && !memcmp(at + 8, key, key_len)) {
			*(__u64 *)at = ++clock;
			return at;
		}
		if (*(__u64 *)at < *(__u64 *)best)
			best = at;
	}
	if (!add)
		return NULL;
	*(__u64 *)best = ++clock;
	memcpy(best + 8, key, key_len);
	return best;
}

static inline int host_is_array(int type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static __always_inline void *host_lookup(struct host_map *m, int type, const void *key,
					 unsigned long key_len, unsigned long value_len,
					 unsigned long entries)
{
	char *place;

	if (host_is_array(type)) {
		__u32 i = *(const __u32 *)key;

		return i < entries ? (char *)host_memory(m, entries * HOST_UP(value_len)) +
					     i * HOST_UP(value_len)
				   : NULL;
	}
	place = host_place(m, key, key_len, value_len, entries, 0);
	return place ? place + 8 + HOST_UP(key_len) : NULL;
}

static __always_inline long host_update(struct host_map *m, int type, const void *key,
					unsigned long key_len, const void *value,
					unsigned long value_len, unsigned long entries, __u64 flags)
{
	char *place = host_lookup(m, type, key, key_len, value_len, entries);

	if ((place && flags == BPF_NOEXIST) || (!place && flags == BPF_EXIST))
		return -1;
	if (!place && host_is_array(type))
		return -1;
	if (!place)
		place = host_place(m, key, key_len, value_len, entries, 1) + 8 + HOST_UP(key_len);
	memcpy(place, value, value_len);
	return 0;
}

static __always_inline long host_delete(struct host_map *m, int type, const void *key,
					unsigned long key_len, unsigned long value_len,
					unsigned long entries)
{
	char *place = host_is_array(type) ? NULL
					  : host_place(m, key, key_len, value_len, entries, 0);

	if (!place)
		return -1;
	*(__u64 *)place = 0;
	return 0;
}

#define HOST_MAP(m) ((struct host_map *)(void *)(m))
#define HOST_NUMBER(m, member) (sizeof(*(m)->member) / sizeof(int))
#define bpf_map_lookup_elem(m, k)                                                                  \
	host_lookup(HOST_MAP(m), HOST_NUMBER(m, type), k, sizeof(*(m)->key), sizeof(*(m)->value),  \
		    HOST_NUMBER(m, max_entries))
#define bpf_map_update_elem(m, k, v, flags)                                                        \
	host_update(HOST_MAP(m), HOST_NUMBER(m, type), k, sizeof(*(m)->key), v,                    \
		    sizeof(*(m)->value), HOST_NUMBER(m, max_entries), flags)
#define bpf_map_delete_elem(m, k)                                                                  \
	host_delete(HOST_MAP(m), HOST_NUMBER(m, type), k, sizeof(*(m)->key), sizeof(*(m)->value),  \
		    HOST_NUMBER(m, max_entries))

static inline __u64 bpf_ktime_get_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline __u32 bpf_get_prandom_u32(void)
{
	static __u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 32;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

#endif
