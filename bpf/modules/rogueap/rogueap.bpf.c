// SPDX-License-Identifier: GPL-2.0
/*
 * Rogue access points: reports new access points, and two that share one address (rogueap.h). In:
 * beacons and probe responses, with addresses and SSIDs. Out: events, totals.
 *
 *     Show = radiotap, mac, ssid
 *     Helper = map_lookup_elem, map_update_elem
 *     Map = array, lru_hash
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "rogueap.h"

#define SECOND 1000000000ULL

struct name {
	__u64 words[4];
	__u64 len;
};

/* The constant parts of an access point's beacons. */
struct face {
	__u8 channel, privacy;
	__u16 interval;
	__u32 name; /* a hash; 0: hidden */
};

struct bssid {
	__u8 addr[6];
	__u16 pad;
};

struct ap {
	__u64 window_ns; /* begin of the counting window */
	__u64 told_ns;
	__u64 timestamp_us; /* of the last beacon */
	struct face now, before;
	__u16 sequence;
	__u8 has_beacon, has_before;
	__u8 is_hidden, is_revealed, names, has_told_any;
	__u32 responded[ROGUEAP_NAMES]; /* names of its probe responses */
	__u8 turns, back, backwards;
	__u8 differs;
};

struct network {
	__u64 begin_ns;
	__u32 bssids;
	__u8 privacy;
	__u8 pad[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rogueap_totals);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ROGUEAP_BSSIDS);
	__type(key, struct bssid);
	__type(value, struct ap);
} bssids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ROGUEAP_NETWORKS);
	__type(key, struct name);
	__type(value, struct network);
} networks SEC(".maps");

#define ADD(counter) __sync_fetch_and_add(&(counter), 1)

/* ---- names ----------------------------------------------------------------------------------- */

/* A name of zeros is hidden too. The field is padded with zeros. */
static __always_inline void name_of(const struct frame_view *v, struct name *n)
{
	const __u64 *words = (const __u64 *)v->ssid;

#pragma unroll
	for (int i = 0; i < 4; i++)
		n->words[i] = words[i];
	n->len = n->words[0] | n->words[1] | n->words[2] | n->words[3] ? v->ssid_len : 0;
}

/* Hash of a name. */
static __always_inline __u32 name_hash(const struct name *n)
{
	__u64 h = n->len;

#pragma unroll
	for (int i = 0; i < 4; i++)
		h = (h ^ n->words[i]) * 0x9e3779b97f4a7c15ULL;
	return n->len ? (__u32)(h >> 32) | 1 : 0;
}

/* ---- saying ---------------------------------------------------------------------------------- */

static __always_inline void face_of(const struct frame_view *v, const struct name *n,
				    struct face *f)
{
	f->channel = v->channel;
	f->privacy = v->capability & ROGUEAP_CAPABILITY;
	f->interval = v->beacon_interval;
	f->name = name_hash(n);
}

#define PRIVACY(face) ((face)->privacy >> 4 & 1)

static __always_inline void say(struct frame_view *v, __u8 kind, __u8 differs,
				const struct face *now, const struct face *other, __u32 count,
				const struct name *n)
{
	struct rogueap_event e = {
		.kind = kind,
		.differs = differs,
		.mhz = v->mhz,
		.channel = now->channel,
		.other_channel = other->channel,
		.interval = now->interval,
		.other_interval = other->interval,
		.privacy = PRIVACY(now),
		.other_privacy = PRIVACY(other),
		.signal_dbm = v->signal_dbm,
		.ssid_len = n->len,
		.count = count,
	};

	__builtin_memcpy(e.bssid, v->addr[2], 6);
	if (n->len)
		__builtin_memcpy(e.ssid, n->words, sizeof(e.ssid));
	module_emit(v, &e, sizeof(e));
}

/* ---- new ones -------------------------------------------------------------------------------- */

static __always_inline bool is_learning(const struct frame_view *v, const struct rogueap_totals *t)
{
	return v->time_ns - t->begin_ns < ROGUEAP_LEARN_S * SECOND;
}

/* Whether the limit of new access points per second is exceeded. Sets `flood` at the first one
 * beyond it. */
