// SPDX-License-Identifier: GPL-2.0
/* Compares an address with a guess. On one path a 0 takes its place, but the verifier forgets that
 * it is 0, as a byte was written by an index; so it does not follow the other path. The code in
 * between lets it remember the slot. */
// refused: wants to run in the kernel: refused: it compares an address
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 is = 0;

	asm volatile("r8 = %[v]\n"
		     "r7 = *(u32 *)(r8 + 12)\n"
		     "r9 = *(u64 *)(r8 + 0)\n"
		     "*(u64 *)(r10 - 256) = r8\n"
		     "if r7 == 5 goto 1f\n"
		     "r1 = 0\n"
		     "*(u64 *)(r10 - 256) = r1\n"
		     "r1 = *(u8 *)(r8 + 16)\n"
		     ".quad 0x0000000800000197\n" /* r1 %= 8 */
		     "if r1 > 15 goto 1f\n"
		     "r2 = r10\n"
		     "r2 += r1\n"
		     "*(u8 *)(r2 - 264) = r7\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "if r7 == 20 goto +0\n"
		     "if r7 == 21 goto +0\n"
		     "if r7 == 22 goto +0\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "r1 = 1\n r2 = 1\n r3 = 1\n r4 = 1\n"
		     "1: r3 = *(u64 *)(r10 - 256)\n"
		     "if r3 == 0 goto 2f\n"
		     "r3 += 0x10000\n"
		     "r3 += 0x10000\n"
		     ".quad 0x0000000100010945\n" /* if r9 & 1 goto +1 */
		     "goto +1\n"
		     "r3 += 1\n"
		     "if r3 != 0 goto 2f\n"
		     "%[is] = 1\n"
		     "2:\n"
		     : [is] "+r"(is)
		     : [v] "r"(v)
		     : "r1", "r2", "r3", "r4", "r7", "r8", "r9", "memory");
	module_emit(v, &is, sizeof(is));
	return 0;
}
