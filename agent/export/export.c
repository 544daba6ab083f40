// SPDX-License-Identifier: GPL-2.0
/*
 * Export thread. In: closed combos from the queue. Out: sealed datagrams of at most 1,400 bytes.
 * Always holds: every frame taken from the queue is counted as exported or as dropped for a
 * reason, and its space in the kernel's ring is given back only then; the journal knows of each
 * step. Allocates nothing.
 */
#include "export.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <saluki/log.h>

#include "agent/source/clock.h"

#define TOTALS_INTERVAL_NS 1000000000ULL
#define FINAL_PATIENCE_NS 8000000000ULL /* silence, another session, and some more */
#define FINAL_WAIT_MS 100
#define RECEIPT_WAIT_MS 200
#define SEND_WAIT_MS 20

static void count(__u64 *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

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
		own->seen = c.seen;
		own->filtered = c.filtered;
		own->ring_full = c.ring_full;
		own->copy_failed = c.copy_failed;
		own->captured = c.captured;
	}
	t->exported = __atomic_load_n(&e->counters.exported, __ATOMIC_RELAXED);
	t->dropped_send = __atomic_load_n(&e->counters.dropped_send, __ATOMIC_RELAXED);
	t->dropped_shutdown = __atomic_load_n(&e->counters.dropped_shutdown, __ATOMIC_RELAXED);
	t->combos = __atomic_load_n(&e->counters.combos, __ATOMIC_RELAXED);
	t->datagrams = __atomic_load_n(&e->counters.datagrams, __ATOMIC_RELAXED);
	t->body_bytes = __atomic_load_n(&e->counters.body_bytes, __ATOMIC_RELAXED);
	t->sent_bytes = __atomic_load_n(&e->counters.sent_bytes, __ATOMIC_RELAXED);
}

/* The last word of an agent whose programs go on: they count while we read, so what they have seen
 * is what the other counters say, and what is not exported is the next agent's. */
static void export_totals_stay(struct exporter *e, struct totals *t)
{
	export_totals(e, t);
	t->seen = t->filtered + t->ring_full + t->copy_failed + t->captured;
	for (uint64_t i = 0; i < t->interface_count; i++) {
		struct totals_interface *own = &t->interfaces[i];

		own->seen = own->filtered + own->ring_full + own->copy_failed + own->captured;
	}
	t->in_ring = t->captured - t->exported - t->dropped_send - t->dropped_shutdown;
}

/* ---- send ------------------------------------------------------------------------------------ */

/* Returns whether sending may be tried again after `err`. */
static bool send_again(struct exporter *e, int err)
{
	struct pollfd p = { .fd = e->session->sock, .events = POLLOUT };
	unsigned int sealed_for = e->generation;

	switch (err) {
	case EINTR:
		return true;
	case EMSGSIZE: /* this one will never go */
		return false;
	case ECONNREFUSED: /* tells of an earlier datagram; this one was not sent */
		session_refused(e->session);
		break;
	default: /* queues are full, the link is down, there is no route: it may come back */
		session_sent(e->session, monotonic_ns());
		poll(&p, err == EAGAIN ? 1 : 0, SEND_WAIT_MS);
	}
	/* Until the session is given up; then the combo is sealed anew for the next one. */
	return session_use(e->session, &e->tx, &e->sensor_id, &e->generation) &&
	       e->generation == sealed_for;
}

/* Sends some of `n` messages, at least one. Returns how many, or -1 with errno. */
static int send_some(struct exporter *e, struct mmsghdr *messages, unsigned int n)
{
	int sock = e->session->sock, sent;

	if (!e->one_by_one) {
		sent = sendmmsg(sock, messages, n, MSG_NOSIGNAL);
		if (sent >= 0 || errno != ENOSYS)
			return sent;
		e->one_by_one = true;
	}
	return sendmsg(sock, &messages->msg_hdr, MSG_NOSIGNAL) < 0 ? -1 : 1;
}

