// SPDX-License-Identifier: GPL-2.0
/*
 * Deauth: reports floods of deauthentication and disassociation frames (deauth.h). In: frames with
 * 802.11 headers and addresses. Out: an event when a flood begins, while it lasts, and when it
 * ends; totals. CPUs may count at once: a count may miss frames of the same instant.
 *
 *     Show = radiotap, mac
 *     Helper = map_lookup_elem, map_update_elem
 *     Map = array, lru_hash
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "deauth.h"

#define MS 1000000ULL

struct key {
	__u8 by, pad;
	__u8 addr[6];
} __attribute__((aligned(8)));

/* Frames in this window and in the one before it. */
struct counted {
	__u64 window_ns; /* when this one began */
	__u32 now, before;
};

/* A sender: the sequence number of its last frame, and of its last counted frame. */
struct sender {
	__u64 seen_ns; /* 0: only counted frames were seen */
	__u16 sequence, counted;
	__u32 has_counted;
};

struct flood {
	struct key key;
	__u64 begun_ns; /* 0: free entry */
	__u64 last_ns;	/* when the count was last above the end's limit */
	__u64 told_ns;
	struct deauth_event event;
	__u32 pad;
};

struct state {
	struct deauth_totals totals;
	__u32 active, next;
	struct flood floods[DEAUTH_FLOODS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct key);
	__type(value, struct counted);
} recent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct key);
	__type(value, struct sender);
} senders SEC(".maps");

#define ADD(counter) __sync_fetch_and_add(&(counter), 1)

static __always_inline void key_set(struct key *k, __u8 by, const __u8 *addr)
{
	k->by = by;
	k->pad = 0;
	__builtin_memcpy(k->addr, addr, 6);
}

/* ---- senders --------------------------------------------------------------------------------- */

static __always_inline struct sender *sender_of(const struct frame_view *v)
{
	struct sender fresh = { 0 }, *s;
	struct key k;

	key_set(&k, 0, v->addr[1]);
	s = bpf_map_lookup_elem(&senders, &k);
	if (s)
		return s;
	bpf_map_update_elem(&senders, &k, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&senders, &k);
}

static __always_inline void number_note(const struct frame_view *v)
{
	struct sender *s = sender_of(v);

	if (!s)
		return;
	s->sequence = v->sequence >> 4;
	s->seen_ns = v->time_ns;
}

/* Whether this is a retransmission of a frame that was counted. */
static __always_inline bool was_counted(const struct frame_view *v, struct sender *s)
{
	__u16 number = v->sequence >> 4;
	bool again = v->frame_control & 0x0800 && s->has_counted && s->counted == number;

	s->counted = number;
	s->has_counted = 1;
	return again;
}

