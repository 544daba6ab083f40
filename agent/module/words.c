// SPDX-License-Identifier: GPL-2.0
/* Words: see words.h. */
#include "words.h"

#include <linux/bpf.h>
#include <string.h>

#define NAME(x) [BPF_FUNC_##x] = #x
static const char *const helpers[] = { __BPF_FUNC_MAPPER(NAME) };
#define HELPERS (sizeof(helpers) / sizeof(helpers[0]))

/* clang-format off */
static const uint8_t helpers_grantable[] = {
	BPF_FUNC_map_lookup_elem,
	BPF_FUNC_map_update_elem,
	BPF_FUNC_map_delete_elem,
	BPF_FUNC_map_push_elem,
	BPF_FUNC_map_pop_elem,
	BPF_FUNC_map_peek_elem,
	BPF_FUNC_map_lookup_percpu_elem,
	BPF_FUNC_ktime_get_ns,
	BPF_FUNC_ktime_get_boot_ns,
	BPF_FUNC_ktime_get_coarse_ns,
	BPF_FUNC_ktime_get_tai_ns,
	BPF_FUNC_jiffies64,
	BPF_FUNC_get_prandom_u32,
	BPF_FUNC_get_smp_processor_id,
	BPF_FUNC_get_numa_node_id,
	BPF_FUNC_ringbuf_output,
	BPF_FUNC_ringbuf_reserve,
	BPF_FUNC_ringbuf_submit,
	BPF_FUNC_ringbuf_discard,
	BPF_FUNC_ringbuf_query,
};
/* clang-format on */

static const char *const map_types[] = {
	[BPF_MAP_TYPE_UNSPEC] = "unspec",
	[BPF_MAP_TYPE_HASH] = "hash",
	[BPF_MAP_TYPE_ARRAY] = "array",
	[BPF_MAP_TYPE_PROG_ARRAY] = "prog_array",
	[BPF_MAP_TYPE_PERF_EVENT_ARRAY] = "perf_event_array",
	[BPF_MAP_TYPE_PERCPU_HASH] = "percpu_hash",
	[BPF_MAP_TYPE_PERCPU_ARRAY] = "percpu_array",
	[BPF_MAP_TYPE_STACK_TRACE] = "stack_trace",
	[BPF_MAP_TYPE_CGROUP_ARRAY] = "cgroup_array",
	[BPF_MAP_TYPE_LRU_HASH] = "lru_hash",
	[BPF_MAP_TYPE_LRU_PERCPU_HASH] = "lru_percpu_hash",
	[BPF_MAP_TYPE_LPM_TRIE] = "lpm_trie",
	[BPF_MAP_TYPE_ARRAY_OF_MAPS] = "array_of_maps",
	[BPF_MAP_TYPE_HASH_OF_MAPS] = "hash_of_maps",
	[BPF_MAP_TYPE_DEVMAP] = "devmap",
	[BPF_MAP_TYPE_SOCKMAP] = "sockmap",
	[BPF_MAP_TYPE_CPUMAP] = "cpumap",
	[BPF_MAP_TYPE_XSKMAP] = "xskmap",
	[BPF_MAP_TYPE_SOCKHASH] = "sockhash",
	[BPF_MAP_TYPE_CGROUP_STORAGE] = "cgroup_storage",
	[BPF_MAP_TYPE_REUSEPORT_SOCKARRAY] = "reuseport_sockarray",
	[BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE] = "percpu_cgroup_storage",
	[BPF_MAP_TYPE_QUEUE] = "queue",
	[BPF_MAP_TYPE_STACK] = "stack",
	[BPF_MAP_TYPE_SK_STORAGE] = "sk_storage",
	[BPF_MAP_TYPE_DEVMAP_HASH] = "devmap_hash",
	[BPF_MAP_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_MAP_TYPE_RINGBUF] = "ringbuf",
	[BPF_MAP_TYPE_INODE_STORAGE] = "inode_storage",
	[BPF_MAP_TYPE_TASK_STORAGE] = "task_storage",
	[BPF_MAP_TYPE_BLOOM_FILTER] = "bloom_filter",
	[BPF_MAP_TYPE_USER_RINGBUF] = "user_ringbuf",
};
#define MAP_TYPES (sizeof(map_types) / sizeof(map_types[0]))

static const uint8_t map_types_grantable[] = {
	BPF_MAP_TYPE_ARRAY,	   BPF_MAP_TYPE_HASH,	  BPF_MAP_TYPE_PERCPU_ARRAY,
	BPF_MAP_TYPE_PERCPU_HASH,  BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_LRU_PERCPU_HASH,
	BPF_MAP_TYPE_LPM_TRIE,	   BPF_MAP_TYPE_QUEUE,	  BPF_MAP_TYPE_STACK,
	BPF_MAP_TYPE_BLOOM_FILTER, BPF_MAP_TYPE_RINGBUF,
};

const char *words_helper_name(uint32_t number)
{
	return number < HELPERS ? helpers[number] : NULL;
}

const char *words_map_type_name(uint32_t type)
{
	return type < MAP_TYPES ? map_types[type] : NULL;
}

bool words_helper_grantable(uint32_t number)
{
	return number && number < 256 &&
	       memchr(helpers_grantable, number, sizeof(helpers_grantable));
}

bool words_map_type_grantable(uint32_t type)
{
	return type && type < 256 && memchr(map_types_grantable, type, sizeof(map_types_grantable));
}

int words_helper(const char *name)
{
	for (size_t i = 0; i < sizeof(helpers_grantable); i++)
		if (!strcmp(helpers[helpers_grantable[i]], name))
			return helpers_grantable[i];
	return -1;
}

int words_map_type(const char *name)
{
	for (size_t i = 0; i < sizeof(map_types_grantable); i++)
		if (!strcmp(map_types[map_types_grantable[i]], name))
			return map_types_grantable[i];
	return -1;
}
