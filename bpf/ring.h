/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF ring buffer (`--ring bpf`): one ring for all CPUs. In: a frame and the length to keep.
 * Out: a record, or a counter with the reason.
 */
#ifndef SALUKI_RING_H
#define SALUKI_RING_H

#include "hook.h"
#include "record.h"

/* Wakes the agent only if it sleeps and enough bytes wait. This load may pass the agent's store.
 * Then the wake-up is missed, which costs at most the agent's polling interval. */
static __always_inline __u64 ring_submit_flags(struct saluki_wakeup *w)
{
	if (!w) /* never NULL, which the verifier does not know */
		return 0;
	if (bpf_ringbuf_query(&saluki_ring, BPF_RB_PROD_POS) < w->wake_at)
		return BPF_RB_NO_WAKEUP;
	w->wake_at = ~0ULL;
	return BPF_RB_FORCE_WAKEUP;
}

/* Writes one record of a size class. The class is a constant in every call, as the verifier demands
 * of a reservation's size. */
static __always_inline int ring_put(const struct hook *h, __u32 keep, __u32 class,
				    struct saluki_counters *c, struct saluki_wakeup *w)
{
	struct {
		struct saluki_record head;
		__u8 bytes[];
	} *r = bpf_ringbuf_reserve(&saluki_ring, sizeof(struct saluki_record) + class, 0);

	if (!r) {
		c->ring_full++;
		return -1;
	}
	record_fill(&r->head, h->len + h->vlan_len, keep, h->direction);
	c->time_ns = r->head.time_ns;
	if (keep && hook_copy(h, r->bytes, keep, class)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		c->copy_failed++;
		return -1;
	}
	bpf_ringbuf_submit(r, ring_submit_flags(w));
	c->captured++;
	c->kept_bytes += keep;
	return 0;
}

#define RING_CLASS(size)                                                                           \
	if (keep <= (size))                                                                        \
		return ring_put(h, keep, (size), c, w);

static __always_inline int ring_put_class(const struct hook *h, __u32 keep,
					  struct saluki_counters *c)
{
	__u32 zero = 0;
	struct saluki_wakeup *w = bpf_map_lookup_elem(&saluki_wakeup, &zero);

	SALUKI_RING_CLASSES(RING_CLASS)
	return -1; /* unreachable: the largest class is the largest snaplen */
}

#endif