/* Sends the first `n` messages. Returns 0, or -errno where the network refuses.
 *
 * A datagram each, and not one buffer for the kernel to cut (UDP_SEGMENT): into a cable that never
 * cuts it, that takes a third of the time (11 ns a frame for 31), but a card without that offload
 * leaves the cutting to the kernel, and an error would be that of all the datagrams. */
static int send_messages(struct exporter *e, unsigned int n)
{
	unsigned int done = 0;

	while (done < n) {
		int sent = send_some(e, e->pieces.messages + done, n - done);

		if (sent < 0) {
			int err = errno;

			if (!send_again(e, err))
				return err == EMSGSIZE ? -EMSGSIZE : -ENOTCONN;
			continue;
		}
		for (int i = 0; i < sent; i++, done++) {
			count(&e->counters.datagrams, 1);
			count(&e->counters.sent_bytes, e->pieces.iovecs[done].iov_len);
		}
	}
	session_sent(e->session, monotonic_ns());
	return 0;
}

static void send_totals(struct exporter *e, bool final)
{
	uint8_t message[TOTALS_WIRE_MAX], change[INFO_MESSAGE_MAX];
	struct totals t;
	size_t len = session_info_due(e->session, change);

	if (len)
		send_messages(e, pieces_seal_one(&e->pieces, &e->tx, change, len));
	if (final && e->persistent)
		export_totals_stay(e, &t);
	else
		export_totals(e, &t);
	t.final = final;
	send_messages(e, pieces_seal_one(&e->pieces, &e->tx, message, totals_write(message, &t)));
	/* A lost one is made good by the next. */
	e->next_totals_ns = monotonic_ns() + TOTALS_INTERVAL_NS;
}

/* Waits until the collector has heard nearly all that was sent; not for longer than
 * RECEIPT_WAIT_MS, as the last datagrams or their receipt may be lost. */
