// SPDX-License-Identifier: GPL-2.0
/*
 * Capture: the code that the XDP and tc entry points share. In: every frame at the hook. Out: a
 * record in the ring, truncated by trim.h, or a counter with the reason.
 *
 * Always holds: a frame ends in exactly one of filtered, ring_full, copy_failed, captured
 * (saluki/record.h), and is passed on untouched unless `consume` was asked for.
 *
 * The constants below are set by the loader before the program is loaded, so the verifier
 * removes what this interface does not need. No kernel type is relocated: the programs load on
 * kernels without BTF.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <saluki/record.h>
#include "filter.h"
#include "slots.h"
#include "trim.h"

#define TC_ACT_UNSPEC (-1) /* linux/pkt_cls.h: go on with the next classifier */
#define TC_ACT_SHOT 2

const volatile __u32 snaplen = SALUKI_SNAPLEN_DEFAULT;
const volatile __u32 linktype = LINKTYPE_ETHERNET;
const volatile __u32 keep_headers = 0;
const volatile __u32 consume = 0;
const volatile __u32 drop_bad_fcs = 0;
const volatile __u32 filtering = 0; /* there is a filter: see filter.h */
const volatile __u32 interface = 0;
const volatile __u32 mapped_exchange = 0; /* publish by an exchange: not on x86 */
const volatile __u64 mapped_size = 0;	  /* bytes of a CPU's mapped ring; 0: the BPF ring buffer */

volatile __u32 parse_zero; /* see parse.h */

/* Metadata that `bpftool prog show` prints. */
const volatile char bpf_metadata_version[16] = "";
const volatile char bpf_metadata_interface[16] = "";
const volatile __u32 bpf_metadata_snaplen = 0;
const volatile char bpf_metadata_keep[8] = "";
const volatile char bpf_metadata_filter[256] = "";

/* The programs do not use these maps. They are defined here so that they have BTF. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_config);
} saluki_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_filter);
} saluki_filter SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_journal); /* with hundreds of CPUs the loader makes it larger */
} saluki_journal SEC(".maps");

/* BTF has only types that a map or a variable names. These put the rings' records into it, for
 * readers that have BTF alone ('bpftool btf dump'). */
const struct saluki_record *saluki_btf_record;
const struct saluki_mapped *saluki_btf_mapped;

#include "record.h"
#include "rings.h"

#include "mapped.h"
#include "ring.h"

/* Loads the packet pointers. It loads them again after the filter: the verifier tracks old pointers
 * on every path through the filter, and would verify the rest once per path. */
static __always_inline void look(struct hook *h)
{
	if (h->is_xdp) {
		struct xdp_md *xdp = h->ctx;

		h->data = (void *)(long)*(volatile __u32 *)&xdp->data;
		h->data_end = (void *)(long)*(volatile __u32 *)&xdp->data_end;
	} else {
		struct __sk_buff *skb = h->ctx;
		__u32 want = parse_min(h->len, parse_min(snaplen, PARSE_OFFSET_MAX));

		/* Headers may lie in fragments; this moves them in front and changes no byte. */
		if ((keep_headers || linktype == LINKTYPE_RADIOTAP) &&
		    (long)skb->data_end - (long)skb->data < want)
			bpf_skb_pull_data(skb, want);
		h->data = (void *)(long)*(volatile __u32 *)&skb->data;
		h->data_end = (void *)(long)*(volatile __u32 *)&skb->data_end;
	}
}

/* `wanted`: the filter accepts the frame, or no filter is set. Returns 1 if modules may see the
 * frame and `consume` applies to it. */
static __always_inline int capture(struct hook *h, bool wanted)
{
	struct frame f = { .orig_len = h->len };
	__u32 cpu = bpf_get_smp_processor_id();
	struct saluki_counters *c = bpf_map_lookup_elem(&saluki_counters, &cpu);
	__u32 keep;

	if (!c)
		return 0; /* there is a slot for every possible CPU */
	c->seen++;
	c->seen_bytes += h->len + h->vlan_len;
	c->time_ns = 0;
	c->consume = consume;
	c->direction = h->direction;
	if (!wanted) {
		c->filtered++;
		return 0;
	}

	look(h);
	f.data = h->data;
	f.end = h->data_end;
	/* The VLAN tag in the metadata belongs before the EtherType that the parser saw. */
	keep = trim_frame(&f, h->len, linktype, keep_headers, snaplen);
	if (linktype == LINKTYPE_RADIOTAP && record_bad_fcs(&f, c))
		return 0;
	if (keep >= VLAN_TAG_OFFSET)
		keep = parse_min(keep + h->vlan_len, snaplen);
	if (keep > SALUKI_SNAPLEN_MAX)
		keep = SALUKI_SNAPLEN_MAX;
	if ((mapped_size ? mapped_put(h, cpu, keep, c) : ring_put_class(h, keep, c)) == 0)
		c->malformed += f.malformed;
	return 1;
}

SEC("xdp")
int saluki_xdp(struct xdp_md *ctx)
{
	bool wanted = !filtering || filter_xdp(ctx);
	struct hook h = {
		.ctx = ctx,
		.is_xdp = 1,
		.len = hook_xdp_len(ctx),
		.direction = SALUKI_DIRECTION_IN,
	};

	if (!capture(&h, wanted))
		return XDP_PASS;
	bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_RUN);
	return consume ? XDP_DROP : XDP_PASS;
}

static __always_inline int capture_skb(struct __sk_buff *skb, __u8 direction)
{
	__u32 vlan = linktype == LINKTYPE_ETHERNET ? hook_skb_vlan(skb) : 0;
	bool wanted = !filtering || filter_skb(skb, vlan);
	struct hook h = {
		.ctx = skb,
		.len = skb->len,
		.vlan = bpf_htonl(vlan),
		.vlan_len = vlan ? VLAN_TAG_LEN : 0,
		.direction = direction,
	};

	if (!capture(&h, wanted))
		return TC_ACT_UNSPEC;
	bpf_tail_call_static(skb, &saluki_slots, SALUKI_SLOT_RUN);
	return consume ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

SEC("tc")
int saluki_tc_ingress(struct __sk_buff *skb)
{
	return capture_skb(skb, SALUKI_DIRECTION_IN);
}

SEC("tc")
int saluki_tc_egress(struct __sk_buff *skb)
{
	return capture_skb(skb, SALUKI_DIRECTION_OUT);
}

char LICENSE[] SEC("license") = "GPL";
