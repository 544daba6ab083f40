/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filter: decides whether a frame is captured. In: a frame at the hook. Out: 0 for a frame that the
 * filter refuses, else not 0.
 *
 * The code here accepts every frame. agent/filter/filter_bpf.c translates the user's filter. At
 * load time agent/filter/filter_load.c appends it to the program, and replaces the instruction with
 * the number by a jump to it. The filter jumps back. It is no subprogram: with the kernel's
 * defences against speculative returns, one call and return takes as long as a whole filter.
 *
 * Always holds: a filter uses the context, a VLAN tag and one part of the stack only. The loader
 * reads that part's place from the store before the number. Filters load the packet pointers
 * themselves. So the many paths through a filter do not multiply the verifier's paths through the
 * rest of the program.
 */
#ifndef SALUKI_FILTER_H
#define SALUKI_FILTER_H

#include <saluki/filter_place.h>

struct filter_stack {
	__u64 words[FILTER_STACK / 8];
};

/* The filter may change all registers, so clang has only r0 for operands. Programs run the filter
 * first, while only the context is live. Later, values saved on the stack would cost programs
 * without a filter 20 ns. */
#define FILTER_REGISTERS "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"

/* An XDP frame is contiguous. */
static __always_inline bool filter_xdp(struct xdp_md *ctx)
{
	struct filter_stack stack;
	void *verdict = ctx;

	asm volatile("r1 = %[verdict]\n\t"
		     "*(u64 *)%[stack] = r1\n\t"
		     "%[verdict] = %[place]"
		     : [verdict] "+r"(verdict), [stack] "=m"(stack)
		     : [place] "i"(FILTER_PLACE_XDP)
		     : FILTER_REGISTERS);
	return verdict;
}

/* `vlan` is the tag beside the frame in host order, 0 without one. */
static __always_inline bool filter_skb(struct __sk_buff *skb, __u32 vlan)
{
	struct filter_stack stack;
	void *verdict = skb;

	asm volatile("r1 = %[verdict]\n\t"
		     "r2 = *(u32 *)%[vlan]\n\t"
		     "*(u64 *)%[stack] = r1\n\t"
		     "%[verdict] = %[place]"
		     : [verdict] "+r"(verdict), [stack] "=m"(stack)
		     : [vlan] "m"(vlan), [place] "i"(FILTER_PLACE_SKB)
		     : FILTER_REGISTERS);
	return verdict;
}

#endif
