/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hook: hides the difference between XDP and tc. Copies a frame's bytes as they were on the wire.
 */
#ifndef SALUKI_HOOK_H
#define SALUKI_HOOK_H

#define VLAN_TAG_LEN 4
#define VLAN_TAG_OFFSET 12 /* behind the two MAC addresses */

/* A frame on its way to the ring. */
struct hook {
	void *ctx;		     /* struct xdp_md or struct __sk_buff */
	const void *data, *data_end; /* the contiguous part, from the first byte */
	int is_xdp;	/* a constant in each entry point, so only one helper call remains */
	__u32 len;	/* frame length in bytes, without a VLAN tag in the metadata */
	__u32 vlan;	/* that tag as on the wire, in network order */
	__u32 vlan_len; /* 4 with a tag, else 0 */
	__u8 direction;
};

/* Length of an XDP frame in bytes. The subtraction is in assembler: clang would subtract 32-bit
 * halves of the pointers, which the verifier refuses. */
static __always_inline __u32 hook_xdp_len(struct xdp_md *ctx)
{
	__u64 len = *(volatile __u32 *)&ctx->data_end, data = *(volatile __u32 *)&ctx->data;

	asm volatile("%0 -= %1" : "+r"(len) : "r"(data));
	return len;
}

/* The VLAN tag in a tc frame's metadata, in host order, or 0. */
static __always_inline __u32 hook_skb_vlan(struct __sk_buff *skb)
{
	return skb->vlan_present ? bpf_ntohs(skb->vlan_proto) << 16 | skb->vlan_tci : 0;
}

/* Copies bytes [off, off + n) of the frame. `n` is 1 to `max`. */
static __always_inline long hook_load(const struct hook *h, __u32 off, void *to, __u32 n, __u32 max)
{
	__u64 m = (__u64)n - 1; /* 64 bits: else clang compares a shifted copy */

	/* The verifier learns a length's range only from a comparison of the register that is used.
	 * clang would remove a plain clamp. */
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
