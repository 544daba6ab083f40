// SPDX-License-Identifier: GPL-2.0
/*
 * Airtime: measures each transmitter's airtime and retransmissions (airtime.h). In: frames with
 * radiotap headers and addresses. Out: two maps, and from time to time an event for each active
 * station.
 *
 *     Show = radiotap, mac
 *     Helper = map_lookup_elem, map_update_elem
 *     Map = hash, percpu_array, lru_hash
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "airtime.h"

#define MS 1000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, AIRTIME_STATIONS);
	__type(key, struct airtime_station);
	__type(value, struct airtime);
} stations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AIRTIME_CHANNELS);
	__type(key, __u32);
	__type(value, struct airtime);
} channels SEC(".maps");

/* The A-MPDU of this CPU's last frame. All frames of an A-MPDU reach the same CPU. */
struct ampdu {
	__u64 from; /* its transmitter */
	__u32 number, pad;
	__u64 bits;    /* of its frames so far, */
	__u64 data_ns; /* and the time they took */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ampdu);
} ampdus SEC(".maps");

#define ADD(counter, n) __sync_fetch_and_add(&(counter), (n))

/* ---- time ------------------------------------------------------------------------------------ */

/* Returns the airtime that one more frame adds to an A-MPDU. */
static __always_inline __u64 ampdu_ns(const struct frame_view *v, __u64 from)
{
	__u64 bits = airtime_bits(v), data_ns, more_ns;
	__u32 zero = 0;
	struct ampdu *a = bpf_map_lookup_elem(&ampdus, &zero);

	if (!a)
		return 0;
	if (a->from == from && a->number == v->ampdu && a->bits) {
		data_ns = airtime_data_ns(v, a->bits + bits);
		if (data_ns >= a->data_ns && data_ns < AIRTIME_AMPDU_MS * MS) {
			more_ns = data_ns - a->data_ns;
			a->bits += bits;
			a->data_ns = data_ns;
			return more_ns;
		}
	}
	a->from = from;
	a->number = v->ampdu;
	a->bits = bits;
	a->data_ns = airtime_data_ns(v, bits);
	return v->preamble_ns + a->data_ns;
}

/* 0: not known. */
static __always_inline __u64 frame_ns(const struct frame_view *v, __u64 from)
{
	if (!v->rate_kbps || !v->preamble_ns)
		return 0;
	if (v->is_ampdu)
		return ampdu_ns(v, from);
	return v->preamble_ns + airtime_data_ns(v, airtime_bits(v));
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Control frames and group-addressed frames are never retransmitted. */
static __always_inline bool is_unicast(const struct frame_view *v)
{
	return (v->frame_control & 0x0c) != 0x04 && !(v->addr[0][0] & 1);
}

static __always_inline void add(struct airtime *a, const struct frame_view *v, __u64 air_ns,
				bool known)
{
	ADD(a->frames, 1);
	ADD(a->bytes, v->mpdu_len);
	if (known)
		ADD(a->air_ns, air_ns);
	else
		ADD(a->unknown, 1);
	if (is_unicast(v)) {
		ADD(a->unicast, 1);
		if (v->frame_control & 0x0800)
			ADD(a->retries, 1);
	}
	a->last_ns = v->time_ns;
	a->mhz = v->mhz;
	a->signal_dbm = v->signal_dbm;
}

static __always_inline struct airtime *entry(void *map, const void *key, __u64 now_ns)
{
	struct airtime fresh = { .begin_ns = now_ns, .last_ns = now_ns, .told_ns = now_ns };
	struct airtime *a = bpf_map_lookup_elem(map, key);

	if (a)
		return a;
	bpf_map_update_elem(map, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

/* ---- telling --------------------------------------------------------------------------------- */

static __always_inline void tell(struct frame_view *v, struct airtime *a,
				 const struct airtime_station *k)
{
	struct airtime_event e = {
		.mhz = a->mhz,
		.began = a->begin_ns / MS,
		.lasted_ms = (a->last_ns - a->begin_ns) / MS,
		.frames = a->frames,
		.unicast = a->unicast,
		.retries = a->retries,
		.bytes = a->bytes,
		.air_ns = a->air_ns,
		.unknown = a->unknown,
		.signal_dbm = a->signal_dbm,
	};
	__u64 wait_ms = a->told_ns == a->begin_ns ? AIRTIME_FIRST_MS : AIRTIME_TELL_MS;

	if (v->time_ns - a->told_ns < wait_ms * MS)
		return;
	a->told_ns = v->time_ns;
	__builtin_memcpy(e.addr, k->addr, 6);
	module_emit(v, &e, sizeof(e));
}

int module(struct frame_view *v)
{
	struct airtime_station k = { .pad = 0 };
	struct airtime *a;
	__u64 from = 0, air_ns;
	bool known;
	__u32 mhz;

	if ((v->has & (VIEW_DOT11 | VIEW_MAC)) != (VIEW_DOT11 | VIEW_MAC))
		return 0;
	__builtin_memcpy(k.addr, v->addr[1], 6);
	__builtin_memcpy(&from, v->addr[1], 6);
	air_ns = frame_ns(v, from);
	known = v->rate_kbps && v->preamble_ns;
	mhz = v->mhz;
	a = entry(&channels, &mhz, v->time_ns);
	if (a)
		add(a, v, air_ns, known);
	if (v->bad_fcs)
		return 0; /* airtime of an unknown transmitter */
	a = entry(&stations, &k, v->time_ns);
	if (!a)
		return 0;
	add(a, v, air_ns, known);
	tell(v, a, &k);
	return 0;
}
