// SPDX-License-Identifier: GPL-2.0
/* Keeps an address on its stack, overwrites all but one byte, and compares that byte: for the
 * verifier it has become data. */
// refused: wants to run in the kernel: refused: it compares an address
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 is = 0;

	asm volatile("*(u64 *)(r10 - 256) = %[v]\n"
		     "r1 = 0\n"
		     "*(u32 *)(r10 - 252) = r1\n"
		     "*(u16 *)(r10 - 254) = r1\n"
		     "*(u8 *)(r10 - 255) = r1\n"
		     "r1 = *(u64 *)(r10 - 256)\n"
		     "r1 += -0x30\n"
		     "if r1 != 0 goto +1\n"
		     "%[is] = 1\n"
		     : [is] "+r"(is)
		     : [v] "r"(v)
		     : "r1", "memory");
	module_emit(v, &is, sizeof(is));
	return 0;
}
