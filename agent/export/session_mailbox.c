// SPDX-License-Identifier: GPL-2.0
/*
 * Mailbox: exchanges data between the control thread and the export thread (session.h): the current
 * path, received ACKs, messages to send, the time. All under one lock, held only for copying.
 */
#include "session.h"

#include <errno.h>
#include <string.h>

#include "agent/capture/queue.h"
#include "agent/source/clock.h"

#define REFUSED 1ULL /* bit of first_send_ns: it was moved back by a refusal */

/* ---- export thread --------------------------------------------------------------------------- */

bool session_use(struct session *s, struct session_path *p)
{
	bool up;

	/* Everything under the lock: keys copied with another session's generation would be copied
	 * twice, and one number would seal two datagrams. */
	pthread_mutex_lock(&s->lock);
	up = s->up && s->path.spool == p->spool;
	if (up && s->path.generation != p->generation)
		*p = s->path;
	pthread_mutex_unlock(&s->lock);
	return up;
}

uint32_t session_spool(struct session *s)
{
	uint32_t spool;

	pthread_mutex_lock(&s->lock);
	spool = s->up ? s->path.spool : 0;
	pthread_mutex_unlock(&s->lock);
	return spool;
}

bool session_ack(struct session *s, unsigned int generation, struct ack *ack)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	while (s->acks_count && !found) {
		const struct session_ack *a = &s->acks[s->acks_first];

		if ((int)(a->generation - generation) > 0)
			break; /* for a session that the export thread has not seen yet */
		found = a->generation == generation;
		*ack = a->ack;
		s->acks_first = (s->acks_first + 1) % SESSION_ACKS;
		s->acks_count--;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

size_t session_outbox(struct session *s, unsigned int generation, uint8_t message[MESSAGE_MAX])
{
	size_t len = 0;

	pthread_mutex_lock(&s->lock);
	for (int i = 0; i < SESSION_OUTBOX && !len; i++) {
		struct session_message *m = &s->outbox[i];

		if (!m->len || m->generation != generation)
			continue;
		len = m->len;
		memcpy(message, m->bytes, len);
		m->len = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return len;
}

bool session_lasting(struct session *s, struct info_lasting *i)
{
	bool changed;

	pthread_mutex_lock(&s->lock);
	changed = s->lasting->change != i->change;
	if (changed)
		*i = *s->lasting;
	pthread_mutex_unlock(&s->lock);
	return changed;
}

void session_sent(struct session *s, uint64_t now_ns)
{
	uint64_t none = 0;

	__atomic_compare_exchange_n(&s->first_send_ns, &none, now_ns & ~REFUSED, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* "Port unreachable" is not authentic. It only makes the check for silence earlier, and many do so
 * no more than one: otherwise an attacker could force a handshake per round trip. */
void session_refused(struct session *s)
{
	uint64_t first = __atomic_load_n(&s->first_send_ns, __ATOMIC_RELAXED);

	if (first > SESSION_SILENCE_NS && !(first & REFUSED))
		__atomic_compare_exchange_n(&s->first_send_ns, &first,
					    (first - SESSION_SILENCE_NS * 2 / 3) | REFUSED, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uint64_t session_clock_ns(struct session *s)
{
	uint64_t base;
	bool set;

	pthread_mutex_lock(&s->lock);
	set = s->clock_set;
	base = s->clock_base_ns;
	pthread_mutex_unlock(&s->lock);
	return set ? monotonic_ns() + base : s->realtime_ns();
}

uint64_t session_measured(struct session *s, uint64_t now_ns, int64_t *ahead_ns)
{
	uint64_t round_trip;

	pthread_mutex_lock(&s->lock);
	round_trip = s->round_trip_ns;
	*ahead_ns = session_ahead_ns(s, now_ns);
	pthread_mutex_unlock(&s->lock);
	return round_trip;
}

/* ---- control thread -------------------------------------------------------------------------- */

/* The sender repeats larger messages until they arrive, so one place per kind is enough. Free
 * places have kind 0. */
static struct session_message *outbox_place(struct session *s, uint8_t kind)
{
	struct session_message *free = NULL;

	for (int i = 0; i < SESSION_OUTBOX; i++) {
		struct session_message *m = &s->outbox[i];

		if (m->len && m->bytes[0] == kind)
			return m;
		if (!m->len)
			free = m;
	}
	return free;
}

void session_post(struct session *s, const uint8_t *message, size_t len)
{
	struct session_message *m;

	pthread_mutex_lock(&s->lock);
	m = outbox_place(s, message[0]);
	if (m && s->up) {
		memcpy(m->bytes, message, len);
		m->len = len;
		m->generation = s->path.generation;
	}
	pthread_mutex_unlock(&s->lock);
	event_signal(s->changed_fd);
}

void session_post_ack(struct session *s, unsigned int generation, const struct ack *ack)
{
	struct session_ack *a;

	pthread_mutex_lock(&s->lock);
	if (s->acks_count == SESSION_ACKS) { /* newer ones include it */
		s->acks_first = (s->acks_first + 1) % SESSION_ACKS;
		s->acks_count--;
	}
	a = &s->acks[(s->acks_first + s->acks_count++) % SESSION_ACKS];
	a->generation = generation;
	a->ack = *ack;
	pthread_mutex_unlock(&s->lock);
	event_signal(s->changed_fd);
}
