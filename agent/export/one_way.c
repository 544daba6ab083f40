// SPDX-License-Identifier: GPL-2.0
/*
 * One-way: see one_way.h. In: the time, sent datagrams. Out: announcements (m1), sessions, and
 * simulated acknowledgements. Always holds: each slot is used once, at its own time, so that no
 * earlier agent can have used it (except the neighbouring slots of a first announcement). Only
 * numbers are sent that a collector can know from the last announcement.
 */
#include "one_way.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"

#define SECOND_NS 1000000000ULL
#define TICK_MS 500
#define MS 1000000ULL
#define SET_BACK_NS (240 * SECOND_NS) /* smaller steps back: no later m1 can have been accepted */
#define RESERVE 16		      /* numbers reserved for other messages than pieces */
#define WAIT_NS (16 * MS)

/* ---- control thread -------------------------------------------------------------------------- */

/* New keys and a new port. The ephemeral secret is not needed any more. */
static void prepare(struct session *s, uint64_t time_ns)
{
	struct one_way *w = s->ops_state;
	struct tryst_hello hello = { .run = s->run };
	struct keypair ephemeral;

	s->asked.sock = sockets_take(&s->reach, &s->peers[0].address);
	if (s->asked.sock < 0)
		return; /* no route at present */
	tryst_ephemeral(&ephemeral, s->own.secret, time_ns);
	memcpy(hello.ephemeral, ephemeral.public, KEY_LEN);
	memcpy(w->pending_ephemeral, ephemeral.public, KEY_LEN);
	w->pending = !tryst_one_way(w->k2, s->peers[0].keys[0].pair, &hello, ephemeral.secret,
				    s->peers[0].keys[0].public);
	w->announced = 0;
	w->begin_ns = 0;
	sodium_memzero(&ephemeral, sizeof(ephemeral));
}

/* Writes the m1 under slot j of an interval, and sends it, unless the slot is used. */
static void send_m1(struct session *s, int sock, uint64_t interval, unsigned int j,
		    const struct tryst_hello *hello)
{
	struct session_key *k = &s->peers[0].keys[0]; /* no answer tells whether another is right */
	uint32_t *used = session_slots_used(k, interval);
	uint64_t slots[TRYST_SLOTS];
	uint8_t out[SHROUD_DATAGRAM_MAX];
	long len;

	if (*used & 1U << j)
		return;
	*used |= 1U << j;
	tryst_slots(slots, k->pair, interval);
	len = tryst_announce(out, k->pair, slots[j], hello, SHROUD_DATAGRAM_PADDED);
	send(sock, out, len, MSG_NOSIGNAL);
}

/* Later than all before, so that the collector can distinguish it from a recorded one. */
static uint64_t m1_time(struct one_way *w, uint64_t time_ns)
{
	if (time_ns <= w->time_ns && w->time_ns - time_ns < SET_BACK_NS)
		time_ns = w->time_ns + 1;
	return w->time_ns = time_ns;
}

static void announce(struct session *s, bool pending, uint64_t slot, uint64_t time_ns)
{
	struct one_way *w = s->ops_state;
	struct tryst_hello hello = { .run = s->run,
				     .time_ns = m1_time(w, time_ns),
				     .window = ONE_WAY_WINDOW,
				     .flags = TRYST_ONE_WAY | (s->pad ? TRYST_PADDED : 0),
				     .next = 1 };
	uint64_t interval = slot / TRYST_SLOTS;
	unsigned int j = slot % TRYST_SLOTS;
	int sock = pending ? s->asked.sock : s->present->sock;

	memcpy(hello.instance, s->instance, sizeof(hello.instance));
	memcpy(hello.ephemeral, pending ? w->pending_ephemeral : w->ephemeral, KEY_LEN);
	s->info.exported = __atomic_load_n(s->exported, __ATOMIC_RELAXED);
	hello.info_len = info_write((char *)hello.info, &s->info);
	if (!pending) {
		pthread_mutex_lock(&s->lock);
		hello.next = w->next;
		w->limit = w->next + ONE_WAY_WINDOW;
		pthread_mutex_unlock(&s->lock);
	}
	send_m1(s, sock, interval, j, &hello);
	if (s->present)
		return;
	/* No session exists if it is lost: sends it twice more, under the neighbouring slots. */
	send_m1(s, sock, interval + 1, j, &hello);
	send_m1(s, sock, interval - 1, j, &hello);
}

/* The announced session becomes the current one. */
static void begin(struct session *s, uint64_t now_ns)
{
	struct one_way *w = s->ops_state;
	struct session_path terms = { .window = ONE_WAY_WINDOW, .padded = s->pad };
	int sock = s->asked.sock; /* of the session, if it begins */

	w->pending = false;
	s->asked.sock = -1;
	if (session_begin(s, 0, sock, w->k2, &terms, now_ns)) {
		sockets_give(&s->reach, sock);
		return;
	}
	memcpy(w->ephemeral, w->pending_ephemeral, KEY_LEN);
	pthread_mutex_lock(&s->lock);
	w->next = 1; /* or a little more: a lower one is valid too */
	w->limit = 1 + ONE_WAY_WINDOW;
	pthread_mutex_unlock(&s->lock);
}

/* A slot's time has come. */
static void slot_begins(struct session *s, uint64_t slot, uint64_t time_ns, uint64_t now_ns)
{
	struct one_way *w = s->ops_state;

	if (!w->pending) {
		if (s->present)
			announce(s, false, slot, time_ns);
		return;
	}
	announce(s, true, slot, time_ns);
	if (++w->announced >= (s->present ? ONE_WAY_ANNOUNCED : 1) && !w->begin_ns)
		w->begin_ns = now_ns + ONE_WAY_BEGIN_NS;
}

