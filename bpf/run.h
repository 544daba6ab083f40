/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run: the modules in their slots, one after the other, each on a view of its own. In: the whole
 * view of a frame, and the table that is in force. Out: counters, and events in the ring. Included
 * behind the maps of modules.bpf.c.
 */
#ifndef SALUKI_BPF_RUN_H
#define SALUKI_BPF_RUN_H

#define TIMED_MASK 63 /* one frame in 64 */
#define RING_STANDS_NS 1000000000ULL

/* ---- slots ----------------------------------------------------------------------------------- */

/* Where there is a program in its place the call ends with it, or else with a 1. A function of its
 * own each: a tail call in one comes back to who called the function, and with a constant place it
 * is a jump that the kernel patches. */
#define SLOT(n)                                                                                    \
	static __noinline int slot_xdp_##n(struct xdp_md *ctx)                                     \
	{                                                                                          \
		volatile int missing = 1;                                                          \
                                                                                                   \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return missing;                                                                    \
	}                                                                                          \
	static __noinline int slot_tc_##n(struct __sk_buff *ctx)                                   \
	{                                                                                          \
		volatile int missing = 1;                                                          \
                                                                                                   \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return missing;                                                                    \
	}
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)

/* All that a frame's run through the slots needs. */
struct run {
	struct hook *h;
	const struct saluki_slot_table *table;
	struct slot_counters *counts;
	const struct frame_view *whole;
	struct frame_view *v;
	__u64 fill;   /* bytes in the ring */
	__u32 places; /* of the table */
};

/* Up to where the ring was read. */
static __always_inline __u64 ring_read_up_to(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_CONS_POS);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? mapped_load(m->tail) : 0;
}

/* Whether nobody reads the ring: there is no collector. Then it is not for want of time that it is
 * full, and to leave modules out would help nobody. */
static __noinline int ring_stands(struct saluki_slot_counters *c)
{
	__u32 cpu = bpf_get_smp_processor_id();
	const struct saluki_counters *frame = bpf_map_lookup_elem(&saluki_counters, &cpu);
	__u64 up_to = ring_read_up_to(cpu), now_ns = frame ? frame->time_ns : 0;

	if (up_to != c->read_up_to || !c->read_ns) {
		c->read_up_to = up_to;
		c->read_ns = now_ns;
	}
	return now_ns - c->read_ns > RING_STANDS_NS;
}

/* Whether a module is left out: from shed_at on, until back_at. */
static __always_inline bool is_shed(const struct saluki_slot *s, struct saluki_slot_counters *c,
				    __u64 fill)
{
	if (fill > s->shed_at)
		c->shed = !ring_stands(c);
	else if (fill <= s->back_at)
		c->shed = 0;
	c->skipped += c->shed;
	return c->shed;
}

/* A global function, which the verifier goes through once, and so with no pointers: Linux before
 * 5.12 does not take them. The keys are those of the table in force by now, or the same. */
__noinline int run_anonymise(__u32 hashed, __u32 prefix)
{
	__u32 zero = 0;
	struct saluki_slots_in_force *now = bpf_map_lookup_elem(&saluki_slots_now, &zero);
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);
	__u32 which = now ? *(volatile __u32 *)&now->table : 0;
	const struct saluki_slot_table *table = bpf_map_lookup_elem(&saluki_slot_table, &which);

	if (v && table)
		anonymise(v, (void *)table->anonymise, hashed, prefix);
	return 0;
}

/* What it has said. A function of its own: it is in the program once, and most frames do not need
 * it. */
static __noinline int run_said(struct frame_view *v, const struct saluki_slot *s,
			       struct saluki_slot_counters *c, __u32 slot, __u32 direction)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct slot_limits *limits = bpf_map_lookup_elem(&saluki_slot_limits, &zero);
	const struct saluki_counters *frame = bpf_map_lookup_elem(&saluki_counters, &cpu);

	if (!limits || !frame || slot >= SALUKI_MODULES_MAX)
		return 0;
	/* Whatever it has written there: */
	v->time_ns = frame->time_ns;
	v->direction = direction;
	event_put(cpu, v, slot, s, &limits->slots[slot], c);
	return 0;
}

/* Runs a slot's module on a view of its own. */
#define RUN(r, n)                                                                                  \
	do {                                                                                       \
		const struct saluki_slot *s = &(r)->table->slots[n];                               \
		struct saluki_slot_counters *c = &(r)->counts->slots[n];                           \
		__u64 begin_ns = 0;                                                                \
                                                                                                   \
		if (!((r)->places >> (n)))                                                         \
			return; /* that was the last */                                            \
		if (!((r)->places & 1U << (n)) || ((r)->table->sheds && is_shed(s, c, (r)->fill))) \
			break;                                                                     \
		if ((r)->table->alone)                                                             \
			mask_alone((r)->v, s);                                                     \
		else                                                                               \
			mask_view((r)->v, (r)->whole, s);                                          \
		if (s->hashed | s->prefix)                                                         \
			run_anonymise(s->hashed, s->prefix);                                       \
		if (!(c->frames++ & TIMED_MASK))                                                   \
			begin_ns = bpf_ktime_get_ns();                                             \
		c->missing += (r)->h->is_xdp ? slot_xdp_##n((r)->h->ctx)                           \
					     : slot_tc_##n((r)->h->ctx);                           \
		if (begin_ns) {                                                                    \
			c->timed++;                                                                \
			c->time_ns += bpf_ktime_get_ns() - begin_ns;                               \
		}                                                                                  \
		if ((r)->v->event_len)                                                             \
			run_said((r)->v, s, c, n, (r)->h->direction);                              \
	} while (0)

static __always_inline __u64 ring_fill(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_AVAIL_DATA);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? m->head - mapped_load(m->tail) : 0;
}

static __always_inline void run_slots(struct run *r)
{
	RUN(r, 0);
	RUN(r, 1);
	RUN(r, 2);
	RUN(r, 3);
	RUN(r, 4);
	RUN(r, 5);
	RUN(r, 6);
	RUN(r, 7);
}

/* What is needed behind `fill` alone is looked for behind it: the stack is short where there are
 * tail calls, and `fill` takes most of it. */
static __always_inline void run_modules(struct hook *h, __u64 time_ns, __u32 cpu)
{
	/* Not in `r`: clang would keep all of it in memory, and forget what is constant. */
	__u32 zero = 0;
	struct run r = { .h = h };
	struct saluki_slots_in_force *now = bpf_map_lookup_elem(&saluki_slots_now, &zero);
	__u32 which = now ? *(volatile __u32 *)&now->table : 0;
	struct frame_view *whole = NULL;

	r.table = bpf_map_lookup_elem(&saluki_slot_table, &which);
	if (!r.table)
		return;
	if (!r.table->alone)
		whole = bpf_map_lookup_elem(&saluki_view_whole, &zero);
	else if ((whole = bpf_map_lookup_elem(&saluki_view, &zero)))
		view_clear_rest(whole, linktype);
	if (!whole)
		return;
	fill(h, whole, time_ns, r.table->wanted, r.table->payload, r.table->trajectory);
	r.whole = whole;
	r.counts = bpf_map_lookup_elem(&saluki_slot_counts, &cpu);
	r.v = r.table->alone ? whole : bpf_map_lookup_elem(&saluki_view, &zero);
	if (!r.counts || !r.v)
		return;
	r.places = r.table->places;
	if (r.table->sheds)
		r.fill = ring_fill(cpu);
	run_slots(&r);
}

#endif
