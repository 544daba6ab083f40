// SPDX-License-Identifier: GPL-2.0
/* Uses everything that a policy can grant. */
// granted: all
#include <saluki/module.h>

static const __u32 primes[64] = { 2, 3, 5, 7 };
__u64 seen, last_ns[4];

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1000);
	__type(key, __u64);
	__type(value, __u64);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} sequences SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 100);
	__type(key, __u64);
	__type(value, __u64);
} each_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 100);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
} prefixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 100);
	__type(value, __u64);
} first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 100);
	__type(value, __u64);
} latest SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 100);
	__type(value, __u64);
} known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1000);
	__type(key, __u32);
	__type(value, __u8);
} small SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 300);
	__type(key, __u32);
	__type(value, __u32);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1000);
	__type(key, __u32);
	__type(value, __u8);
} large SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 100);
	__type(key, __u32);
	__type(value, __u64);
} recent SEC(".maps");

static __attribute__((noinline)) __u32 mix(__u64 a, __u32 i)
{
	return primes[i & 63] * (a >> 3);
}

int module(struct frame_view *v)
{
	__u64 key, now, *old;

	if (!v)
		return 0;
	key = mix(v->saddr[0], v->ttl);
	now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&seen, 1);
	last_ns[v->ttl & 3] = now;
	old = bpf_map_lookup_elem(&flows, &key);
	if (!old)
		bpf_map_update_elem(&flows, &key, &now, 0);
	for (int i = 0; i < 16; i++)
		key = key * 31 + v->payload[i];
	if (module_sample(64))
		module_emit(v, &key, sizeof(key));
	bpf_ringbuf_output(&sequences, &key, sizeof(key), 0);
	bpf_map_push_elem(&first, &key, 0);
	return 0;
}
