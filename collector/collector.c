// SPDX-License-Identifier: GPL-2.0
/*
 * The unprivileged process: see collector.h. One loop: first due work, then input. A second thread
 * only unpacks combos (collector/combo/ahead.h). In: datagrams (receive.h), commands of the
 * privileged process and of `saluki-collector ctl`. Out: through session_receive.h, files.
 */
#include "collector.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>

#include "collector/combo/ahead.h"
#include "collector/combo/intake.h"
#include "collector/combo/turns.h"
#include "collector/files/files.h"
#include "collector/network/sensor_list.h"
#include "collector/network/session_receive.h"
#include "collector/network/session_send.h"
#include "collector/network/timers.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "report.h"
#include "sandbox.h"

#define DRAIN_NS 1000000000ULL

/* As timers_tick, without a network. */
static int collector_source_tick(struct collector *c, uint64_t now)
{
	c->output.state.floor_ns = handshake_time(&c->network.handshake);
	c->presence.moved_ns = c->source.take.moved_ns;
	return source_tick(&c->source, now);
}

/* Does due work. Returns milliseconds until it must be called again; -1: no time. */
static int collector_tick(struct collector *c)
{
	uint64_t now = monotonic_ns();
	int timeout = output_tick(&c->output, now); /* its settled combos are then acknowledged */

	live_tick(&c->live, now);
	timeout = monotonic_sooner(timeout, turns_tick(&c->combos, now));
	timeout = monotonic_sooner(timeout, c->o->source ? collector_source_tick(c, now)
							 : timers_tick(&c->network, now));
	timeout = monotonic_sooner(timeout, groups_tick(&c->groups, now));
	timeout = monotonic_sooner(timeout, control_tick(&c->control, now));
	timeout = monotonic_sooner(timeout,
				   commands_tick(&c->commands,
						 now)); /* after the groups, which issue orders */
	if (!c->receive.inherited)
		timeout = monotonic_sooner(timeout, presence_tick(&c->presence, &c->sensors, now));
	if (c->output.sink)
		timeout = monotonic_sooner(timeout,
					   ledgers_tick(&c->ledgers, &c->sink, &c->sensors, now));
	timeout = monotonic_sooner(timeout, board_tick(&c->board, &c->shown, now));
	timeout = monotonic_sooner(timeout,
				   heartbeat_tick(&c->heartbeat, &c->presence, &c->output, now));
	return monotonic_sooner(timeout, status_line_tick(&c->status, &c->network, now));
}

/* Receives one batch. Returns the number of datagrams. */
static int collector_receive(struct collector *c)
{
	struct receive *r = &c->receive;

	receive_batch(r);
	if (r->count)
		session_receive_batch(&c->network, r->datagrams, r->count);
	return r->count;
}

/* Receives datagrams, then gives combos their turns. If combos wait, all datagrams are received
 * first: a sensor's place in the queue must not depend on other sensors' datagrams. Returns whether
 * combos still wait. */
static bool collector_work(struct collector *c, bool readable, bool more)
{
	int left = more ? RECEIVE_BEFORE_TURNS : 1;

	while (readable && left > 0) {
		left -= collector_receive(c);
		if (!c->receive.full)
			break;
	}
	return turns_serve(&c->combos, monotonic_ns());
}

static int collector_sensors(struct collector *c, const struct sensors_file *f)
{
	int err = sensor_list_apply(&c->network, f) ?: groups_apply(&c->groups, &f->groups);

	if (err)
		return err;
	sink_sensors_changed(&c->sink);
	key_orders_apply(&c->key_orders, &c->sensors);
	refocus_apply(&c->refocus, &f->groups);
	live_sensors(&c->live, &c->sensors);
	return 0;
}

/* A one-way sensor has no handshake, so only the time distinguishes a recorded session from a new
 * one. Without a state file, recorded sessions would be accepted after the clock was set back. */
