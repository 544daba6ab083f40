// SPDX-License-Identifier: GPL-2.0
/* Copies a megabyte with one instruction. */
// refused: wants to run in the kernel: refused: a call copies as many bytes as it likes
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

static char much[1 << 20];

int module(struct frame_view *v)
{
	much[v->frame_len & 0xff] = 1;
	return bpf_ringbuf_output(&ring, much, sizeof(much), 0);
}
