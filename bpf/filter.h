/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filter: whether a frame is captured at all. In: a frame at the hook. Out: not 0, or 0 for a frame
 * that the filter refuses.
 *
 * What stands here accepts everything. When the programs are loaded, agent/filter/filter_load.c
 * puts a jump to the user's filter, translated by agent/filter/filter_bpf.c, in the place of the
 * instruction with the number; the filter stands behind the program and jumps back. Not a
 * subprogram: where the kernel defends itself against what CPUs foresee of a return, one takes as
 * long as a whole filter.
 *
 * Always holds: filters take nothing but the context, a VLAN tag and a piece of the stack, whose
 * place the loader reads from the store in front of the number. They load the packet pointers
 * themselves, so that what the verifier learns on the many ways through a filter does not multiply
 * the ways through the rest of the program.
 */
#ifndef SALUKI_FILTER_H
#define SALUKI_FILTER_H

#include <saluki/filter_place.h>

struct filter_stack {
	__u64 words[FILTER_STACK / 8];
};

/* All registers are the filter's: but for r0 there is none that clang could take for an operand.
 * Programs ask it first of all, when but the context is in use: what they would have to keep on the
 * stack meanwhile would cost those without a filter 20 ns. */
#define FILTER_REGISTERS "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"

/* XDP's frames lie in one piece. */
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
