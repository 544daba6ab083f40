/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run: runs the modules in order of their slots, each on its own view. In: the frame's whole view
 * and the slot table. Out: counters, and events in the ring. Included after the maps of
 * modules.bpf.c.
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

/* A slot's program replaces the function that calls it, and its return value is ignored. Each slot
 * has a function: after a tail call in a function, the program returns to the function's caller.
 * The index is constant, so the kernel patches the tail call into a direct jump. */
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

/* The table as a pointer without `volatile`. The assembler hides where the pointer comes from:
 * clang knows the table as all 0, and would use that. */
static __always_inline const struct saluki_slot_table *run_table(void)
{
	const struct saluki_slot_table *t = (const void *)&saluki_table;

	asm volatile("" : "+r"(t));
	return t;
}

/* The state of one frame's run through the slots. */
struct run {
	struct hook *h;
	struct slot_counters *counts;
	const struct frame_view *whole;
	struct frame_view *v;
	__u64 fill; /* bytes in the ring */
};

/* The agent's read position in the ring. */
static __always_inline __u64 ring_read_up_to(__u32 cpu)
{
	struct saluki_mapped *m;

	if (!mapped_size)
		return bpf_ringbuf_query(&saluki_ring, BPF_RB_CONS_POS);
	m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	return m ? mapped_load(m->tail) : 0;
}

/* Whether the agent has stopped reading the ring, for example since it has no collector. Then
 * modules are not the reason for a full ring, and skipping them would not help. */
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

/* Whether to skip a module: it is skipped from shed_at until the ring is down to back_at. */
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

/* A global function, so that the verifier checks it once. It takes no pointers, which Linux before
 * 5.12 refuses. */
__noinline int run_anonymise(__u32 hashed, __u32 prefix)
{
	__u32 zero = 0;
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);

	if (v)
		anonymise(v, (const void *)run_table()->anonymise, hashed, prefix);
	return 0;
}

/* Sends a module's event. It is not inlined: once in the program is enough, and most frames have no
 * event. */
static __noinline int run_said(struct frame_view *v, struct saluki_slot_counters *c, __u32 slot,
			       __u32 direction)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct slot_limits *limits = bpf_map_lookup_elem(&saluki_slot_limits, &zero);
	const struct saluki_counters *frame = bpf_map_lookup_elem(&saluki_counters, &cpu);
	__u64 at = slot;

	if (!limits || !frame)
		return 0;
	asm volatile("" : "+r"(at)); /* clang knows the bound, the verifier does not */
	at &= SALUKI_MODULES_MAX - 1;
	/* The module may have changed these: */
	v->time_ns = frame->time_ns;
	v->direction = direction;
	event_put(cpu, v, at, &run_table()->slots[at], &limits->slots[at], c);
	return 0;
}

/* Runs a slot's module on its view. The verifier evaluates conditions on the table and removes dead
 * code. */
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

/* Values that only code after `fill` needs are looked up after it: programs with tail calls have
 * 256 bytes of stack, and `fill` uses most of them. */
static __always_inline void run_modules(struct hook *h, __u64 time_ns, __u32 cpu)
{
	/* `zero` is not in `r`: clang would keep all of `r` in memory, and lose track of
	 * constants. */
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
