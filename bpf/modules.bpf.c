// SPDX-License-Identifier: GPL-2.0
/*
 * Modules: runs operators' modules (saluki/module.h) on a frame that the capture has done with. In:
 * a frame at the hook, by a tail call of capture.bpf.c, and the table of slots. Out: what modules
 * remember in their maps, their events in the ring behind the frame, and counters. Always holds: a
 * module is given the view of a frame and nothing else; what it does to that, nobody else sees; the
 * frame is passed on as the capture would have.
 *
 * It is loaded when the first module is: until then the capture's tail call leads nowhere.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <saluki/linktype.h>
#include <saluki/record.h>

#define TC_ACT_UNSPEC (-1)
#define TC_ACT_SHOT 2

const volatile __u32 linktype = LINKTYPE_ETHERNET;
const volatile __u32 interface = 0;
const volatile __u32 drop_bad_fcs = 0; /* as the capture's: bpf/record.h */
const volatile __u32 mapped_exchange = 0;
const volatile __u64 mapped_size = 0;

volatile __u32 parse_zero; /* see parse.h */

#include "anonymise.h"
#include "hook.h"
#include "label.h"
#include "mask.h"
#include "record.h"
#include "rings.h"
#include "slots.h"
#include "event.h"

#define TIMED_MASK 63 /* one frame in 64 */
#define RING_STANDS_NS 1000000000ULL
#define HEADERS_MAX 512 /* bytes, from the first, in which all headers are looked for */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct saluki_slot_table);
} saluki_slot_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_slots_in_force);
} saluki_slots_now SEC(".maps");

/* Of all slots, for each CPU. */
struct slot_counters {
	struct saluki_slot_counters slots[SALUKI_MODULES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: possible CPUs */
	__type(key, __u32);
	__type(value, struct slot_counters);
} saluki_slot_counts SEC(".maps");

struct slot_limits {
	struct saluki_slot_limit slots[SALUKI_MODULES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot_limits);
} saluki_slot_limits SEC(".maps");

/* What modules are given (bpf/module.h has the same). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view SEC(".maps");

/* What it is made from where there is more than one of them; and whose view was in saluki_view
 * last: saluki_slot_table.alone. */
struct whole_view {
	struct frame_view view;
	__u64 in_view;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct whole_view);
} saluki_view_whole SEC(".maps");

/* ---- slots ----------------------------------------------------------------------------------- */

/* Where there is a program in its place the call ends with it, or else with a 1. A function of its
 * own each: a tail call in one comes back to who called the function, and with a constant place it
 * is a jump that the kernel patches. */
#define SLOT(n)                                                                                    \
	static __noinline int slot_xdp_##n(struct xdp_md *ctx)                                     \
	{                                                                                          \
		volatile int missing = 1;                                                          \
                                                                                                   \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return missing;                                                                    \
	}                                                                                          \
	static __noinline int slot_tc_##n(struct __sk_buff *ctx)                                   \
	{                                                                                          \
		volatile int missing = 1;                                                          \
                                                                                                   \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return missing;                                                                    \
	}
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)

/* All that a frame's run through the slots needs. */
struct run {
	struct hook *h;
	const struct saluki_slot_table *table;
	struct slot_counters *counts;
	struct slot_limits *limits;
	const struct frame_view *whole;
	struct frame_view *v;
	__u32 cpu;
	__u64 time_ns; /* the frame's */
	__u64 fill;    /* bytes in the ring */
};

/* Up to where the ring was read. */
static __always_inline __u64 ring_read_up_to(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_CONS_POS);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? mapped_load(m->tail) : 0;
}

/* Whether nobody reads the ring: there is no collector. Then it is not for want of time that it is
 * full, and to leave modules out would help nobody. */
static __noinline int ring_stands(struct saluki_slot_counters *c, __u32 cpu, __u64 now_ns)
{
	__u64 up_to = ring_read_up_to(cpu);

	if (up_to != c->read_up_to || !c->read_ns) {
		c->read_up_to = up_to;
		c->read_ns = now_ns;
	}
	return now_ns - c->read_ns > RING_STANDS_NS;
}

/* Whether a module is left out: from shed_at on, until back_at. */
static __always_inline bool is_shed(const struct saluki_slot *s, struct saluki_slot_counters *c,
				    __u64 fill, __u32 cpu, __u64 now_ns)
{
	if (fill > s->shed_at)
		c->shed = !ring_stands(c, cpu, now_ns);
	else if (fill <= s->back_at)
		c->shed = 0;
	c->skipped += c->shed;
	return c->shed;
}

