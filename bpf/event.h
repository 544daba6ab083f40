/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: copies a module's event (saluki/module.h) into the ring after its frame, and to the
 * module's consumer if one runs. In: the module's view, with the frame's time and direction. Out: a
 * record in each, or a counter with the reason.
 */
#ifndef SALUKI_BPF_EVENT_H
#define SALUKI_BPF_EVENT_H

#include <saluki/consumed.h>
#include <saluki/slots.h>

#include "mapped.h"
#include "ring.h"
#include "view.h"

#define EVENT_SECOND 1000000000ULL

struct event_record {
	struct saluki_record head;
	struct saluki_event event;
};

static __always_inline void event_fill(struct event_record *r, const struct frame_view *v,
				       __u32 len, const struct saluki_slot *s)
{
	r->head.time_ns = v->time_ns;
	r->head.orig_len = r->head.kept_len = __builtin_offsetof(struct saluki_event, bytes) + len;
	r->head.linktype = SALUKI_LINKTYPE_EVENT;
	r->head.interface = interface;
	r->head.direction = v->direction;
	r->head.pad = 0;
	__builtin_memcpy(r->event.name, s->name, sizeof(r->event.name));
	r->event.serial = s->serial;
	__builtin_memcpy(r->event.bytes, v->event, sizeof(r->event.bytes));
}

static __always_inline int event_ring(const struct frame_view *v, __u32 len,
				      const struct saluki_slot *s)
{
	struct event_record *r = bpf_ringbuf_reserve(&saluki_ring, sizeof(*r), 0);
	__u32 zero = 0;

	if (!r)
		return -1;
	event_fill(r, v, len, s);
	bpf_ringbuf_submit(r, ring_submit_flags(bpf_map_lookup_elem(&saluki_wakeup, &zero)));
	return 0;
}

static __always_inline int event_mapped(__u32 cpu, const struct frame_view *v, __u32 len,
					const struct saluki_slot *s)
{
	struct saluki_mapped *m = bpf_map_lookup_elem(&saluki_mapped, &cpu);
	__u64 head, next;

	if (!m || mapped_load(m->busy))
		return -1;
	mapped_store(m->busy, 1);
	head = m->head;
	next = saluki_mapped_next(head, __builtin_offsetof(struct saluki_event, bytes) + len,
				  mapped_size);
	/* event_fill always writes a whole struct, which must not reach the oldest record. */
	if (saluki_mapped_next(head, sizeof(struct saluki_event), mapped_size) -
		    mapped_load(m->tail) <=
	    mapped_size) {
		event_fill((void *)(m->data + (head & (mapped_size - 1))), v, len, s);
		mapped_publish(m, next);
		mapped_ring_bell(m);
		head = next;
	}
	mapped_store(m->busy, 0);
	return head == next ? 0 : -1;
}

/* The limit is for all CPUs together. When a second begins, two CPUs may both reset the count. */
static __always_inline bool event_is_granted(struct saluki_slot_limit *l,
					     const struct saluki_slot *s, __u64 time_ns)
{
	__u64 second = time_ns / EVENT_SECOND;

	if (l->second != second || l->loaded_ns != s->loaded_ns) {
		l->second = second;
		l->loaded_ns = s->loaded_ns;
		l->events = 0;
	}
	/* The value that the addition returns needs Linux 5.12, so the count is read again. It may
	 * include another CPU's event: an event may be refused early, but the limit is never
	 * exceeded. */
	__sync_fetch_and_add(&l->events, 1);
	return *(volatile __u64 *)&l->events <= s->events;
}

/* One ring per slot with a consumer on this machine ('saluki module consume'). */
struct consumer_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* each has its own size */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SALUKI_MODULES_MAX);
	__type(key, __u32);
	__array(values, struct consumer_ring);
} saluki_consumers SEC(".maps");

/* Copies the event to the consumer's own ring, also when the capture's ring is full. */
static __noinline int event_consume(const struct frame_view *v, __u32 slot, __u64 serial)
{
	void *ring = bpf_map_lookup_elem(&saluki_consumers, &slot);
	struct saluki_consumed *r;

	if (!ring)
		return 0; /* no consumer runs */
	r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (!r)
		return 1;
	r->time_ns = v->time_ns;
	r->serial = serial;
	r->len = v->event_len > MODULE_EVENT_MAX ? MODULE_EVENT_MAX : v->event_len;
	r->direction = v->direction;
	__builtin_memset(r->pad, 0, sizeof(r->pad));
	__builtin_memcpy(r->bytes, v->event, sizeof(r->bytes));
	bpf_ringbuf_submit(r, 0);
	return 0;
}

static __always_inline void event_put(__u32 cpu, const struct frame_view *v, __u32 slot,
				      const struct saluki_slot *s, struct saluki_slot_limit *l,
				      struct saluki_slot_counters *c)
{
	__u32 len = v->event_len > MODULE_EVENT_MAX ? MODULE_EVENT_MAX : v->event_len;

	if (!event_is_granted(l, s, v->time_ns)) {
		c->events_limited++;
		return;
	}
	if (mapped_size ? event_mapped(cpu, v, len, s) : event_ring(v, len, s))
		c->events_lost++;
	else
		c->events++;
	c->events_unread += event_consume(v, slot, s->serial);
}

#endif
