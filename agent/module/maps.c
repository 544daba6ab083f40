// SPDX-License-Identifier: GPL-2.0
/* Maps: see maps.h. */
#include "maps.h"

#include <ctype.h>
#include <linux/bpf.h>
#include <string.h>

#include "words.h"

#define MAP_SIDE_MAX (1 << 20) /* bytes per key or value */
#define MAP_ENTRIES_MAX (16 << 20)

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* Upper bounds from the kernel's map_alloc functions: kernel/bpf/arraymap.c, hashtab.c and so on. A
 * map within its bound is measured after it was made. */
uint64_t maps_bytes(const struct bpf_map *map)
{
	const uint64_t head = 1024, page = 4096, cpus = libbpf_num_possible_cpus();
	uint64_t key = bpf_map__key_size(map), value = round_up(bpf_map__value_size(map), 8);
	uint64_t n = bpf_map__max_entries(map);

	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
		return n > (1ULL << 30) ? UINT64_MAX : n + 4 * page;
	if (key > MAP_SIDE_MAX || value > MAP_SIDE_MAX || n > MAP_ENTRIES_MAX || cpus > 8192)
		return UINT64_MAX;
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
		return head + round_up(n * value, page);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return head + n * (8 + value * cpus);
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
		return head + 16 * power_of_two(n) + (n + cpus) * (64 + round_up(key, 8) + value) +
		       256 * cpus;
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return head + 16 * power_of_two(n) +
		       (n + cpus) * (72 + round_up(key, 8) + value * cpus) + 256 * cpus;
	case BPF_MAP_TYPE_LPM_TRIE: /* with a node between any two */
		return head + 2 * n * (64 + round_up(key, 8) + value);
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return head + (n + 1) * value;
	case BPF_MAP_TYPE_BLOOM_FILTER:
		return head + power_of_two(4 * n) * 8;
	default:
		return UINT64_MAX;
	}
}

static bool is_percpu_hash(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);

	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* One helper call copies, compares or hashes a whole key or value, and a trie is as deep as its
 * keys have bits. The verifier's count of instructions would not bound this work. A module cannot
 * pass its variables' maps to a helper. */
static bool takes_long(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);
	uint64_t value = bpf_map__value_size(map);

	if (bpf_map__is_internal(map))
		return false;
	if (bpf_map__key_size(map) > (type == BPF_MAP_TYPE_LPM_TRIE ? 4 + 16 : 256))
		return true;
	if (type == BPF_MAP_TYPE_BLOOM_FILTER)
		return value > 256 || bpf_map__map_extra(map);
	if (is_percpu_hash(map)) /* a new one is zeros on all other CPUs */
		value *= libbpf_num_possible_cpus();
	return value > 8192;
}

/* Names as a compiler makes them, since they become names of pins and entries in a consumer's
 * list. */
static bool is_name(const struct bpf_map *map)
{
	const char *c = bpf_map__name(map);

	while (isalnum((unsigned char)*c) || *c == '_' || (*c == '.' && bpf_map__is_internal(map)))
		c++;
	return !*c;
}

/* The kernel copies whole words of a module's value, and so reads beyond it: pcpu_init_value(),
 * kernel/bpf/hashtab.c. */
static bool takes_more(const struct bpf_map *map)
{
	return is_percpu_hash(map) && bpf_map__value_size(map) % 8;
}

const char *maps_denied(const struct bpf_map *map)
{
	uint32_t flags = bpf_map__map_flags(map);

	if (!strncmp(bpf_map__name(map), "saluki_", strlen("saluki_")))
		return "names with saluki_ are the capture's own; give it another";
	if (strlen(bpf_map__name(map)) >= MAPS_NAME_MAX)
		return "its name has more than 63 characters; give it a shorter one";
	if (!is_name(map))
		return "its name has other characters than letters, digits and _";
	if (bpf_map__pin_path(map))
		return "its map would be pinned, and another's of that name be its; remove "
		       "'pinning'";
	if (bpf_map__inner_map((struct bpf_map *)map))
		return "a map of maps; remove 'values'";
	if (!words_map_type_grantable(bpf_map__type(map)))
		return "no policy can grant a map of this type";
	if (takes_long(map))
		return "a call takes too long with it; a key has at most 256 bytes (a trie's 20), "
		       "a value 8192 (a percpu_hash's on all CPUs together; a bloom filter's "
		       "256, and no map_extra)";
	if (takes_more(map))
		return "its values are no whole words of 8 bytes; make them that";
	/* Such a map's memory grows after the check. A trie cannot be preallocated, but is
	 * bounded. */
	if (bpf_map__type(map) == BPF_MAP_TYPE_LPM_TRIE)
		flags &= ~BPF_F_NO_PREALLOC;
	if (flags & ~(BPF_F_MMAPABLE | BPF_F_RDONLY_PROG | BPF_F_NO_COMMON_LRU))
		return "its map_flags are none that a module can have; remove them";
	if (bpf_map__ifindex(map) || bpf_map__numa_node(map))
		return "its map would be elsewhere; remove 'numa_node'";
	return NULL;
}
