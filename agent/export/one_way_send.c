// SPDX-License-Identifier: GPL-2.0
/*
 * One-way, the export thread's half: see one_way.h. In: the time, sent datagrams. Out: how much may
 * be sent, and simulated acknowledgements. Always holds: only numbers are sent that a collector can
 * know from the last announcement. Allocates nothing.
 */
#include "one_way.h"

#include <string.h>

#define RESERVE 16 /* numbers reserved for other messages than pieces */
#define WAIT_NS 16000000ULL

void one_way_begun(struct deliver *d, uint64_t now_ns)
{
	memset(&d->one_way, 0, sizeof(d->one_way));
	d->one_way.filled_ns = now_ns;
	d->one_way.limit = 1 + ONE_WAY_WINDOW;
	/* No answer shows that the path takes more. */
	d->datagram_len = SHROUD_DATAGRAM_PADDED;
}

uint32_t one_way_may(struct deliver *d, uint32_t may, uint64_t now_ns)
{
	uint64_t most = ONE_WAY_BURST * ONE_WAY_DATAGRAM_NS, until = d->flight.next + RESERVE;
	uint64_t left = d->one_way.limit > until ? d->one_way.limit - until : 0;

	d->one_way.credit_ns += now_ns - d->one_way.filled_ns;
	d->one_way.filled_ns = now_ns;
	if (d->one_way.credit_ns > most)
		d->one_way.credit_ns = most;
	if (left > d->one_way.credit_ns / ONE_WAY_DATAGRAM_NS)
		left = d->one_way.credit_ns / ONE_WAY_DATAGRAM_NS;
	return may < left ? may : left;
}

void one_way_sent(struct deliver *d, uint32_t sent)
{
	struct session *s = d->session;

	d->one_way.credit_ns -= sent * ONE_WAY_DATAGRAM_NS;
	pthread_mutex_lock(&s->lock);
	if (s->path.generation == d->path.generation) {
		s->one_way.next = d->flight.next;
		d->one_way.limit = s->one_way.limit;
	}
	pthread_mutex_unlock(&s->lock);
}

uint64_t one_way_due_ns(const struct deliver *d, uint64_t due_ns, uint64_t now_ns)
{
	if (d->unsent >= d->store.end && d->resend >= d->unsent)
		return due_ns;
	return now_ns + WAIT_NS < due_ns ? now_ns + WAIT_NS : due_ns;
}

/* The end is reached when the final totals were sent often enough after all else. */
static bool is_final(struct deliver *d)
{
	if (!d->final_number || !store_is_empty(&d->store)) {
		d->one_way.finals_from = 0;
		return false;
	}
	if (!d->one_way.finals_from)
		d->one_way.finals_from = d->flight.next;
	/* A FLOOR goes with each totals message. */
	return d->flight.next >= d->one_way.finals_from + 2 * ONE_WAY_FINALS;
}

void one_way_ack(struct deliver *d, struct ack *a)
{
	*a = (struct ack){ .highest = d->flight.next - 1,
			   .taken = d->unsent,
			   .settled = d->unsent,
			   .flags = is_final(d) ? ACK_FINAL : 0 };
	memset(a->received, 0xff, sizeof(a->received));
}
