// SPDX-License-Identifier: GPL-2.0
/*
 * Ledger, the sensor's side: see export.h. In: counters of the source and of the export thread.
 * Out: totals, for callers, the collector and the spool. Always holds: the sums over interfaces and
 * the totals are from the same moment.
 */
#include "export.h"

#include <string.h>

#define FINAL_INTERVAL_NS 100000000ULL

void export_totals(struct exporter *e, struct totals *t)
{
	memset(t, 0, sizeof(*t));
	t->interface_count = e->source->interfaces;
	for (unsigned int i = 0; i < e->source->interfaces; i++) {
		struct totals_interface *own = &t->interfaces[i];
		struct saluki_counters c;

		e->source->ops->counters(e->source, i, &c);
		t->seen += c.seen;
		t->filtered += c.filtered;
		t->ring_full += c.ring_full;
		t->copy_failed += c.copy_failed;
		t->captured += c.captured;
		t->malformed += c.malformed;
		t->seen_bytes += c.seen_bytes;
		t->kept_bytes += c.kept_bytes;
		t->bad_fcs += c.bad_fcs;
		own->seen = c.seen;
		own->filtered = c.filtered;
		own->ring_full = c.ring_full;
		own->copy_failed = c.copy_failed;
		own->captured = c.captured;
		own->bad_fcs = c.bad_fcs;
	}
	t->exported = __atomic_load_n(&e->counters.exported, __ATOMIC_RELAXED);
	t->dropped_send = __atomic_load_n(&e->counters.dropped_send, __ATOMIC_RELAXED);
	t->dropped_shutdown = __atomic_load_n(&e->counters.dropped_shutdown, __ATOMIC_RELAXED);
	t->combos = __atomic_load_n(&e->counters.combos, __ATOMIC_RELAXED);
	t->datagrams = __atomic_load_n(&e->counters.datagrams, __ATOMIC_RELAXED);
	t->body_bytes = __atomic_load_n(&e->counters.body_bytes, __ATOMIC_RELAXED);
	t->sent_bytes = __atomic_load_n(&e->counters.sent_bytes, __ATOMIC_RELAXED);
	t->dropped_store = __atomic_load_n(&e->deliver.given_up, __ATOMIC_RELAXED);
	t->store = store_used(&e->deliver.store);
	t->store_limit = store_bytes(&e->deliver.store);
	for (unsigned int i = 0; i < e->compressors_len; i++) {
		const struct level *l = &e->compressors[i].level;

		t->level_changes += __atomic_load_n(&l->changes, __ATOMIC_RELAXED);
		t->combos_lowered += __atomic_load_n(&l->lowered, __ATOMIC_RELAXED);
		t->combos_raised += __atomic_load_n(&l->raised, __ATOMIC_RELAXED);
	}
}

/* Final totals of an agent with persistent programs. They count while we read, so `seen` is
 * computed from the other counters, and frames not exported belong to the next agent. */
static void totals_stay(struct exporter *e, struct totals *t)
{
	export_totals(e, t);
	t->seen = t->filtered + t->ring_full + t->copy_failed + t->captured;
	for (uint64_t i = 0; i < t->interface_count; i++) {
		struct totals_interface *own = &t->interfaces[i];

		own->seen = own->filtered + own->ring_full + own->copy_failed + own->captured;
	}
	t->in_ring = t->captured - t->exported - t->dropped_send - t->dropped_shutdown;
}

size_t export_totals_write(struct exporter *e, uint8_t message[TOTALS_WIRE_MAX], bool final)
{
	struct totals t;

	if (final && e->persistent)
		totals_stay(e, &t);
	else
		export_totals(e, &t);
	t.final = final;
	return totals_write(message, &t);
}

void export_tell(struct exporter *e, uint64_t now_ns, bool final)
{
	uint8_t message[TOTALS_WIRE_MAX];
	size_t len = export_totals_write(e, message, final);
	uint64_t number = deliver_message(&e->deliver, message, len, now_ns);

	if (final && !e->deliver.final_number)
		e->deliver.final_number = number;
	deliver_floor(&e->deliver, now_ns);
	/* The next one makes up for a lost one. */
	e->next_totals_ns = now_ns + (final ? FINAL_INTERVAL_NS : TOTALS_INTERVAL_NS);
}
