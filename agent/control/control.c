// SPDX-License-Identifier: GPL-2.0
/*
 * Control thread. In: commands, datagrams from the collector, time. Out: a session for the export
 * thread, the end of the capture thread, the ledger on standard error. If the privileged process
 * disappears, the run stops; with a persistent ring, it ends at once.
 */
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/source/clock.h"
#include "common/changes.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/privsep.h"
#include "common/version.h"
#include "generation.h"
#include "agent/model/handover.h"

#define COUNT_INTERVAL_NS 100000000ULL
#define WATCHED_MS 1000

#define ULL(x) ((unsigned long long)(x))

void control_report(struct exporter *e)
{
	struct totals t;
	uint64_t captured;
	char text[192];

	export_totals(e, &t);
	captured = e->limit ? t.exported : t.captured;
	/* Prints the three lines that tcpdump prints. */
	snprintf(text, sizeof(text),
		 "%llu packet%s captured\n%llu packet%s received by filter\n"
		 "%llu packet%s dropped by kernel\n",
		 ULL(captured), PLURAL(captured), ULL(t.seen - t.filtered),
		 PLURAL(t.seen - t.filtered), ULL(t.ring_full + t.copy_failed),
		 PLURAL(t.ring_full + t.copy_failed));
	log_report(text);
	if (e->local && !e->session->reach.ended && e->outcome < EXPORT_INCOMPLETE)
		return; /* the collector's ledger has all of it */
	log_line("ledger: seen %llu = filtered %llu + ring_full %llu + copy_failed %llu + captured "
		 "%llu",
		 ULL(t.seen), ULL(t.filtered), ULL(t.ring_full), ULL(t.copy_failed),
		 ULL(t.captured));
	log_line(
		"ledger: captured %llu = exported %llu + dropped_send %llu + dropped_shutdown %llu "
		"+ on the way %llu",
		ULL(t.captured), ULL(t.exported), ULL(t.dropped_send), ULL(t.dropped_shutdown),
		ULL(t.captured - t.exported - t.dropped_send - t.dropped_shutdown));
	if (t.bad_fcs)
		log_line("ledger: bad_fcs %llu of the frames were received with a wrong FCS",
			 ULL(t.bad_fcs));
	if (t.dropped_store)
		log_line("ledger: dropped_store %llu of the exported; the collector may "
			 "have some",
			 ULL(t.dropped_store));
	log_line("export: %llu bytes seen, %llu kept, %llu sent in %llu combo%s, %llu datagram%s; "
		 "%llu forged or strange ones received",
		 ULL(t.seen_bytes), ULL(t.kept_bytes), ULL(t.sent_bytes), ULL(t.combos),
		 PLURAL(t.combos), ULL(t.datagrams), PLURAL(t.datagrams),
		 ULL(e->session->bad_datagrams));
}

static void control_stop(struct control *c)
{
	sampler_end(c->sampler, monotonic_ns()); /* before the last combo */
	__atomic_store_n(&c->exporter->stop, true, __ATOMIC_RELEASE);
	__atomic_store_n(&c->capture->stop, true, __ATOMIC_RELEASE);
}

/* The privileged process detaches first. A file has none that is attached. */
static void control_ask_stop(struct control *c)
{
	const struct ordered r = { .kind = REQUEST_STOP };

	if (c->exporter->is_file)
		control_stop(c);
	else
		privsep_send(c->privileged, &r, REQUEST_HEAD_LEN, NULL, 0);
}

/* Nobody will take what waits. */
static void control_ended(struct control *c)
{
	c->collector_ended = true;
	__atomic_store_n(&c->exporter->patience_ns, 0, __ATOMIC_RELAXED);
	control_ask_stop(c);
}

/* Describes an interface to the collector. */
static void control_describe(struct info_interface *f, const struct handover_interface *h,
			     uint32_t snaplen)
{
	info_text(f->name, sizeof(f->name), h->name);
	info_text(f->source, sizeof(f->source), h->source);
	info_text(f->keep, sizeof(f->keep), h->keep_headers ? "headers" : "all");
	info_text(f->filter, sizeof(f->filter), h->filter);
	f->snaplen = snaplen;
}

/* Notes an interface's link. If all interfaces are up, the description has no links. */
static void control_link(struct info *i, uint32_t number, char link)
{
	char links[INFO_INTERFACES_MAX + 1] = "";

	memset(links, INFO_LINK_UP, i->count);
	memcpy(links, i->links, strnlen(i->links, i->count));
	if (link)
		links[number] = link;
	memset(i->links, 0, sizeof(i->links));
	if (strspn(links, (char[]){ INFO_LINK_UP, 0 }) < i->count)
		memcpy(i->links, links, sizeof(links));
}

