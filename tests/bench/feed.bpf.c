// SPDX-License-Identifier: GPL-2.0
/*
 * Feed: frames for a program timed by bpf_prog_test_run, which would repeat one frame. Each run of
 * this program replaces the frame by the next of many, and calls the timed program. In: frames in a
 * map. Runs without a following program give the cost of feeding.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "modules_cost.h"

const volatile __u32 feed_count = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader: feed_count */
	__type(key, __u32);
	__type(value, struct feed_frame);
} feed_frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} feed_next SEC(".maps"); /* the number of the frame that is fed next */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} feed_program SEC(".maps");

/* Copies the bytes that programs read; those after them are an earlier frame's. */
static __always_inline long put(struct xdp_md *xdp, const struct feed_frame *f)
{
	__u64 m = (__u64)(f->len < FEED_BYTES ? f->len : FEED_BYTES) - 1;
	long more = (long)f->len - (long)(xdp->data_end - xdp->data);

	if (more && bpf_xdp_adjust_tail(xdp, more))
		return -1;
	asm volatile("" : "+r"(m)); /* bpf/hook.h */
	if (m > FEED_BYTES - 1)
		return -1;
	return bpf_xdp_store_bytes(xdp, 0, (void *)f->bytes, m + 1);
}

SEC("xdp")
int feed(struct xdp_md *xdp)
{
	__u32 zero = 0, *next = bpf_map_lookup_elem(&feed_next, &zero);
	const struct feed_frame *f = next ? bpf_map_lookup_elem(&feed_frames, next) : NULL;

	if (!f || put(xdp, f))
		return XDP_ABORTED;
	*next = *next + 1 < feed_count ? *next + 1 : 0;
	bpf_tail_call_static(xdp, &feed_program, 0);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
