// SPDX-License-Identifier: GPL-2.0
/*
 * Filters alone: the places of bpf/filter.h, as in capture.bpf.c, and the filters' verdict in
 * `verdict`. Without records and rings, these programs load and run fast.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/filter.h"
#include "bpf/hook.h"

__u32 verdict;
__u32 pieces;
__u32 tag; /* tc: the tag beside the frame, as the network card stores it, host order; 0: none */

SEC("xdp")
int run_xdp(struct xdp_md *ctx)
{
	verdict = filter_xdp(ctx);
	return XDP_DROP;
}

SEC("tc")
int run_tc(struct __sk_buff *skb)
{
	if (tag && bpf_skb_vlan_push(skb, bpf_htons(tag >> 16), tag & 0xffff))
		return 0;
	pieces = (long)skb->data_end - (long)skb->data < skb->len;
	verdict = filter_skb(skb, hook_skb_vlan(skb));
	return 2; /* TC_ACT_SHOT */
}

char LICENSE[] SEC("license") = "GPL";
