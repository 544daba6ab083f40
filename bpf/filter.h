/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filter: whether a frame is captured at all. In: a frame at the hook. Out: 1, or 0 for a frame
 * that the filter refuses.
 *
 * What stands here accepts everything. When the programs are loaded, agent/filter/filter_load.c puts the
 * user's filter, translated by agent/filter/filter_bpf.c, in the place of a whole subprogram; it finds it
 * by the number in its body. So a filter costs one call inside the program, and no tail call.
 *
 * Always holds: filters take nothing but the context and load the packet pointers themselves, so
 * that what the verifier learns on the many ways through a filter does not multiply the ways
 * through the rest of the program.
 */
#ifndef SALUKI_FILTER_H
#define SALUKI_FILTER_H

#include <saluki/filter_place.h>

#include "hook.h"

/* XDP's frames lie in one piece. */
static __noinline int filter_xdp(struct xdp_md *ctx)
{
	int verdict;

	asm volatile("%0 = %1" : "=r"(verdict) : "i"(FILTER_PLACE_XDP), "r"(ctx));
	return verdict;
}

/* `vlan` is the tag beside the frame in host order, 0 without one. */
static __noinline int filter_skb(struct __sk_buff *skb, __u32 vlan)
{
	int verdict;

	asm volatile("%0 = %1" : "=r"(verdict) : "i"(FILTER_PLACE_SKB), "r"(skb), "r"(vlan));
	return verdict;
}

static __always_inline int filter_frame(const struct hook *h)
{
	return h->is_xdp ? filter_xdp(h->ctx) : filter_skb(h->ctx, bpf_ntohl(h->vlan));
}

#endif
