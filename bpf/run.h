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
#define FILL_MASK 15 /* the ring's fill is looked at for one frame in 16: to ask is a call */

/* ---- slots ----------------------------------------------------------------------------------- */

static __noinline int slot_missing(__u32 slot)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct slot_counters *counts = bpf_map_lookup_elem(&saluki_slot_counts, &cpu);

	if (counts && slot < SALUKI_MODULES_MAX)
		counts->slots[slot].missing++;
	return 0;
}

/* Where there is a program in its place the call ends with it, whatever it returns. A function of
 * its own each: a tail call in one comes back to who called the function, and with a constant place
 * it is a jump that the kernel patches. */
#define SLOT(n)                                                                                    \
	static __noinline int slot_xdp_##n(struct xdp_md *ctx)                                     \
	{                                                                                          \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return slot_missing(n);                                                            \
	}                                                                                          \
	static __noinline int slot_tc_##n(struct __sk_buff *ctx)                                   \
	{                                                                                          \
		bpf_tail_call_static(ctx, &saluki_slots, SALUKI_SLOT_FIRST + (n));                 \
		return slot_missing(n);                                                            \
	}
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)

/* The table without `volatile`, for who takes a pointer. Behind clang's back: what is constant for
 * it is 0, and what was only read there would be, too. */
static __always_inline const struct saluki_slot_table *run_table(void)
{
	const struct saluki_slot_table *t = (const void *)&saluki_table;

	asm volatile("" : "+r"(t));
	return t;
}

/* All that a frame's run through the slots needs. */
struct run {
	struct hook *h;
	struct slot_counters *counts;
	const struct frame_view *whole;
	struct frame_view *v;
	__u64 fill; /* bytes in the ring */
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
static __always_inline bool is_shed(const volatile struct saluki_slot *s,
				    struct saluki_slot_counters *c, __u64 fill)
{
	if (fill > s->shed_at)
		c->shed = !ring_stands(c);
	else if (fill <= s->back_at)
		c->shed = 0;
	c->skipped += c->shed;
	return c->shed;
}

/* A global function, which the verifier goes through once, and so with no pointers: Linux before
 * 5.12 does not take them. */
__noinline int run_anonymise(__u32 hashed, __u32 prefix)
{
	__u32 zero = 0;
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);

	if (v)
		anonymise(v, (const void *)run_table()->anonymise, hashed, prefix);
	return 0;
}

/* What it has said. A function of its own: it is in the program once, and most frames do not need
 * it. */
static __noinline int run_said(struct frame_view *v, struct saluki_slot_counters *c, __u32 slot,
			       __u32 direction)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct slot_limits *limits = bpf_map_lookup_elem(&saluki_slot_limits, &zero);
	const struct saluki_counters *frame = bpf_map_lookup_elem(&saluki_counters, &cpu);
	__u64 at = slot;

	if (!limits || !frame)
		return 0;
	asm volatile("" : "+r"(at)); /* clang knows that it is below, and the verifier does not */
	at &= SALUKI_MODULES_MAX - 1;
	/* Whatever it has written there: */
	v->time_ns = frame->time_ns;
	v->direction = direction;
	event_put(cpu, v, at, &run_table()->slots[at], &limits->slots[at], c);
	return 0;
}

/* Runs a slot's module on a view of its own. What is of the table alone the verifier decides. */
#define RUN(r, n)                                                                                  \
	do {                                                                                       \
		const volatile struct saluki_slot *s = &saluki_table.slots[n];                     \
		struct saluki_slot_counters *c = &(r)->counts->slots[n];                           \
		__u64 begin_ns = 0;                                                                \
                                                                                                   \
		if (!s->used || (s->sheds && is_shed(s, c, (r)->fill)))                            \
			break;                                                                     \
		if (saluki_table.modules == 1)                                                     \
			mask_alone((r)->v, s->shown);                                              \
		else                                                                               \
			mask_view((r)->v, (r)->whole, s->shown, s->payload, s->reach);             \
		if (s->hashed | s->prefix)                                                         \
			run_anonymise(s->hashed, s->prefix);                                       \
		if (!(c->frames++ & TIMED_MASK))                                                   \
			begin_ns = bpf_ktime_get_ns();                                             \
		if ((r)->h->is_xdp)                                                                \
			slot_xdp_##n((r)->h->ctx);                                                 \
		else                                                                               \
			slot_tc_##n((r)->h->ctx);                                                  \
		if (begin_ns) {                                                                    \
			c->timed++;                                                                \
			c->time_ns += bpf_ktime_get_ns() - begin_ns;                               \
		}                                                                                  \
		if (SALUKI_REACHES(s->reach, event_len) && (r)->v->event_len)                      \
			run_said((r)->v, c, n, (r)->h->direction);                                 \
	} while (0)

static __always_inline __u64 ring_fill(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_AVAIL_DATA);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? m->head - mapped_load(m->tail) : 0;
}

static __always_inline __u64 recent_fill(struct saluki_slot_counters *c, __u32 cpu)
{
	if (!(c->asked++ & FILL_MASK))
		c->fill = ring_fill(cpu);
	return c->fill;
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
	bool alone = saluki_table.modules == 1;
	struct frame_view *whole;

	if (!saluki_table.modules)
		return; /* the last was taken away */
	if (!alone)
		whole = bpf_map_lookup_elem(&saluki_view_whole, &zero);
	else if ((whole = bpf_map_lookup_elem(&saluki_view, &zero)))
		view_clear_rest(whole, linktype, saluki_table.payload, saluki_table.reach);
	if (!whole)
		return;
	fill(h, whole, time_ns, saluki_table.wanted, saluki_table.payload, run_table()->trajectory);
	r.whole = whole;
	r.counts = bpf_map_lookup_elem(&saluki_slot_counts, &cpu);
	r.v = alone ? whole : bpf_map_lookup_elem(&saluki_view, &zero);
	if (!r.counts || !r.v)
		return;
	if (saluki_table.sheds)
		r.fill = recent_fill(&r.counts->slots[0], cpu);
	run_slots(&r);
}

#endif
