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
const volatile __u32 consume = 0;

volatile __u32 parse_zero; /* see parse.h */

#include "hook.h"
#include "label.h"
#include "mask.h"
#include "slots.h"
#include "view.h"

#define TIMED 64	/* one frame in so many */
#define HEADERS_MAX 512 /* bytes, from the first, in which all headers are looked for */

/* The capture's: bpf/record.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: possible CPUs */
	__type(key, __u32);
	__type(value, struct saluki_counters);
} saluki_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_slot_table);
} saluki_slot_table SEC(".maps");

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

/* What modules are given (bpf/module.h has the same), and what it is made from. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view SEC(".maps"), saluki_view_whole SEC(".maps");

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

/* Runs a slot's module on a view of its own. */
#define RUN(n)                                                                                     \
	if (table->slots[n].used) {                                                                \
		mask_view(v, whole, &table->slots[n]);                                             \
		counts->slots[n].missing += h->is_xdp ? slot_xdp_##n(h->ctx)                       \
						      : slot_tc_##n(h->ctx);                       \
		counts->slots[n].frames++;                                                         \
	}

static __always_inline void run(struct hook *h)
{
	struct frame f = { .data = h->data, .end = h->data_end, .orig_len = h->len };
	struct view_walk w = { .f = &f };
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct saluki_slot_table *table = bpf_map_lookup_elem(&saluki_slot_table, &zero);
	struct saluki_counters *c = bpf_map_lookup_elem(&saluki_counters, &cpu);
	struct slot_counters *counts = bpf_map_lookup_elem(&saluki_slot_counts, &cpu);
	struct frame_view *whole = bpf_map_lookup_elem(&saluki_view_whole, &zero);
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);

	if (!table || !c || !counts || !whole || !v)
		return;
	view_clear(whole, linktype);
	whole->time_ns = c->time_ns ?: bpf_ktime_get_ns();
	whole->frame_len = h->len + h->vlan_len;
	whole->linktype = linktype;
	whole->direction = h->direction;
	whole->vlan = h->vlan; /* that in the metadata: its TCI */
	w.v = whole;
	view_fill(&w, linktype);
	if (w.ssid && table->wanted & VIEW_SSID)
		label_ssid(h, whole, w.ssid);
	if (w.payload && table->wanted & VIEW_PAYLOAD)
		label_payload(h, whole, w.payload);
	if (w.network && table->wanted & VIEW_LABEL)
		label_fill(h, whole, w.network, table->trajectory);
	RUN(0)
	RUN(1)
	RUN(2)
	RUN(3)
	RUN(4)
	RUN(5)
	RUN(6)
	RUN(7)
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
	run(&h);
	return consume ? XDP_DROP : XDP_PASS;
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
	run(&h);
	return consume ? TC_ACT_SHOT : TC_ACT_UNSPEC;
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