static int tick(struct session *s, uint64_t now_ns)
{
	struct one_way *w = s->ops_state;
	uint64_t time_ns = s->realtime_ns(), slot = time_ns / ONE_WAY_SLOT_NS;
	uint64_t left = (slot + 1) * ONE_WAY_SLOT_NS - time_ns;

	if (!w->pending && (!s->present || now_ns >= s->next_renew_ns))
		prepare(s, time_ns);
	if (w->pending && w->begin_ns && now_ns >= w->begin_ns)
		begin(s, now_ns);
	/* An agent that just ended may have used the first slot. After the clock was set back,
	 * slots were used before. */
	if (w->slot && slot > w->slot)
		slot_begins(s, slot, time_ns, now_ns);
	w->slot = slot;
	if (s->present && s->info_due && now_ns >= s->next_info_ns)
		session_tell(s, now_ns);
	if (w->pending && w->begin_ns && w->begin_ns - now_ns < left)
		left = w->begin_ns - now_ns;
	left = left / MS + 1;
	return left < TICK_MS ? (int)left : TICK_MS;
}

/* The current session goes on until the new one was announced. */
static void replace(struct session *s, uint64_t now_ns)
{
	s->next_renew_ns = now_ns;
}

static const struct session_ops session_ops = { .tick = tick, .replace = replace };

/* ---- export thread --------------------------------------------------------------------------- */

static void begin_deliver(struct deliver *d, uint64_t now_ns)
{
	struct one_way *w = d->session->ops_state;

	w->filled_ns = now_ns;
	w->credit_ns = w->finals_from = 0;
	w->known_limit = 1 + ONE_WAY_WINDOW;
	/* No answer shows that the path takes more. */
	d->datagram_len = SHROUD_DATAGRAM_PADDED;
}

static uint32_t may_send(struct deliver *d, uint64_t now_ns)
{
	struct one_way *w = d->session->ops_state;
	uint64_t most = ONE_WAY_BURST * ONE_WAY_DATAGRAM_NS, until = d->flight.next + RESERVE;
	uint64_t left = w->known_limit > until ? w->known_limit - until : 0;
	uint32_t may = in_flight_may_send(&d->flight, now_ns);

	w->credit_ns += now_ns - w->filled_ns;
	w->filled_ns = now_ns;
	if (w->credit_ns > most)
		w->credit_ns = most;
	if (left > w->credit_ns / ONE_WAY_DATAGRAM_NS)
		left = w->credit_ns / ONE_WAY_DATAGRAM_NS;
	return may < left ? may : left;
}

/* The end is reached when the final totals were sent often enough after all else. */
static bool is_final(struct one_way *w, const struct deliver *d)
{
	if (!d->final_number || !store_is_empty(&d->store)) {
		w->finals_from = 0;
		return false;
	}
	if (!w->finals_from)
		w->finals_from = d->flight.next;
	/* A FLOOR goes with each totals message. */
	return d->flight.next >= w->finals_from + 2 * ONE_WAY_FINALS;
}

/* All sent combos count as delivered. */
static bool receive(struct deliver *d, uint64_t now_ns)
{
	struct ack a = { .highest = d->flight.next - 1,
			 .taken = d->unsent,
			 .settled = d->unsent,
			 .flags = is_final(d->session->ops_state, d) ? ACK_FINAL : 0 };

	memset(a.received, 0xff, sizeof(a.received));
	deliver_ack(d, &a, now_ns);
	/* A FLOOR goes with all totals, and only with them. */
	d->floor_due = true;
	d->floor_ns = now_ns;
	return false;
}

static void sent(struct deliver *d, uint32_t pieces, uint64_t now_ns)
{
	struct session *s = d->session;
	struct one_way *w = s->ops_state;

	w->credit_ns -= pieces * ONE_WAY_DATAGRAM_NS;
	pthread_mutex_lock(&s->lock);
	if (s->path.generation == d->path.generation) {
		w->next = d->flight.next;
		w->known_limit = w->limit;
	}
	pthread_mutex_unlock(&s->lock);
	if (d->too_big)
		deliver_cut_anew(d); /* else the refused numbers would count as received */
	receive(d, now_ns);
}

/* The collector is never asked. The pace lets more be sent a little later. */
static uint64_t ask_ns(const struct deliver *d, uint64_t now_ns)
{
	return d->unsent < d->store.end || d->resend < d->unsent ? now_ns + WAIT_NS : UINT64_MAX;
}

static const struct deliver_ops deliver_ops = {
	.begin = begin_deliver,
	.may_send = may_send,
	.sent = sent,
	.receive = receive,
	.ask_ns = ask_ns,
};

/* ---- start ----------------------------------------------------------------------------------- */

int one_way_start(struct one_way *w, struct session *s, struct deliver *d)
{
	if (s->realtime_ns() < SESSION_YEAR_2020_NS) {
		log_line("--one-way: this machine's clock is not set (it is before 2020), and no "
			 "collector can tell the time");
		return -EINVAL;
	}
	keys_lock(w, sizeof(*w));
	s->ops = &session_ops;
	s->ops_state = w;
	d->ops = &deliver_ops;
	log_line("collector %s: --one-way: nothing comes back. What is lost on the way is not sent "
		 "again, and who steals the collector's private key can open recordings",
		 s->peer);
	return 0;
}