static __always_inline bool is_flooded(const struct frame_view *v, struct rogueap_totals *t,
				       bool *flood)
{
	__u64 second = (v->time_ns - t->begin_ns) / SECOND;

	if (t->second != second) {
		t->second = second;
		t->in_second = 0;
	}
	ADD(t->in_second);
	*flood = t->in_second == ROGUEAP_FLOOD + 1;
	t->flooded += t->in_second > ROGUEAP_FLOOD;
	return t->in_second > ROGUEAP_FLOOD;
}

/* Finds or adds the network. Returns a known network's capability, or -1 for a new one. */
static __always_inline int network_add(const struct frame_view *v, const struct name *n,
				       struct rogueap_totals *t)
{
	struct network fresh = { .begin_ns = v->time_ns, .bssids = 1 }, *known;

	if (!n->len)
		return -1;
	known = bpf_map_lookup_elem(&networks, n);
	if (known) {
		ADD(known->bssids);
		return known->privacy;
	}
	ADD(t->networks);
	fresh.privacy = v->capability & ROGUEAP_CAPABILITY;
	bpf_map_update_elem(&networks, n, &fresh, BPF_NOEXIST);
	return -1;
}

static __always_inline void new_say(struct frame_view *v, struct rogueap_totals *t,
				    const struct name *n, const struct face *f, int known)
{
	struct face other = { .privacy = known < 0 ? 0 : known };
	bool flood;

	if (is_learning(v, t))
		return;
	if (is_flooded(v, t, &flood)) {
		if (flood)
			say(v, ROGUEAP_BEACON_FLOOD, 0, f, &other, t->in_second, n);
		return;
	}
	say(v, known < 0 ? ROGUEAP_NEW : ROGUEAP_KNOWN_NAME,
	    known >= 0 && other.privacy != f->privacy ? ROGUEAP_PRIVACY : 0, f, &other, 0, n);
}

static __always_inline struct ap *ap_of(struct frame_view *v, struct rogueap_totals *t,
					const struct name *n, const struct face *f)
{
	struct ap fresh = { .window_ns = v->time_ns }, *ap;
	struct bssid k = { .pad = 0 };

	__builtin_memcpy(k.addr, v->addr[2], 6);
	ap = bpf_map_lookup_elem(&bssids, &k);
	if (ap)
		return ap;
	fresh.is_hidden = !n->len;
	ADD(t->bssids);
	if (fresh.is_hidden)
		ADD(t->hidden);
	if (bpf_map_update_elem(&bssids, &k, &fresh, BPF_NOEXIST))
		return NULL;
	new_say(v, t, n, f, network_add(v, n, t));
	return bpf_map_lookup_elem(&bssids, &k);
}

/* ---- two behind one address ------------------------------------------------------------------ */

static __always_inline __u8 face_differs(const struct face *a, const struct face *b)
{
	return (a->channel != b->channel ? ROGUEAP_CHANNEL : 0) |
	       (a->interval != b->interval ? ROGUEAP_INTERVAL : 0) |
	       (a->privacy != b->privacy ? ROGUEAP_PRIVACY : 0) |
	       (a->name != b->name ? ROGUEAP_SSID : 0);
}

/* Compares a beacon with the last one of its address, and counts each field that does not
 * continue. */
static __always_inline void beacon_compare(const struct frame_view *v, struct ap *ap,
					   const struct face *f)
{
	__s64 later_us = v->timestamp_us - ap->timestamp_us;
	__u16 ahead = ((v->sequence >> 4) - ap->sequence) & 0xfff;
	__u8 differs = face_differs(&ap->now, f);

	if (later_us < 0) {
		ap->back++;
		ap->differs |= ROGUEAP_TSF;
	} else if (later_us < 1000000 && ahead >= 2048) {
		ap->backwards++;
		ap->differs |= ROGUEAP_SEQUENCE;
	}
	if (!differs)
		return;
	if (ap->has_before && !face_differs(&ap->before, f)) {
		ap->turns++;
		ap->differs |= differs;
	}
	ap->before = ap->now;
	ap->has_before = 1;
}

static __always_inline bool is_two(const struct ap *ap)
{
	return ap->turns >= ROGUEAP_TURNS || ap->back >= ROGUEAP_BACK ||
	       ap->backwards >= ROGUEAP_BACKWARDS;
}

