// SPDX-License-Identifier: GPL-2.0
/*
 * Capture: one body behind the XDP and tc entry points. In: every frame at the hook. Out: a
 * record in the ring buffer, cut by trim.h, or a counter that says why not.
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
#include "trim.h"

#define TC_ACT_UNSPEC (-1) /* linux/pkt_cls.h: go on with the next classifier */
#define TC_ACT_SHOT 2
#define VLAN_TAG_LEN 4
#define VLAN_TAG_OFFSET 12 /* behind the two MAC addresses */

const volatile __u32 snaplen = SALUKI_SNAPLEN_DEFAULT;
const volatile __u32 linktype = LINKTYPE_ETHERNET;
const volatile __u32 keep_headers = 0;
const volatile __u32 consume = 0;
const volatile __u32 interface = 0;

volatile __u32 parse_zero; /* see parse.h */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024); /* set by the loader */
} ring SEC(".maps");

/* A slot a CPU in a mapped array, not a per-CPU map: the agent reads the counters through
 * memory, without the privilege to make bpf() calls. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: possible CPUs */
	__type(key, __u32);
	__type(value, struct saluki_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_wakeup);
} wakeup SEC(".maps");

/* A frame on its way through this file. */
struct hook {
	void *ctx;	/* struct xdp_md or struct __sk_buff */
	int is_xdp;	/* a constant in each entry point, so only one helper call remains */
	__u32 len;	/* bytes of the frame, a VLAN tag in the metadata not counted */
	__u32 vlan;	/* that tag as it stood on the wire, network order */
	__u32 vlan_len; /* 4 where there is one, else 0 */
	__u8 direction;
};

/* Copies bytes [off, off + n) of the frame. `n` is 1 to `max`. */
static __always_inline long hook_load(const struct hook *h, __u32 off, void *to, __u32 n, __u32 max)
{
	__u64 m = (__u64)n - 1; /* 64 bits: a register, not its shifted copy, is compared */

	/* The verifier learns the range of a length only from a compare on the very register,
	 * and clang would fold a plain clamp away. */
	asm volatile("" : "+r"(m));
	if (m > max - 1)
		return -1;
	if (h->is_xdp)
		return bpf_xdp_load_bytes(h->ctx, off, to, m + 1);
	return bpf_skb_load_bytes(h->ctx, off, to, m + 1);
}

/* Copies the first `keep` bytes of the frame as it was on the wire, at most `max`. */
static __always_inline long hook_copy(const struct hook *h, __u8 *to, __u32 keep, __u32 max)
{
	if (!h->vlan_len || keep <= VLAN_TAG_OFFSET)
		return hook_load(h, 0, to, keep, max);
	if (hook_load(h, 0, to, VLAN_TAG_OFFSET, VLAN_TAG_OFFSET))
		return -1;
	__builtin_memcpy(to + VLAN_TAG_OFFSET, &h->vlan, VLAN_TAG_LEN);
	if (keep <= VLAN_TAG_OFFSET + VLAN_TAG_LEN)
		return 0;
	return hook_load(h, VLAN_TAG_OFFSET, to + VLAN_TAG_OFFSET + VLAN_TAG_LEN,
			 keep - VLAN_TAG_OFFSET - VLAN_TAG_LEN,
			 max - VLAN_TAG_OFFSET - VLAN_TAG_LEN);
}

/* Wakes the consumer only when it sleeps and enough has gathered. A wake-up missed because
 * this load passed the consumer's store costs at most its polling interval. */
static __always_inline __u64 ring_submit_flags(struct saluki_wakeup *w)
{
	if (bpf_ringbuf_query(&ring, BPF_RB_PROD_POS) < w->wake_at)
		return BPF_RB_NO_WAKEUP;
	w->wake_at = ~0ULL;
	return BPF_RB_FORCE_WAKEUP;
}

/* Writes one record of a size class. The class is a constant at every call, as the verifier
 * wants the size of a reservation to be. */