static bool one_way_allowed(const struct collector *c, const struct sensors_file *f)
{
	for (unsigned int i = 0; i < f->count && !c->output.stateful; i++)
		if (f->lines[i].one_way) {
			log_line("--sensors %s: sensor %s is one-way, which takes a state file; "
				 "add --state FILE",
				 c->o->sensors_file, f->lines[i].name);
			return false;
		}
	return true;
}

/* With an error in the file, the list stays. */
static void collector_reload(struct collector *c)
{
	struct sensors_file f;
	struct files_answer a;
	int fd, err = files_ask(c->files, FILES_SENSORS, &a, &fd);

	if (err)
		log_line("--sensors %s: %s", c->o->sensors_file, strerror(-err));
	else
		err = sensors_file_read(&f, fd, c->o->sensors_file);
	if (!err && (!one_way_allowed(c, &f) ||
		     !refocus_knows(&c->refocus, &f.groups, c->o->sensors_file))) {
		err = -EINVAL;
		sensors_file_free(&f);
	}
	if (err) {
		log_line("the sensors stay as they are");
		return;
	}
	if (collector_sensors(c, &f) == 0)
		log_info("--sensors %s: read again, %u sensor%s", c->o->sensors_file, f.count,
			 PLURAL(f.count));
	sensors_file_free(&f);
}

static void collector_report(struct collector *c)
{
	report_print(&c->network, &c->receive, c->o->source ? &c->source : NULL);
}

/* Reads commands of the privileged process. */
static void collector_orders(struct collector *c)
{
	signals_take(&c->orders);
	if (c->orders.report)
		collector_report(c);
	if (c->orders.reload) {
		output_reopen(&c->output);
		if (!c->o->source)
			collector_reload(c);
		heartbeat_reloaded(&c->heartbeat);
	}
	c->orders.report = c->orders.reload = false;
}

/* A capture's sensor ends with the collector, so frames that it has not sent are lost. */
static void close_ledgers(struct collector *c)
{
	for (unsigned int i = 0; i < c->sensors.count; i++)
		ledger_run_close(&c->sensors.list[i]->ledger);
}

/* Receives the datagrams that the kernel already has, and answers final totals. */
static void collector_drain(struct collector *c)
{
	uint64_t until = monotonic_ns() + DRAIN_NS;

	while (collector_receive(c) > 0 && monotonic_ns() < until) {
		turns_serve(&c->combos, monotonic_ns());
		timers_tick(&c->network, monotonic_ns());
	}
	if (c->receive.inherited)
		intake_finish_capture(&c->combos, monotonic_ns());
	else
		intake_finish(&c->combos, monotonic_ns());
}

static void collector_finish(struct collector *c)
{
	terminal_line_say(&c->status.shown, "");
	if (!c->o->source)
		collector_drain(c);
	output_finish(&c->output);
	if (c->output.sink) { /* all that is delivered is counted now */
		ledgers_last(&c->ledgers, &c->sink, &c->sensors, monotonic_ns());
		sink_finish(&c->sink, SINK_LAST_MS);
	}
	if (c->o->source)
		source_finish(&c->source);
	else
		session_send_due(&c->network, UINT64_MAX); /* acknowledges all settled combos */
	if (c->receive.inherited)
		close_ledgers(c);
	board_show_last(&c->board, &c->shown, monotonic_ns());
	log_settings.fd = c->o->report;
	collector_report(c);
}

static void collector_loop(struct collector *c)
{
	struct pollfd p[3 + SOURCE_FDS] = {
		{ .fd = c->receive.sock, .events = POLLIN },
		{ .fd = c->orders.sock, .events = POLLIN },
		{ .fd = c->control.epoll, .events = POLLIN },
	};
	nfds_t count = c->o->source ? 3 + SOURCE_FDS : c->o->sink ? 4 : 3;
	bool more = false;

	for (;;) {
		int timeout = collector_tick(c); /* may find that the pipe has no reader */

		timeout = more ? 0 : timeout;
		if (c->o->source)
			source_polled(&c->source, p + 3);
		else if (c->output.sink)
			p[3].fd = sink_polled(&c->sink, &p[3].events);
		if (c->orders.stop || c->output.gone || c->output.over || c->receive.ended ||
		    (poll(p, count, timeout) < 0 && errno != EINTR))
			break;
		collector_orders(c);
		more = c->o->source ? source_serve(&c->source, p + 3, monotonic_ns())
				    : collector_work(c, p[0].revents, more);
		if (p[2].revents)
			control_serve(&c->control, monotonic_ns());
	}
}