static __always_inline bool jumps(const struct frame_view *v, const struct sender *s)
{
	__u32 ahead = ((v->sequence >> 4) - s->sequence) & 0xfff;

	return s->seen_ns && v->time_ns - s->seen_ns < DEAUTH_JUMP_MS * MS && ahead > DEAUTH_JUMP &&
	       ahead < 4096 - DEAUTH_JUMP / 16;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Counts one frame. Returns the count of a sliding window, as if the previous window's frames had
 * come evenly. */
static __always_inline __u32 count(const struct key *k, __u64 now_ns)
{
	struct counted *c = bpf_map_lookup_elem(&recent, k);
	__u64 elapsed_ms;

	if (!c) {
		struct counted fresh = { .window_ns = now_ns, .now = 1 };

		bpf_map_update_elem(&recent, k, &fresh, BPF_NOEXIST);
		return 1;
	}
	elapsed_ms = now_ns > c->window_ns ? (now_ns - c->window_ns) / MS : 0;
	if (elapsed_ms >= DEAUTH_WINDOW_MS) {
		bool next = elapsed_ms < 2 * DEAUTH_WINDOW_MS;

		c->before = next ? c->now : 0;
		c->now = 0;
		c->window_ns = next ? c->window_ns + DEAUTH_WINDOW_MS * MS : now_ns;
		elapsed_ms = next ? elapsed_ms - DEAUTH_WINDOW_MS : 0;
	}
	ADD(c->now);
	return c->now + (__u64)c->before * (DEAUTH_WINDOW_MS - elapsed_ms) / DEAUTH_WINDOW_MS;
}

/* ---- floods ---------------------------------------------------------------------------------- */

static __always_inline bool same(const struct key *a, const struct key *b)
{
	return *(const __u64 *)a == *(const __u64 *)b;
}

/* Returns the key's entry, or a free one, or NULL. */
static __always_inline struct flood *flood_find(struct state *s, const struct key *k)
{
	struct flood *found = NULL;

#pragma unroll
	for (int i = 0; i < DEAUTH_FLOODS; i++) {
		struct flood *f = &s->floods[i];

		if (f->begun_ns && same(&f->key, k))
			return f;
		if (!f->begun_ns)
			found = f;
	}
	return found;
}

static __always_inline void flood_tell(struct frame_view *v, struct flood *f, __u8 kind)
{
	f->event.kind = kind;
	f->event.lasted_ms = (f->last_ns - f->begun_ns) / MS;
	f->told_ns = v->time_ns;
	module_emit(v, &f->event, sizeof(f->event));
}

static __always_inline void flood_begin(struct state *s, struct flood *f, const struct key *k,
					__u64 now_ns, __u32 before)
{
	__builtin_memset(f, 0, sizeof(*f));
	f->key = *k;
	f->begun_ns = f->last_ns = now_ns;
	f->event.by = k->by;
	f->event.total = before;
	if (k->by == DEAUTH_BY_TARGET && k->addr[0] & 1)
		f->event.broadcast = before;
	ADD(s->active);
	ADD(s->totals.floods);
}

static __always_inline void flood_add(struct frame_view *v, struct flood *f, __u32 recently,
				      bool jumped)
{
	struct deauth_event *e = &f->event;

	e->reason = v->reason;
	__builtin_memcpy(e->target, v->addr[0], 6);
	__builtin_memcpy(e->source, v->addr[1], 6);
	__builtin_memcpy(e->bssid, v->addr[2], 6);
	e->signal_dbm = v->signal_dbm;
	e->recent = recently;
	ADD(e->total);
	e->broadcast += v->addr[0][0] & 1;
	e->jumps += jumped;
}

/* Counts one more frame of a key, which had `recent` frames in the window. A frame can cause one
 * event. A further event waits for the next frame. */
static __always_inline void flood_one(struct frame_view *v, struct state *s, const struct key *k,
				      __u32 recently, __u32 limit, bool jumped)
{
	struct flood *f;

	if (recently < limit / 2)
		return;
	f = flood_find(s, k);
	if (!f) {
		s->totals.untold += recently >= limit;
		return;
	}
	if (!f->begun_ns) {
		if (recently < limit || v->event_len)
			return;
		flood_begin(s, f, k, v->time_ns, recently - 1);
		flood_add(v, f, recently, jumped);
		flood_tell(v, f, DEAUTH_BEGINS);
		return;
	}
	f->last_ns = v->time_ns;
	flood_add(v, f, recently, jumped);
	if (!v->event_len && v->time_ns - f->told_ns >= DEAUTH_AGAIN_MS * MS)
		flood_tell(v, f, DEAUTH_GOES_ON);
}

/* Each frame of any sender checks one flood for its end, as modules have no timer. */
static __always_inline void flood_end(struct frame_view *v, struct state *s)
{
	struct flood *f = &s->floods[s->next++ % DEAUTH_FLOODS];

	if (!f->begun_ns || v->event_len || v->time_ns < f->last_ns + DEAUTH_QUIET_MS * MS)
		return;
	flood_tell(v, f, DEAUTH_ENDS);
	f->begun_ns = 0;
	__sync_fetch_and_sub(&s->active, 1);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static __always_inline void total(const struct frame_view *v, struct deauth_totals *t, bool jumped)
{
	__u32 reason = v->reason < DEAUTH_REASONS - 1 ? v->reason : DEAUTH_REASONS - 1;

	if ((v->frame_control & 0xfc) == 0xc0)
		ADD(t->deauthentications);
	else
		ADD(t->disassociations);
	if (v->addr[0][0] & 1)
		ADD(t->broadcast);
	if (jumped)
		ADD(t->jumps);
	ADD(t->reasons[reason]);
}

static __always_inline void take(struct frame_view *v, struct state *s)
{
	struct sender *from = sender_of(v);
	__u32 to_target, of_bssid;
	struct key k;
	bool jumped;

	if (!from)
		return;
	if (was_counted(v, from)) {
		ADD(s->totals.retries);
		return;
	}
	jumped = jumps(v, from);
	total(v, &s->totals, jumped);
	key_set(&k, DEAUTH_BY_TARGET, v->addr[0]);
	to_target = count(&k, v->time_ns);
	flood_one(v, s, &k, to_target, DEAUTH_TARGET, jumped);
	if (to_target < DEAUTH_REPEATED)
		return;
	key_set(&k, DEAUTH_BY_BSSID, v->addr[2]);
	of_bssid = count(&k, v->time_ns);
	flood_one(v, s, &k, of_bssid, DEAUTH_BSSID, jumped);
}

#define HEADER_LEN 24
#define REASON_LEN 2
#define FCS_LEN 4

/* Whether the frame is a deauthentication (0xc0) or a disassociation (0xa0). */
static __always_inline bool is_ours(const struct frame_view *v)
{
	__u16 type = v->frame_control & 0xfc;

	return type == 0xc0 || type == 0xa0;
}

int module(struct frame_view *v)
{
	__u32 zero = 0;
	struct state *s;

	if ((v->has & (VIEW_DOT11 | VIEW_MAC)) != (VIEW_DOT11 | VIEW_MAC))
		return 0;
	s = bpf_map_lookup_elem(&state, &zero);
	if (!s)
		return 0;
	if (is_ours(v)) {
		if (v->bad_fcs || v->mpdu_len < HEADER_LEN + REASON_LEN + FCS_LEN)
			ADD(s->totals.malformed);
		else if (v->frame_control & 0x4000)
			ADD(s->totals.protected);
		else
			take(v, s);
	} else if (!(v->frame_control & 0x0c) && !v->bad_fcs &&
		   v->mpdu_len >= HEADER_LEN + FCS_LEN) {
		number_note(v);
	}
	if (s->active && !v->event_len)
		flood_end(v, s);
	return 0;
}
