// SPDX-License-Identifier: GPL-2.0
/*
 * Generator: run by bpf_prog_test_run with BPF_F_TEST_XDP_LIVE_FRAMES, so that each run makes one
 * kernel frame. In: frames in a map, a rate. Out: the frames, one after the other, over and over,
 * sent from the test run's interface. A run ahead of the rate drops its frame: `idle` shows the CPU
 * time left. It runs on one CPU only, so nothing here is atomic.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "generate.h"

const volatile __u32 frames_len = 8;  /* bytes in use of the map's value */
const volatile __u32 frames_mask = 7; /* at least as much: a power of two less 1 */
const volatile __u64 interval_ps = 0; /* picoseconds per frame; 0: as fast as possible */
const volatile __u32 numbered = 0;    /* each frame has its number in the source address */

__u64 sent, idle, due_ps, first_ns, last_ns, at;
__u32 budget;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4096); /* set by the loader */
} frame_map SEC(".maps");

/* Returns the number of frames due. Frames later than 4 ms are skipped: a pause of the machine must
 * not end in a burst above any rate. */
static __always_inline __u32 frames_due(void)
{
	__u64 now_ns = bpf_ktime_get_ns(), now_ps;

	if (!first_ns)
		first_ns = now_ns;
	last_ns = now_ns;
	if (!interval_ps)
		return GENERATE_BATCH;
	now_ps = (now_ns - first_ns) * 1000;
	if (due_ps + interval_ps * GENERATE_BATCH > now_ps)
		return 0;
	if (due_ps + 4000000000ULL < now_ps)
		due_ps = now_ps - 4000000000ULL;
	due_ps += interval_ps * GENERATE_BATCH;
	return GENERATE_BATCH;
}

/* Copies a short frame word by word, and the excess is truncated later: a call of the kernel's
 * helper costs more than most frames. */
static __always_inline long copy(struct xdp_md *ctx, const struct generate_frame *f, __u32 len)
{
	__u8 *to = (void *)(long)ctx->data;

	if (len > GENERATE_DIRECT_MAX)
		return bpf_xdp_store_bytes(ctx, 0, (void *)f->bytes, len);
	if (to + GENERATE_DIRECT_MAX > (__u8 *)(long)ctx->data_end)
		return -1;
	for (__u32 i = 0; i < GENERATE_DIRECT_MAX; i += 8) {
		if (len <= i)
			break;
		*(__u64 *)(to + i) = *(const __u64 *)(f->bytes + i);
	}
	return 0;
}

static __always_inline long number(struct xdp_md *ctx)
{
	__u32 *to = (void *)(long)ctx->data + GENERATE_NUMBER_AT;

	if ((void *)(to + 1) > (void *)(long)ctx->data_end)
		return -1;
	*to = (__u32)sent;
	return 0;
}

SEC("xdp")
int generate(struct xdp_md *ctx)
{
	struct generate_frame *f;
	__u32 key = 0;
	void *frames;
	__u64 m;

	if (budget == 0 && (budget = frames_due()) == 0) {
		idle++;
		return XDP_DROP;
	}
	frames = bpf_map_lookup_elem(&frame_map, &key);
	if (!frames)
		return XDP_ABORTED;
	budget--;
	f = frames + (at & frames_mask);
	at += GENERATE_STRIDE(f->len);
	if (at >= frames_len)
		at = 0;
	m = f->len - 1;
	asm volatile("" : "+r"(m));
	if (m > GENERATE_FRAME_MAX - 1)
		return XDP_ABORTED;
	/* The kernel passes frames of the largest size. */
	if (copy(ctx, f, m + 1) || bpf_xdp_adjust_tail(ctx, (int)m + 1 - GENERATE_FRAME_MAX))
		return XDP_ABORTED;
	if (numbered && number(ctx))
		return XDP_ABORTED;
	sent++;
	return XDP_TX; /* the interface of the test run */
}

/* At the far end of a cable: the least that a program can do that counts frames. */
__u64 received;

SEC("xdp")
int pass(struct xdp_md *ctx)
{
	(void)ctx;
	received++;
	return XDP_PASS;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	(void)ctx;
	received++;
	return XDP_DROP;
}

/* At the far end of the path after the sensor: drops datagrams, and passes ARP. */
SEC("tc")
int discard(struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(0x0800) ? 2 /* TC_ACT_SHOT */ : -1 /* TC_ACT_UNSPEC */;
}

/* The same end of a path that loses one of 256 packets, at random. */
SEC("tc")
int lose(struct __sk_buff *skb)
{
	(void)skb;
	return bpf_get_prandom_u32() & 255 ? -1 /* TC_ACT_UNSPEC */ : 2 /* TC_ACT_SHOT */;
}

char LICENSE[] SEC("license") = "GPL";
