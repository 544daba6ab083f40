// SPDX-License-Identifier: GPL-2.0
/*
 * Trajectory: reports a sample of the passing packets. All sensors sample the same packets
 * (trajectory.h), by a label that the capture computes with the fleet's key. Without the key,
 * nobody can make packets that are sampled, or that avoid it. A flow's addresses are reported once,
 * as in FLAME's module.
 *
 * Takes: Show = label, ip, ports (each of the last two may be hashed, by the same key on all
 * sensors, or missing); Helper = map_lookup_elem, map_update_elem; Map = array, lru_hash;
 * MapMemory = 2M.
 */
#include <saluki/module.h>

#include "trajectory.h"

struct flow {
	__u64 packets; /* sampled packets */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64); /* trajectory_event.flow */
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trajectory_settings);
} settings SEC(".maps");

/* MurmurHash3's finalizer over each word. It has no key, and collisions are rare. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash ^= word;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return hash ^ hash >> 33;
}

/* g(x) */
static __always_inline __u64 flow_of(const struct frame_view *v)
{
	const __u64 *from = (const __u64 *)v->saddr, *to = (const __u64 *)v->daddr;
	__u64 hash = mix(0, (__u64)v->sport << 32 | (__u64)v->dport << 16 | v->ip_protocol);

	hash = mix(mix(hash, from[0]), to[0]);
	return v->ip_version == 6 ? mix(mix(hash, from[1]), to[1]) : hash;
}

/* Whether the event includes the flow's addresses. */
static __always_inline int flow_count(__u64 id)
{
	struct flow *f = bpf_map_lookup_elem(&flows, &id), first = { .packets = 1 };

	if (!f) {
		bpf_map_update_elem(&flows, &id, &first, BPF_ANY);
		return 1;
	}
	return !(f->packets++ & (TRAJECTORY_ADDRESSES_EACH - 1));
}

static __always_inline __u32 rate(void)
{
	__u32 zero = 0;
	struct trajectory_settings *s = bpf_map_lookup_elem(&settings, &zero);

	return s && s->below ? s->below : TRAJECTORY_BELOW;
}

int module(struct frame_view *v)
{
	struct trajectory_event e = { 0 };

	if (!(v->has & VIEW_LABEL))
		return 0;
	e.below = rate();
	if ((__u32)v->label >= e.below)
		return 0;
	e.label = v->label;
	e.flow = flow_of(v);
	e.len = v->ip_len;
	e.sport = v->sport;
	e.dport = v->dport;
	e.ip_version = v->ip_version;
	e.ip_protocol = v->ip_protocol;
	e.ttl = v->ttl;
	e.tos = v->tos;
	if (!flow_count(e.flow)) {
		module_emit(v, &e, TRAJECTORY_SHORT);
		return 0;
	}
	__builtin_memcpy(e.saddr, v->saddr, sizeof(e.saddr));
	__builtin_memcpy(e.daddr, v->daddr, sizeof(e.daddr));
	module_emit(v, &e, sizeof(e));
	return 0;
}