/* Runs a slot's module on a view of its own. */
#define RUN(r, n)                                                                                  \
	do {                                                                                       \
		const struct saluki_slot *s = &(r)->table->slots[n];                               \
		struct saluki_slot_counters *c = &(r)->counts->slots[n];                           \
		__u64 begin_ns = 0;                                                                \
                                                                                                   \
		if (!s->used ||                                                                    \
		    ((r)->table->sheds && is_shed(s, c, (r)->fill, (r)->cpu, (r)->time_ns)))       \
			break;                                                                     \
		if ((r)->table->alone)                                                             \
			mask_alone((r)->v, s);                                                     \
		else                                                                               \
			mask_view((r)->v, (r)->whole, s);                                          \
		if (s->hashed | s->prefix)                                                         \
			anonymise((r)->v, (void *)(r)->table->anonymise, s->hashed, s->prefix);    \
		if (!(c->frames++ & TIMED_MASK))                                                   \
			begin_ns = bpf_ktime_get_ns();                                             \
		c->missing += (r)->h->is_xdp ? slot_xdp_##n((r)->h->ctx)                           \
					     : slot_tc_##n((r)->h->ctx);                           \
		if (begin_ns) {                                                                    \
			c->timed++;                                                                \
			c->time_ns += bpf_ktime_get_ns() - begin_ns;                               \
		}                                                                                  \
		if ((r)->v->event_len) {                                                           \
			/* Whatever it has written there: */                                       \
			(r)->v->time_ns = (r)->time_ns;                                            \
			(r)->v->direction = (r)->h->direction;                                     \
			event_put((r)->cpu, (r)->v, n, s, &(r)->limits->slots[n], c);              \
		}                                                                                  \
	} while (0)

static __always_inline __u64 ring_fill(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_AVAIL_DATA);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? m->head - mapped_load(m->tail) : 0;
}

/* The whole view of a frame. */
static __always_inline void fill(struct hook *h, struct frame_view *v, __u64 time_ns,
				 const struct saluki_slot_table *table)
{
	struct frame f = { .data = h->data, .end = h->data_end, .orig_len = h->len };
	struct view_walk w = { .f = &f, .v = v };

	view_clear(v, linktype);
	v->time_ns = time_ns;
	v->frame_len = h->len + h->vlan_len;
	v->linktype = linktype;
	v->direction = h->direction;
	v->vlan = h->vlan; /* that in the metadata: its TCI */
	view_fill(&w, linktype);
	if (w.ssid && table->wanted & VIEW_SSID)
		label_ssid(h, v, w.ssid);
	if (w.payload && table->wanted & VIEW_PAYLOAD)
		label_payload(h, v, w.payload);
	if (w.network && table->wanted & VIEW_LABEL)
		label_fill(h, v, &w, table->trajectory);
}

/* Returns whether the frame is consumed. */
static __always_inline bool run(struct hook *h)
{
	/* Not in `r`: clang would keep all of it in memory, and forget what is constant. */
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct run r = { .h = h, .cpu = cpu };
	struct saluki_slots_in_force *now = bpf_map_lookup_elem(&saluki_slots_now, &zero);
	struct saluki_counters *c = bpf_map_lookup_elem(&saluki_counters, &cpu);
	struct whole_view *whole;
	__u32 which = now ? *(volatile __u32 *)&now->table : 0;

	r.table = bpf_map_lookup_elem(&saluki_slot_table, &which);
	r.counts = bpf_map_lookup_elem(&saluki_slot_counts, &cpu);
	r.limits = bpf_map_lookup_elem(&saluki_slot_limits, &zero);
	whole = bpf_map_lookup_elem(&saluki_view_whole, &zero);
	r.v = bpf_map_lookup_elem(&saluki_view, &zero);
	if (!r.table || !c || !r.counts || !r.limits || !whole || !r.v)
		return false;
	if (whole->in_view != r.table->alone) {
		whole->in_view = r.table->alone;
		__builtin_memset(r.v, 0, sizeof(*r.v));
	}
	r.whole = &whole->view;
	r.time_ns = c->time_ns ?: bpf_ktime_get_ns();
	fill(h, r.table->alone ? r.v : &whole->view, r.time_ns, r.table);
	if (r.table->sheds)
		r.fill = ring_fill(r.cpu);
	RUN(&r, 0);
	RUN(&r, 1);
	RUN(&r, 2);
	RUN(&r, 3);
	RUN(&r, 4);
	RUN(&r, 5);
	RUN(&r, 6);
	RUN(&r, 7);
	return c->consume;
}

SEC("xdp")
int saluki_modules_xdp(struct xdp_md *ctx)
{
	struct hook h = {
		.ctx = ctx,
		.is_xdp = 1,
		.len = hook_xdp_len(ctx),
		.direction = SALUKI_DIRECTION_IN,
	};

	h.data = (void *)(long)*(volatile __u32 *)&ctx->data;
	h.data_end = (void *)(long)*(volatile __u32 *)&ctx->data_end;
	return run(&h) ? XDP_DROP : XDP_PASS;
}

static __always_inline int run_skb(struct __sk_buff *skb, __u8 direction)
{
	__u32 vlan = linktype == LINKTYPE_ETHERNET ? hook_skb_vlan(skb) : 0;
	struct hook h = {
		.ctx = skb,
		.len = skb->len,
		.vlan_len = vlan ? VLAN_TAG_LEN : 0,
		.direction = direction,
	};

	/* Headers that lie in fragments; the capture may have had no need of them. */
	if ((long)skb->data_end - (long)skb->data < parse_min(h.len, HEADERS_MAX))
		bpf_skb_pull_data(skb, parse_min(h.len, HEADERS_MAX));
	h.data = (void *)(long)*(volatile __u32 *)&skb->data;
	h.data_end = (void *)(long)*(volatile __u32 *)&skb->data_end;
	h.vlan = vlan;
	return run(&h) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

SEC("tc")
int saluki_modules_tc_ingress(struct __sk_buff *skb)
{
	return run_skb(skb, SALUKI_DIRECTION_IN);
}

SEC("tc")
int saluki_modules_tc_egress(struct __sk_buff *skb)
{
	return run_skb(skb, SALUKI_DIRECTION_OUT);
}
