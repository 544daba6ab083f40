// SPDX-License-Identifier: GPL-2.0
/*
 * Modules: runs operators' modules (saluki/module.h) after the capture of a frame. In: a frame at
 * the hook, by a tail call of capture.bpf.c. Out: modules' maps, their events in the ring after the
 * frame, and counters. Always holds: a module gets a view of the frame and nothing else. No other
 * module sees its changes to the view. The frame is passed on as the capture would pass it on.
 *
 * The agent loads this program again for each change of the modules. The slot table is constant in
 * it, so the verifier removes code that no module needs. Without modules the capture's tail call
 * fails and costs a jump.
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
const volatile __u32 drop_bad_fcs = 0; /* for bpf/record.h: the capture refused such frames */
const volatile __u32 mapped_exchange = 0;
#ifdef __TARGET_ARCH_x86
/* x86 needs no exchange. Linux before 5.12 refuses one, and program_drop_exchange() does not reach
 * the functions of their own here. */
#define mapped_exchange 0
#endif
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

/* This section becomes a map, which agent/module/runner.c reads. */
const volatile struct saluki_slot_table saluki_table SEC(".rodata.table") = { 0 };

#define HEADERS_MAX 512 /* bytes, from the first, in which all headers are looked for */

/* The counters of all slots, per CPU. */
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

/* The view that modules get (bpf/module.h has the same map). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view SEC(".maps");

/* The whole view, from which each module's view is made if there are several modules. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view_whole SEC(".maps");

/* Fills the fields that at least one module may see. */
static __always_inline void fill(struct hook *h, struct frame_view *v, __u64 time_ns, __u32 wanted,
				 __u32 payload, const __u64 trajectory[2])
{
	struct frame f = { .data = h->data, .end = h->data_end, .orig_len = h->len };
	struct view_walk w = { .f = &f, .v = v, .hidden = view_hidden(wanted) };

	view_clear(v, linktype);
	v->time_ns = time_ns;
	v->frame_len = h->len + h->vlan_len;
	v->linktype = linktype;
	v->direction = h->direction;
	v->vlan = h->vlan; /* TCI of the tag in the metadata */
	view_fill(&w, linktype);
	if (w.ssid && wanted & VIEW_SSID)
		label_ssid(h, v, w.ssid);
	if (w.payload && wanted & VIEW_PAYLOAD)
		label_payload(h, v, w.payload, payload);
	if (w.network && wanted & VIEW_LABEL)
		label_fill(h, v, &w, trajectory);
}

/* The bench replaces run.h by a module's own code (tests/bench/inlined.bpf.c). */
#ifndef RUN_HEADER
#define RUN_HEADER "run.h"
#endif
#include RUN_HEADER

/* Returns the capture's counters of this CPU, with the frame's time and direction. */
static __always_inline struct saluki_counters *run(struct hook *h)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct saluki_counters *c = bpf_map_lookup_elem(&saluki_counters, &cpu);

	if (!c)
		return NULL;
	if (!c->time_ns) /* the frame is not in the ring */
		c->time_ns = bpf_ktime_get_ns();
	if (!h->is_xdp)
		h->direction = c->direction;
	run_modules(h, c->time_ns, cpu);
	return c;
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
	const struct saluki_counters *c;

	h.data = (void *)(long)*(volatile __u32 *)&ctx->data;
	h.data_end = (void *)(long)*(volatile __u32 *)&ctx->data_end;
	c = run(&h);
	return c && c->consume ? XDP_DROP : XDP_PASS;
}

SEC("tc")
int saluki_modules_tc(struct __sk_buff *skb)
{
	__u32 vlan = linktype == LINKTYPE_ETHERNET ? hook_skb_vlan(skb) : 0;
	struct hook h = {
		.ctx = skb,
		.len = skb->len,
		.vlan_len = vlan ? VLAN_TAG_LEN : 0,
		.vlan = vlan,
	};
	const struct saluki_counters *c;

	/* Headers may lie in fragments, if the capture did not need them. */
	if ((long)skb->data_end - (long)skb->data < parse_min(h.len, HEADERS_MAX))
		bpf_skb_pull_data(skb, parse_min(h.len, HEADERS_MAX));
	h.data = (void *)(long)*(volatile __u32 *)&skb->data;
	h.data_end = (void *)(long)*(volatile __u32 *)&skb->data_end;
	c = run(&h);
	return c && c->consume ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}