static __always_inline int ring_put(const struct hook *h, __u32 keep, __u32 class,
				    struct saluki_counters *c, struct saluki_wakeup *w)
{
	struct {
		struct saluki_record head;
		__u8 bytes[];
	} *r = bpf_ringbuf_reserve(&ring, sizeof(struct saluki_record) + class, 0);

	if (!r) {
		c->ring_full++;
		return -1;
	}
	r->head.time_ns = bpf_ktime_get_ns();
	r->head.orig_len = h->len + h->vlan_len;
	r->head.kept_len = keep;
	r->head.linktype = linktype;
	r->head.interface = interface;
	r->head.direction = h->direction;
	r->head.pad = 0;
	if (keep && hook_copy(h, r->bytes, keep, class)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		c->copy_failed++;
		return -1;
	}
	bpf_ringbuf_submit(r, ring_submit_flags(w));
	c->captured++;
	c->kept_bytes += keep;
	return 0;
}

#define RING_CLASS(size)                                                                           \
	if (keep <= (size))                                                                        \
		return ring_put(h, keep, (size), c, w);

static __always_inline int ring_put_class(const struct hook *h, __u32 keep,
					  struct saluki_counters *c, struct saluki_wakeup *w)
{
	RING_CLASS(64)
	RING_CLASS(128)
	RING_CLASS(192)
	RING_CLASS(256)
	RING_CLASS(512)
	RING_CLASS(1024)
	RING_CLASS(2048)
	RING_CLASS(4096)
	RING_CLASS(8192)
	RING_CLASS(16384)
	return ring_put(h, keep, SALUKI_SNAPLEN_MAX, c, w);
}

/* Returns whether the frame was looked at: whether it may be consumed. */
static __always_inline int capture(struct hook *h, const void *data, const void *data_end)
{
	struct frame f = { .data = data, .end = data_end, .orig_len = h->len };
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct saluki_counters *c = bpf_map_lookup_elem(&counters, &cpu);
	struct saluki_wakeup *w = bpf_map_lookup_elem(&wakeup, &zero);
	__u32 keep;

	if (!c || !w || w->stopped)
		return 0; /* there is a slot for every possible CPU */
	c->seen++;
	c->seen_bytes += h->len + h->vlan_len;

	/* The tag in the metadata stands in front of what the parser sees as EtherType. */
	keep = trim_frame(&f, h->len, linktype, keep_headers, snaplen);
	if (keep >= VLAN_TAG_OFFSET)
		keep = parse_min(keep + h->vlan_len, snaplen);
	if (keep > SALUKI_SNAPLEN_MAX)
		keep = SALUKI_SNAPLEN_MAX;
	if (ring_put_class(h, keep, c, w) == 0)
		c->malformed += f.malformed;
	return 1;
}

SEC("xdp")
int saluki_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;
	struct hook h = {
		.ctx = ctx,
		.is_xdp = 1,
		.len = data_end - data,
		.direction = SALUKI_DIRECTION_IN,
	};

	return capture(&h, data, data_end) && consume ? XDP_DROP : XDP_PASS;
}

static __always_inline int capture_skb(struct __sk_buff *skb, __u8 direction)
{
	struct hook h = { .ctx = skb, .len = skb->len, .direction = direction };
	__u32 want = parse_min(skb->len, parse_min(snaplen, PARSE_OFFSET_MAX));

	if (skb->vlan_present && linktype == LINKTYPE_ETHERNET) {
		h.vlan = bpf_htonl(bpf_ntohs(skb->vlan_proto) << 16 | skb->vlan_tci);
		h.vlan_len = VLAN_TAG_LEN;
	}
	/* Headers may lie in fragments; this moves them in front and changes no byte. */
	if (keep_headers && (long)skb->data_end - (long)skb->data < want)
		bpf_skb_pull_data(skb, want);
	return capture(&h, (void *)(long)skb->data, (void *)(long)skb->data_end) && consume
		       ? TC_ACT_SHOT
		       : TC_ACT_UNSPEC;
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
