// SPDX-License-Identifier: GPL-2.0
/*
 * Capture for AF_XDP (`--source xsk`). In: every frame at XDP. Out: the frame's buffer, changed
 * into a record (saluki/record.h) in place and redirected to its queue's socket, or a counter with
 * the reason.
 *
 * Always holds: a frame that reaches trim is consumed in any case, so the program may change its
 * buffer. The program adds the record's header before the frame, where every driver leaves room for
 * XDP programs, and removes the bytes that are not kept from the frame's end. The kernel therefore
 * copies only kept bytes. The header carries the time stamp and the original length, for which
 * AF_XDP has no field. In the socket's memory, a frame takes at most a header and `room` bytes,
 * which is the size of a slot (agent/rings/xsk.h).
 *
 * A full socket drops frames and counts them in its own statistics. `captured` counts frames given
 * to sockets, and agent/source/source_xsk.c subtracts the sockets' drops.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <saluki/record.h>
#include "filter.h"
#include "hook.h"
#include "trim.h"

const volatile __u32 snaplen = SALUKI_SNAPLEN_DEFAULT; /* at most `room` of a slot */
const volatile __u32 linktype = LINKTYPE_ETHERNET;
const volatile __u32 keep_headers = 0;
const volatile __u32 drop_bad_fcs = 0;
const volatile __u32 filtering = 0; /* there is a filter: see filter.h */
const volatile __u32 interface = 0;

volatile __u32 parse_zero; /* see parse.h */

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1); /* set by the loader: queues */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} saluki_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64); /* the reader sets it if no process can detach the program */
} saluki_halted SEC(".maps");

#include "record.h"

/* Makes a record of the frame: adds the header, then truncates to `keep`. The header comes first:
 * the kernel truncates no frame below 14 bytes, and with the header every frame is longer. */
static __always_inline int make_record(struct xdp_md *ctx, __u32 len, __u32 keep)
{
	struct saluki_record *r;

	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*r)))
		return -1;
	if (keep < len && bpf_xdp_adjust_tail(ctx, (int)keep - (int)len))
		return -1;
	r = (void *)(long)ctx->data;
	if ((void *)(r + 1) > (void *)(long)ctx->data_end)
		return -1;
	record_fill(r, len, keep, SALUKI_DIRECTION_IN);
	return 0;
}

SEC("xdp")
int saluki_xsk(struct xdp_md *ctx)
{
	bool wanted = !filtering || filter_xdp(ctx);
	struct frame f = { .orig_len = hook_xdp_len(ctx) };
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0, keep;
	struct saluki_counters *c = bpf_map_lookup_elem(&saluki_counters, &cpu);
	__u64 *h = bpf_map_lookup_elem(&saluki_halted, &zero);

	if (!c || !h || *h)
		return XDP_PASS; /* there is a slot for every possible CPU */
	c->seen++;
	c->seen_bytes += f.orig_len;
	if (!wanted) {
		c->filtered++;
		return XDP_PASS;
	}

	/* Not before: see filter.h. */
	f.data = (void *)(long)*(volatile __u32 *)&ctx->data;
	f.end = (void *)(long)*(volatile __u32 *)&ctx->data_end;
	keep = trim_frame(&f, f.orig_len, linktype, keep_headers, snaplen);
	if (linktype == LINKTYPE_RADIOTAP && record_bad_fcs(&f, c))
		return XDP_PASS;
	/* The queue has no socket if it was added after the start. */
	if (make_record(ctx, f.orig_len, keep) ||
	    bpf_redirect_map(&saluki_sockets, ctx->rx_queue_index, XDP_DROP) != XDP_REDIRECT) {
		c->copy_failed++;
		return XDP_DROP;
	}
	c->captured++;
	c->malformed += f.malformed;
	return XDP_REDIRECT;
}

char LICENSE[] SEC("license") = "GPL";