/* What earlier collectors wrote must be known before the first datagram. */
static int collector_begin(struct collector *c)
{
	int err = output_init(&c->output, c->o, &c->sensors, c->files, &c->orders);

	if (err)
		return err;
	sensor_list_init(&c->network, c->output.state.floor_ns);
	if (c->o->source) /* sensors are made from records */
		err = source_init(&c->source, c->source.listener, &c->combos);
	else if (!one_way_allowed(c, &c->sensors_file))
		err = -EINVAL;
	else
		err = collector_sensors(c, &c->sensors_file);
	state_recall(&c->output.state, &c->sensors);
	sensors_file_free(&c->sensors_file);
	return err;
}

/* There may be keys of 10,000 sensors. */
static void lock_keys(struct collector *c)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	keys_lock(&c->network.handshake, sizeof(c->network.handshake));
}

static void sensor_begun(void *user, struct sensor *s)
{
	struct collector *c = user;

	groups_begun(&c->groups, s);
	key_orders_begun(&c->key_orders, s);
}

int collector_process(struct collector *c)
{
	int status = 1;

	lock_keys(c);

	c->network.sock = c->receive.sock;
	c->network.sensors = &c->sensors;
	c->network.combos = &c->combos;
	c->combos.sensors = &c->sensors;
	c->combos.output = &c->output;
	c->output.of_capture = c->receive.inherited;
	c->presence.silent_ns = c->o->silent_ns;
	c->board.silent_ns = c->o->silent_ns;
	c->shown = (struct board_sources){ &c->network, &c->receive, &c->groups,
					   c->o->source ? &c->source : NULL };
	c->output.live = c->live.ring ? &c->live : NULL;
	c->output.sink = c->o->sink ? &c->sink : NULL;
	if (c->o->sink)
		ledgers_init(&c->ledgers, c->o->port);
	commands_init(&c->commands, &c->network);
	groups_init(&c->groups, &c->commands, &c->sensors);
	key_orders_init(&c->key_orders, &c->commands);
	c->network.begun = sensor_begun;
	c->network.begun_user = c;
	if (refocus_init(&c->refocus, &c->groups, &c->combos, &c->sensors_file.groups,
			 c->o->sensors_file) ||
	    control_init(&c->control, c->listener, &c->commands, &c->sensors, &c->groups) ||
	    privsep_drop(c->o->user) || sandbox_receiving())
		return 1;
	if (combos_init(&c->combos) || (c->output.sink && sink_init(&c->sink)))
		log_line("out of memory");
	else if (collector_begin(c) == 0) {
		ahead_start(&c->combos.ahead);
		board_tick(&c->board, &c->shown, monotonic_ns()); /* there is one from now on */
		if (c->o->source)
			log_info("taking combos from %s, writing to %s", c->o->source,
				 c->output.name);
		else if (!c->receive.inherited)
			log_info("listening on %s:%s, %s %s", c->o->host ? c->o->host : "*",
				 c->o->port, c->o->sink ? "for saluki-kafka at" : "writing to",
				 c->o->sink ?: c->output.name);
		collector_loop(c);
		collector_finish(c);
		/* The end of the pipe's reader is a normal end. */
		status = (c->output.broken || c->output.hold.on) && !c->output.gone;
	}
	control_free(&c->control);
	groups_free(&c->groups);
	refocus_free(&c->refocus);
	commands_free(&c->commands);
	if (c->o->source)
		source_free(&c->source);
	sensor_list_free(&c->network);
	combos_free(&c->combos);
	live_free(&c->live);
	sink_free(&c->sink);
	board_writer_free(&c->board);
	return status;
}