/* An interface's capture changed: informs the collector. */
static void control_interface(struct control *c, const struct order *order)
{
	if (order->number >= c->session->info.count)
		return;
	control_describe(&c->session->info.interfaces[order->number], &order->interface,
			 c->snaplen);
	control_link(&c->session->info, order->number, order->interface.link);
	c->orders.linktypes[order->number] = order->interface.linktype;
	sampler_told(c->sampler, order, monotonic_ns());
	session_info_changed(c->session);
}

/* ---- orders of the collector ----------------------------------------------------------------- */

/* Applies an ordered snaplen, after the privileged process has. */
static void control_snaplen(struct control *c)
{
	if (c->snaplen == c->orders.snaplen)
		return;
	c->snaplen = c->orders.snaplen;
	for (uint32_t i = 0; i < c->session->info.count; i++)
		c->session->info.interfaces[i].snaplen = c->snaplen;
	session_info_changed(c->session);
}

static void control_answer(struct control *c, const struct answer_message *a)
{
	control_snaplen(c);
	session_answer(c->session, a->number, a->status, a->text);
}

/* commands.h's `keys`. */
static int control_keys(void *arg, const struct order_keys *k, char *said, size_t size)
{
	struct control *c = arg;
	int err = session_keys_order(c->session, k, said, size);

	if (!err)
		session_info_changed(c->session);
	return err;
}

/* session.h's `order`. */
static void control_ordered(void *arg, uint64_t number, const char *text, size_t len)
{
	struct control *c = arg;
	uint8_t bytes[WIRE_ORDER_MESSAGE_MAX];
	struct order_message m;
	struct answer_message a;

	if (len > WIRE_ORDER_TEXT_MAX)
		return;
	/* Parsed here, where the texts' limits are known. */
	bytes[0] = MESSAGE_ORDER;
	store_be(bytes + 1, number, 8);
	memcpy(bytes + 9, text, len);
	if (order_read(&m, bytes, 9 + len) == 0 && c->session->present &&
	    commands_take(&c->orders, c->session->present->peer, &m, &a))
		control_answer(c, &a);
}

/* ---- of the privileged process --------------------------------------------------------------- */

/* Returns whether the privileged process is still running. */
static bool control_order(struct control *c)
{
	struct order order;

	if (privsep_recv(c->privileged, &order, sizeof(order), NULL)) {
		/* The privileged process was killed: the ring and its programs continue. This
		 * process ends as if killed too, so that the next agent can take them over. */
		if (c->capture->source->lanes)
			_exit(1);
		if (c->capture->source->ops->halt)
			c->capture->source->ops->halt(c->capture->source);
		control_stop(c);
		return false;
	}
	if (order.what == SIGNAL_STOP)
		control_stop(c);
	else if (order.what == SIGNAL_REPORT)
		control_report(c->exporter);
	else if (order.what == COMMAND_INTERFACE)
		control_interface(c, &order);
	else if (order.what == COMMAND_TUNED || order.what == COMMAND_CARD ||
		 order.what == COMMAND_LOST)
		sampler_told(c->sampler, &order, monotonic_ns());
	if (commands_sampled(&c->orders) ||
	    (order.what == COMMAND_RESULT && commands_result(&c->orders, &order)))
		control_answer(c, &c->orders.answer);
	return true;
}

/* Logs a clock difference. Frames have this machine's time, even if this clock is the wrong one. */
static void control_skew(struct control *c, uint64_t now_ns)
{
	const struct info *i = &c->session->info;
	int64_t ahead_us = skew_ahead_us(i->ahead_us, i->behind_us);
	char text[DURATION_TEXT_LEN];

	if (!c->session->present || !i->round_trip_us)
		return; /* not measured */
	switch (skew_look(&c->skew, ahead_us, now_ns)) {
	case SKEW_DIFFERS:
		duration_text(text, i->ahead_us ?: i->behind_us);
		log_line("collector %s: this machine's clock is %s %s the collector's, and frames "
			 "are stamped by it; set the one that is wrong",
			 c->session->peer, text, ahead_us > 0 ? "ahead of" : "behind");
		break;
	case SKEW_IS_OVER:
		log_line("collector %s: its clock and this machine's agree again",
			 c->session->peer);
		break;
	case SKEW_NOTHING:
		break;
	}
}

/* Not with every ACK: sockets' counts need system calls. */
static void control_count(struct control *c)
{
	const struct exporter *e = c->exporter;
	const struct level *level = &e->compressors[e->compressors_len - 1].level;
	struct statistics now = { .session_up = c->session->present != NULL,
				  .at_ns = monotonic_ns() };

	if (now.at_ns - c->board->news.at_ns < COUNT_INTERVAL_NS)
		return;
	if (now.session_up)
		now.collector_key = session_key_begin(c->session);
	export_totals(c->exporter, &now.totals);
	now.level = __atomic_load_n(&level->now, __ATOMIC_RELAXED);
	now.level_is_auto = level->automatic;
	if (c->board->news.at_ns && now.level != c->board->news.level)
		log_verbose("compression level %d, after %d", now.level, c->board->news.level);
	for (unsigned int i = 0; i < INTERFACES_MAX; i++)
		sampler_view(c->sampler, i, &now.radios[i]);
	ring_estimate_tell(&c->room, c->exporter->source, &now.totals, c->snaplen);
	loss_report_tell(&c->loss, &now.totals, now.session_up, now.at_ns);
	control_skew(c, now.at_ns);
	connection_report_count(&c->connection, c->session, &now.totals);
	status_line_tell(&c->status, c->exporter, &now.totals, now.at_ns);
	changes_begin(&c->board->changes);
	changes_copy(&c->board->news, &now, sizeof(now));
	changes_end(&c->board->changes);
}

