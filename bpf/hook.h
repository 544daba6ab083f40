/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hook: one view of a frame at XDP and at tc, and copies of its bytes as they were on the wire.
 */
#ifndef SALUKI_HOOK_H
#define SALUKI_HOOK_H

#define VLAN_TAG_LEN 4
#define VLAN_TAG_OFFSET 12 /* behind the two MAC addresses */

/* A frame on its way to the ring. */
struct hook {
	void *ctx;		     /* struct xdp_md or struct __sk_buff */
	const void *data, *data_end; /* what of it lies in one piece, from its first byte */
	int is_xdp;	/* a constant in each entry point, so only one helper call remains */
	__u32 len;	/* bytes of the frame, a VLAN tag in the metadata not counted */
	__u32 vlan;	/* that tag as it stood on the wire, network order */
	__u32 vlan_len; /* 4 where there is one, else 0 */
	__u8 direction;
};

/* Bytes of an XDP frame. Written out: clang would keep the halves of pointers that it needs for
 * nothing but a difference of 32 bits, and the verifier takes only whole ones. */
static __always_inline __u32 hook_xdp_len(struct xdp_md *ctx)
{
	__u64 len = *(volatile __u32 *)&ctx->data_end, data = *(volatile __u32 *)&ctx->data;

	asm volatile("%0 -= %1" : "+r"(len) : "r"(data));
	return len;
}

/* The tag in the metadata of a tc frame, in host order; 0 without one. */
static __always_inline __u32 hook_skb_vlan(struct __sk_buff *skb)
{
	return skb->vlan_present ? bpf_ntohs(skb->vlan_proto) << 16 | skb->vlan_tci : 0;
}

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

#endif
