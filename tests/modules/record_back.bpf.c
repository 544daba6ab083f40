// SPDX-License-Identifier: GPL-2.0
/* Gives back a ring's record, and compares its address, which is data for the verifier. */
// refused: wants to run in the kernel: refused: it compares an address
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

int module(struct frame_view *v)
{
	void *record = bpf_ringbuf_reserve(&ring, 8, 0);
	__u64 is = 0, at;

	if (!record)
		return 0;
	asm volatile("%[at] = %[record]\n" : [at] "=r"(at) : [record] "r"(record));
	bpf_ringbuf_discard(record, 0);
	asm volatile("%[at] -= 4096\n"
		     "if %[at] != 0 goto +1\n"
		     "%[is] = 1\n"
		     : [is] "+r"(is), [at] "+r"(at));
	module_emit(v, &is, sizeof(is));
	return 0;
}