void control_loop(struct control *c)
{
	struct pollfd p[6 + SESSION_POLL_MAX] = {
		{ .fd = c->done_fd, .events = POLLIN },
		{ .fd = c->privileged, .events = POLLIN },
		{ .fd = c->orders.compiler, .events = POLLIN },
		{ .fd = c->lookup.sock, .events = POLLIN },
		{ .fd = c->generation, .events = POLLIN },
		{ .fd = c->capture->limit_fd, .events = POLLIN },
	};

	sampler_start(c->sampler, monotonic_ns());
	for (;;) {
		int timeout = session_tick(c->session, monotonic_ns());
		int sampling = sampler_tick(c->sampler, monotonic_ns());
		unsigned int n = 6 + session_poll(c->session, p + 6);

		lookup_tick(&c->lookup, c->session, monotonic_ns());
		if (!c->exporter->local)
			connection_report_tell(&c->connection, c->session, monotonic_ns());
		control_count(c);
		if (sampling >= 0 && (timeout < 0 || sampling < timeout))
			timeout = sampling;
		if (c->watched && (timeout < 0 || timeout > WATCHED_MS))
			timeout = WATCHED_MS;
		if (poll(p, n, timeout) < 0 && errno != EINTR)
			return;
		session_receive(c->session, monotonic_ns());
		if (p[1].revents && !control_order(c))
			p[1].fd = -1;
		if (p[2].revents && commands_compiled(&c->orders))
			control_answer(c, &c->orders.answer);
		p[2].fd = c->orders.compiler; /* the compiler may have ended */
		if (p[3].revents)
			lookup_answered(&c->lookup, c->session, monotonic_ns());
		p[3].fd = c->lookup.sock;
		if (p[4].revents && generation_changed(c->generation))
			session_new_keys(c->session, monotonic_ns());
		if (p[5].revents) {
			p[5].fd = -1;
			control_ask_stop(c);
		}
		if (c->session->reach.ended && !c->collector_ended)
			control_ended(c);
		if (p[0].revents)
			return;
	}
}

/* ---- before and after ------------------------------------------------------------------------ */

_Static_assert(INTERFACES_MAX <= INFO_INTERFACES_MAX && INTERFACES_MAX <= TOTALS_INTERFACES_MAX,
	       "each is told of");

/* The collector writes this into the capture's interface blocks. */
static void control_info(struct info *i, const struct handover *h)
{
	struct utsname u;

	uname(&u);
	snprintf(i->application, sizeof(i->application), "saluki %s", SALUKI_VERSION);
	snprintf(i->os, sizeof(i->os), "%.30s %.60s %.30s", u.sysname, u.release, u.machine);
	i->count = h->count;
	for (uint32_t n = 0; n < i->count; n++)
		control_describe(&i->interfaces[n], &h->interfaces[n], h->snaplen);
	for (uint32_t n = 0; n < i->count; n++)
		control_link(i, n, h->interfaces[n].link);
}

static int control_radios(struct control *c, const struct handover *h,
			  const struct capture_options *o)
{
	const struct sampler_meets meets = { c->capture->source, c->privileged, &c->session->info };
	int err = 0;

	c->sampler = sampler_new(o, h, &meets, &err);
	if (!c->sampler)
		return err;
	c->capture->dwells = &c->sampler->dwells;
	if (o->steered)
		c->orders.radios = (struct commands_radios){ sampler_order, sampler_ordered,
							     c->sampler, c->sampler->said };
	return 0;
}

int control_init(struct control *c, struct capture *capture, struct exporter *e,
		 const struct handover *h, const struct capture_options *o)
{
	c->capture = capture;
	c->exporter = e;
	c->session = e->session;
	c->session->order = control_ordered;
	c->session->order_arg = c;
	c->snaplen = h->snaplen;
	if (c->session->keys_file.fd >= 0)
		c->orders.keys = (struct commands_keys){ control_keys, c };
	c->orders.source = capture->source;
	c->orders.names = c->session->info.interfaces;
	control_info(&c->session->info, h);
	c->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->done_fd < 0 ? -errno : control_radios(c, h, o);
}

void control_free(struct control *c)
{
	sampler_free(c->sampler);
	commands_free(&c->orders);
	lookup_stop(&c->lookup);
	if (c->generation >= 0)
		close(c->generation);
}
