/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mapped ring (saluki/record.h): per-CPU rings in memory that the agent maps, written without a
 * helper call. In: a frame and the length to keep. Out: a record, or a counter with the reason.
 *
 * One producer needs no atomic operations, for these reasons:
 * - XDP and tc, in both directions, run in a softirq or with softirqs off. So on one CPU, a frame
 *   is finished before the next begins. No frame is sent from inside a run: the device gets it
 *   after tc's egress. What `lo` and veth receive of it waits for a later softirq, and a device
 *   on top of another sends after its own run. Nested runs are thus no part of normal operation,
 *   also where both directions are captured (tests/netns/test_loader.py). If an interrupt does run
 *   the program inside another run, `busy` keeps the inner frame out and counts it as ring_full.
 * - A kernel with PREEMPT_RT may switch tasks while softirqs are off, which `busy` cannot prevent:
 *   the agent refuses the mapped ring there.
 * - x86 makes stores visible in order, so a plain store publishes a record. Other machines publish
 *   with an exchange. The kernel's JIT makes an exchange a full barrier on arm64, s390x and
 *   riscv64. The agent refuses the mapped ring elsewhere, since some kernels' JITs do not.
 * - Space is reused only after a load of `tail` and a branch on its value. No architecture moves a
 *   later store before such a branch.
 */
#ifndef SALUKI_MAPPED_H
#define SALUKI_MAPPED_H

#include "hook.h"
#include "record.h"

#define MAPPED_DIRECT_MAX 256 /* the kernel's helper copies longer frames */

#define mapped_load(x) (*(volatile typeof(x) *)&(x))
#define mapped_store(x, value) (*(volatile typeof(x) *)&(x) = (value))

static __always_inline void mapped_publish(struct saluki_mapped *m, __u64 head)
{
	asm volatile("" ::: "memory");
	if (mapped_exchange)
		__sync_lock_test_and_set(&m->head, head);
	else
		mapped_store(m->head, head);
}

/* Copies words. The last word overlaps the one before, so no byte beyond `keep` is read. */
static __always_inline long mapped_copy(const struct hook *h, __u8 *to, __u32 keep)
{
	const __u8 *data = h->data;
	__u64 rest = (__u64)keep - 8; /* as in hook_load: the register that is compared is used */

	asm volatile("" : "+r"(rest));
	if (h->vlan_len || rest > MAPPED_DIRECT_MAX - 8)
		return keep ? hook_copy(h, to, keep, SALUKI_SNAPLEN_MAX) : 0;
#pragma unroll
	for (__u32 i = 0; i < MAPPED_DIRECT_MAX; i += 8) {
		if (rest < i)
			break;
		if (data + i + 8 > (const __u8 *)h->data_end)
			return hook_copy(h, to, keep, MAPPED_DIRECT_MAX);
		*(__u64 *)(to + i) = *(const __u64 *)(data + i);
	}
	data += rest;
	if (data + 8 > (const __u8 *)h->data_end)
		return hook_copy(h, to, keep, MAPPED_DIRECT_MAX);
	*(__u64 *)(to + rest) = *(const __u64 *)data;
	return 0;
}

/* The BPF ring buffer serves as a doorbell: a reserved and discarded record wakes the sleeping
 * reader. The load of `wake_at` may pass the store of `head`. Then the next frame wakes the reader,
 * or the polling interval ends. */
static __always_inline void mapped_ring_bell(struct saluki_mapped *m)
{
	void *bell;

	if (m->head < mapped_load(m->wake_at))
		return;
	mapped_store(m->wake_at, ~0ULL);
	bell = bpf_ringbuf_reserve(&saluki_ring, 8, 0);
	if (bell)
		bpf_ringbuf_discard(bell, BPF_RB_FORCE_WAKEUP);
}

static __always_inline int mapped_write(const struct hook *h, struct saluki_mapped *m, __u32 keep,
					struct saluki_counters *c)
{
	__u64 head = m->head, next = saluki_mapped_next(head, keep, mapped_size);
	struct saluki_record *r = (void *)(m->data + (head & (mapped_size - 1)));

	if (next - mapped_load(m->tail) > mapped_size) {
		c->ring_full++;
		return -1;
	}
	record_fill(r, h->len + h->vlan_len, keep, h->direction);
	c->time_ns = r->time_ns;
	if (mapped_copy(h, (__u8 *)(r + 1), keep)) {
		c->copy_failed++;
		return -1;
	}
	mapped_publish(m, next);
	mapped_ring_bell(m);
	c->captured++;
	c->kept_bytes += keep;
	return 0;
}

static __always_inline int mapped_put(const struct hook *h, __u32 cpu, __u32 keep,
				      struct saluki_counters *c)
{
	struct saluki_mapped *m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	int err;

	if (!m || mapped_load(m->busy)) { /* no ring: this CPU came online after the start */
		c->ring_full++;
		return -1;
	}
	mapped_store(m->busy, 1);
	err = mapped_write(h, m, keep, c);
	mapped_store(m->busy, 0);
	return err;
}

#endif