static void wait_receipts(struct exporter *e)
{
	uint64_t heard = __atomic_load_n(&e->session->heard, __ATOMIC_ACQUIRE);
	uint64_t until = monotonic_ns() + RECEIPT_WAIT_MS * 1000000ULL;

	while (e->tx.counter - heard > EXPORT_AHEAD_MAX && monotonic_ns() < until &&
	       session_use(e->session, &e->tx, &e->sensor_id, &e->generation)) {
		event_wait(e->session->changed_fd, RECEIPT_WAIT_MS);
		heard = __atomic_load_n(&e->session->heard, __ATOMIC_ACQUIRE);
	}
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* The combo has come to its end: its frames are counted, their space in the ring is free. */
static void export_done(struct exporter *e, struct combo *c, __u64 *counter)
{
	count(counter, c->frames);
	journal_commit(&e->journal, &e->counters);
	if (e->source->ops->release)
		e->source->ops->release(e->source, c->mark);
	journal_settle(&e->journal);
	combo_reset(c);
	queue_pop(e->queue);
}

static void export_begin(struct exporter *e, struct combo *c)
{
	if (e->source->ops->positions)
		e->source->ops->positions(e->source, c->mark, e->ends);
	journal_begin(&e->journal, c->frames, e->ends);
	c->first = e->counters.exported;
	if (!c->body)
		combo_close(c); /* once, with what was exported before it */
}

static void export_refused(struct exporter *e)
{
	if (!e->told_refused)
		log_line("collector %s: the way there takes no datagrams of %d bytes (path MTU); "
			 "frames are counted as dropped_send",
			 e->session->peer, WIRE_DATAGRAM_MAX);
	e->told_refused = true;
}

/* Sends the combo, exported or dropped; where it must wait for another session it stays where it
 * is. */
static void export_combo(struct exporter *e, struct combo *c)
{
	uint64_t number = e->counters.next;
	size_t len = COMBO_HEADER_LEN;
	int err;

	if (e->paced)
		wait_receipts(e);
	export_begin(e, c);
	combo_header_write(e->wire, e->sensor_id, number, c->frames, c->body_len);
	len += compress_combo(&e->compress, e->wire + len, c->body, c->body_len);
	err = send_messages(e, pieces_seal(&e->pieces, &e->tx, number, e->wire, len));
	if (err == -ENOTCONN)
		return;
	count(&e->counters.next, 1);
	if (err) {
		export_refused(e);
		export_done(e, c, &e->counters.dropped_send);
		return;
	}
	count(&e->counters.body_bytes, c->body_len);
	count(&e->counters.combos, 1);
	export_done(e, c, &e->counters.exported);
}

/* Waits for a combo, for a change of the session, or until totals are due. */
static void export_wait(struct exporter *e)
{
	struct pollfd p[2] = {
		{ .fd = e->queue->filled_fd, .events = POLLIN },
		{ .fd = e->session->changed_fd, .events = POLLIN },
	};
	uint64_t now = monotonic_ns();
	int64_t left = (int64_t)(e->next_totals_ns - now) / 1000000 + 1;

	poll(p, 2, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
	if (p[0].revents)
		event_clear(p[0].fd);
	if (p[1].revents)
		event_clear(p[1].fd);
}

/* Without a session: waits for one. Returns whether there was any use in it. */
static bool export_wait_session(struct exporter *e)
{
	uint64_t now = monotonic_ns();
	bool bounded = e->is_file || __atomic_load_n(&e->stop, __ATOMIC_ACQUIRE);

	if (!bounded)
		e->waiting_since_ns = 0;
	else if (!e->waiting_since_ns)
		e->waiting_since_ns = now;
	else if (now - e->waiting_since_ns > e->patience_ns)
		return false;
	event_wait(e->session->changed_fd, 100);
	return true;
}

static void export_give_up(struct exporter *e)
{
	struct combo *c = queue_front(e->queue);

	if (!c) {
		event_wait(e->queue->filled_fd, 100);
		return;
	}
	if (e->persistent) { /* they stay in the ring, and so must all behind them */
		e->left = true;
		combo_reset(c);
		queue_pop(e->queue);
		return;
	}
	export_begin(e, c); /* for a kill before its space is free: it ends there */
	export_done(e, c, &e->counters.dropped_shutdown);
}

static bool final_confirmed(struct exporter *e)
{
	return __atomic_load_n(&e->session->heard_final, __ATOMIC_ACQUIRE);
}

/* The last word of a run, repeated until the collector has confirmed it. */
static void export_final(struct exporter *e)
{
	uint64_t end = monotonic_ns() + FINAL_PATIENCE_NS;

	while (!final_confirmed(e) && monotonic_ns() < end) {
		uint64_t until;

		while (!session_use(e->session, &e->tx, &e->sensor_id, &e->generation))
			if (!export_wait_session(e))
				goto out;
		send_totals(e, true);
		/* Receipts without the confirmation come too: the collector may still be waiting
		 * for what was overtaken. */
		until = monotonic_ns() + FINAL_WAIT_MS * 1000000ULL;
		while (!final_confirmed(e) && monotonic_ns() < until)
			event_wait(e->session->changed_fd, FINAL_WAIT_MS);
	}
out:
	e->unconfirmed = !final_confirmed(e);
}

void *export_thread(void *arg)
{
	struct exporter *e = arg;
	struct combo *c;

	while (!queue_finished(e->queue)) {
		if (e->left || !session_use(e->session, &e->tx, &e->sensor_id, &e->generation)) {
			if (e->left || !export_wait_session(e))
				export_give_up(e);
			continue;
		}
		e->waiting_since_ns = 0;
		if (monotonic_ns() >= e->next_totals_ns)
			send_totals(e, false);
		c = queue_front(e->queue);
		if (!c)
			export_wait(e);
		else
			export_combo(e, c);
	}
	export_final(e);
	return NULL;
}