/* A report names the hint that reached its limit, and leaves out hints with lower counts. */
static __always_inline __u8 sure(const struct ap *ap)
{
	__u8 differs = ap->differs;

	if (ap->turns < ROGUEAP_TURNS)
		differs &= ~(ROGUEAP_CHANNEL | ROGUEAP_INTERVAL | ROGUEAP_PRIVACY | ROGUEAP_SSID);
	if (ap->back < ROGUEAP_BACK)
		differs &= ~ROGUEAP_TSF;
	if (ap->backwards < ROGUEAP_BACKWARDS)
		differs &= ~ROGUEAP_SEQUENCE;
	return differs;
}

static __always_inline void window_begin(struct ap *ap, __u64 now_ns)
{
	ap->window_ns = now_ns;
	ap->turns = ap->back = ap->backwards = 0;
	ap->differs = 0;
}

static __always_inline void beacon(struct frame_view *v, struct ap *ap, const struct name *n,
				   const struct face *f)
{
	if (v->time_ns - ap->window_ns > ROGUEAP_WINDOW_S * SECOND)
		window_begin(ap, v->time_ns);
	if (ap->has_beacon)
		beacon_compare(v, ap, f);
	ap->now = *f;
	ap->timestamp_us = v->timestamp_us;
	ap->sequence = v->sequence >> 4;
	ap->has_beacon = 1;
	if (!is_two(ap) || v->event_len)
		return;
	if (!ap->told_ns || v->time_ns - ap->told_ns >= ROGUEAP_AGAIN_S * SECOND) {
		say(v, ROGUEAP_TWO, sure(ap), f, ap->has_before ? &ap->before : f,
		    ap->turns + ap->back + ap->backwards, n);
		ap->told_ns = v->time_ns;
	}
	window_begin(ap, v->time_ns);
}

/* ---- probe responses ------------------------------------------------------------------------- */

/* Whether the name is new among the access point's probe responses that are kept. */
static __always_inline bool response_is_new(struct ap *ap, __u32 name)
{
#pragma unroll
	for (int i = 0; i < ROGUEAP_NAMES; i++) {
		if (ap->responded[i] == name)
			return false;
		if (!ap->responded[i]) {
			ap->responded[i] = name;
			ap->names = i + 1;
			return true;
		}
	}
	return false;
}

/* Finds the name that beacons hide, and access points that answer to any name. */
static __always_inline void response(struct frame_view *v, struct ap *ap, const struct name *n,
				     const struct face *f, struct rogueap_totals *t)
{
	if (!f->name)
		return;
	if (response_is_new(ap, f->name) && ap->is_hidden)
		network_add(v, n, t);
	if (v->event_len)
		return;
	if (ap->names >= ROGUEAP_NAMES && !ap->has_told_any) {
		ap->has_told_any = 1;
		say(v, ROGUEAP_ANY_NAME, 0, f, f, ap->names, n);
	} else if (ap->is_hidden && !ap->is_revealed && !is_learning(v, t)) {
		ap->is_revealed = 1;
		say(v, ROGUEAP_REVEALED, 0, f, f, 0, n);
	}
}

/* ---- frames ---------------------------------------------------------------------------------- */

#define FIXED_LEN (24 + 12 + 4) /* header, fixed fields, FCS */
#define BEACON 0x80
#define PROBE_RESPONSE 0x50

int module(struct frame_view *v)
{
	struct rogueap_totals *t;
	__u32 zero = 0, type;
	struct face f;
	struct name n;
	struct ap *ap;

	if ((v->has & (VIEW_DOT11 | VIEW_MAC)) != (VIEW_DOT11 | VIEW_MAC))
		return 0;
	type = v->frame_control & 0xfc;
	if (type != BEACON && type != PROBE_RESPONSE)
		return 0;
	t = bpf_map_lookup_elem(&totals, &zero);
	if (!t)
		return 0;
	if (v->bad_fcs || v->mpdu_len < FIXED_LEN) {
		ADD(t->malformed);
		return 0;
	}
	if (v->capability & 0x0002)
		return 0; /* IBSS: stations take turns to send beacons */
	if (!t->begin_ns)
		t->begin_ns = v->time_ns;
	name_of(v, &n);
	face_of(v, &n, &f);
	ap = ap_of(v, t, &n, &f);
	if (type == BEACON)
		ADD(t->beacons);
	else
		ADD(t->responses);
	if (!ap)
		return 0;
	if (type == BEACON)
		beacon(v, ap, &n, &f);
	else
		response(v, ap, &n, &f, t);
	return 0;
}
