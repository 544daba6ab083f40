// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-kafka put: the loop that carries messages from the collector to the brokers.
 *
 *     topics are fit ─▶ a producer, and a connection to the collector ─▶ carry ─┐
 *           ▲                                 trouble, or the connection's end  │
 *           └───────────────────────────────────────────────────────────────────┘
 *
 * Always holds: a connection to the collector has one producer. What has no answer when either ends
 * is the collector's, which sends it again in its order.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "kafka/link/collector.h"
#include "kafka/options/commands.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/notify.h"
#include "common/privsep.h"
#include "produce.h"
#include "kafka/link/state.h"

#define SECOND_NS 1000000000ULL
#define STOP_NS (5 * SECOND_NS)
#define STALL_NS (5 * SECOND_NS)
#define BATCHES_MAX 8 /* before answers are taken */

enum { SIGNALS, BROKERS, COLLECTOR, POLLED };

struct put_run {
	const struct kafka_options *options;
	const struct kafka_config *config;
	struct signals signals;
	struct brokers brokers;
	struct topics topics;
	struct produce produce;
	struct collector collector;
	struct answers answers;
	struct state state;
	struct notify notify;
	uint64_t tick_ns;	   /* when the next one is due */
	uint64_t moved_ns;	   /* when the last message was delivered, or none was in flight */
	uint64_t moved;		   /* messages delivered by then */
	uint64_t said_at;	   /* messages delivered then */
	char said[TOPICS_WHY_MAX]; /* what is wrong, as logged */
};

/* ---- what people are told -------------------------------------------------------------------- */

static void say(struct put_run *r, const char *why)
{
	if (strcmp(r->said, why))
		log_line("%s", why);
	snprintf(r->said, sizeof(r->said), "%s", why);
	r->said_at = r->produce.counts.delivered;
}

static void say_well(struct put_run *r)
{
	if (*r->said && r->produce.counts.delivered > r->said_at) {
		log_line("messages are delivered again");
		*r->said = 0;
	}
}

static void report(const struct put_run *r)
{
	const struct produce_counts *c = &r->produce.counts;

	log_line("put: taken %" PRIu64 " = delivered %" PRIu64 " + refused %" PRIu64
		 " + returned %" PRIu64 " + in flight %" PRIu64,
		 c->taken, c->delivered, c->refused, c->returned, r->produce.in_flight);
}

static void tell(struct put_run *r, const char *why, bool now, uint64_t now_ns)
{
	const struct produce_counts *c = &r->produce.counts;
	char status[200];

	state_begin(&r->state, why);
	state_add(&r->state, "topic=%s", r->topics.list[PUT_COMBOS].name);
	state_add(&r->state, "brokers=%s", r->options->brokers);
	state_add(&r->state, "delivered=%" PRIu64, c->delivered);
	state_add(&r->state, "in_flight=%" PRIu64, r->produce.in_flight);
	state_add(&r->state, "refused_messages=%" PRIu64, c->refused);
	state_send(&r->state, &r->collector, now, now_ns);
	snprintf(status, sizeof(status), "%" PRIu64 " messages delivered, %" PRIu64 " in flight",
		 c->delivered, r->produce.in_flight);
	notify_alive(&r->notify, why ?: status);
}

static void take_signals(struct put_run *r)
{
	signals_read(&r->signals);
	if (r->signals.report)
		report(r);
	r->signals.report = false;
}

/* ---- topics ---------------------------------------------------------------------------------- */

/* Returns whether messages may be put into the topics. */
static bool check_topics(struct put_run *r, struct client *c)
{
	char why[TOPICS_WHY_MAX];
	const char *away;
	int err = topics_read(&r->topics, c, &r->signals, why);

	client_serve(c);
	away = brokers_look(c->brokers, true, monotonic_ns());
	if (!err && topics_are_fit(&r->topics, r->options->allow_weak, why))
		return true;
	if (err != -EAGAIN)
		say(r, why);
	tell(r, away ?: why, false, monotonic_ns());
	return false;
}

static int wait_for_topics(struct put_run *r)
{
	struct client c = CLIENT_CLOSED;
	struct pollfd p = { r->signals.fd, POLLIN, 0 };
	rd_kafka_conf_t *conf = kafka_config_make(r->config, NULL);

	if (!conf || client_open(&c, RD_KAFKA_CONSUMER, conf, &r->brokers))
		return -EINVAL;
	while (!check_topics(r, &c) && !r->signals.stop) {
		poll(&p, 1, 1000);
		take_signals(r);
	}
	client_close(&c);
	return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void leave(struct put_run *r, const char *why)
{
	collector_leave(&r->collector, why);
	answers_forget(&r->answers);
}

static int take_packet(struct put_run *r, int n)
{
	size_t len;
	const uint8_t *packet = collector_packet(&r->collector, n, &len);
	struct put m;
	int err = put_read(&m, packet, len);

	if (!err)
		produce_take(&r->produce, &m);
	else
		log_line("--socket %s: the collector has sent a malformed message",
			 r->collector.path);
	return err;
}

static int take_packets(struct put_run *r)
{
	int n = COLLECTOR_BATCH, err = 0;

	for (int i = 0; i < BATCHES_MAX && n == COLLECTOR_BATCH && !err; i++) {
		n = collector_receive(&r->collector);
		err = n < 0 ? n : 0;
		for (int k = 0; k < n && !err; k++)
			err = take_packet(r, k);
	}
	return err;
}

/* Returns 0, or -errno if the connection is of no use any more. */
static int exchange(struct put_run *r, const struct pollfd *p)
{
	bool greeted = r->collector.greeted;
	int err = 0;

	if (p[BROKERS].revents)
		produce_serve(&r->produce);
	if (p[COLLECTOR].revents & (POLLIN | POLLHUP | POLLERR))
		err = take_packets(r);
	if (!greeted && r->collector.greeted)
		r->tick_ns = 0; /* the state goes at once */
	if (!err && r->collector.fd >= 0)
		err = answers_send(&r->answers, &r->collector);
	return err == -EAGAIN ? 0 : err;
}

static void wait_for_events(struct put_run *r, struct pollfd *p, bool takes)
{
	bool waits = r->answers.count || r->answers.refused_count;

	p[SIGNALS] = (struct pollfd){ r->signals.fd, POLLIN, 0 };
	p[BROKERS] = (struct pollfd){ r->produce.client.fd, POLLIN, 0 };
	p[COLLECTOR] =
		(struct pollfd){ r->collector.fd, (takes ? POLLIN : 0) | (waits ? POLLOUT : 0), 0 };
	poll(p, POLLED, monotonic_timeout(r->tick_ns, monotonic_ns()));
	if (p[SIGNALS].revents)
		take_signals(r);
}

/* librdkafka tries again without a word if too few replicas are in sync, or a broker hangs. */
static const char *why_stalled(struct put_run *r, uint64_t now_ns)
{
	if (!r->produce.in_flight || r->produce.counts.delivered != r->moved) {
		r->moved = r->produce.counts.delivered;
		r->moved_ns = now_ns;
	}
	return now_ns - r->moved_ns < STALL_NS
		       ? NULL
		       : "brokers have not acknowledged a message for 5 s; look whether they "
			 "hang, and whether all replicas are in sync";
}

static void tick(struct put_run *r)
{
	uint64_t now = monotonic_ns();
	const char *away, *stalled;

	if (now < r->tick_ns)
		return;
	r->tick_ns = now + SECOND_NS;
	collector_connect(&r->collector, now);
	away = brokers_look(&r->brokers, r->produce.in_flight, now);
	stalled = why_stalled(r, now);
	if (stalled && !away)
		say(r, stalled);
	say_well(r);
	tell(r, away ?: stalled ?: r->collector.fd < 0 ? "no collector is connected" : NULL, true, now);
}

/* What is in flight is given 5 s. */
static void finish(struct put_run *r)
{
	uint64_t until = monotonic_ns() + STOP_NS;
	struct pollfd p[POLLED];

	notify_stopping(&r->notify);
	while ((r->produce.in_flight || r->answers.count) && r->collector.fd >= 0 &&
	       monotonic_ns() < until && !*r->produce.trouble) {
		r->tick_ns = until;
		wait_for_events(r, p, false);
		if (exchange(r, p))
			break;
	}
}

static void carry(struct put_run *r)
{
	struct pollfd p[POLLED];
	int err = 0;

	r->tick_ns = 0;
	while (!r->signals.stop && !err && !*r->produce.trouble) {
		tick(r);
		wait_for_events(r, p, !produce_is_full(&r->produce));
		err = exchange(r, p);
	}
	if (r->signals.stop)
		finish(r);
	if (*r->produce.trouble) {
		say(r, r->produce.trouble);
		tell(r, r->produce.trouble, true, monotonic_ns());
	}
	leave(r, err == -EPIPE || err == -ECONNRESET ? NULL : "");
}

/* ---- the program ----------------------------------------------------------------------------- */

static uint64_t answered(const struct put_run *r)
{
	return r->produce.counts.delivered + r->produce.counts.refused;
}

/* A producer that has achieved nothing is followed by the next one a second later. */
static int run_once(struct put_run *r)
{
	struct pollfd p = { r->signals.fd, POLLIN, 0 };
	uint64_t before = answered(r);
	int err = produce_open(&r->produce, r->config, &r->brokers, &r->topics, &r->answers);

	if (!err)
		carry(r);
	produce_close(&r->produce);
	if (!err && !r->signals.stop && *r->produce.trouble && answered(r) == before) {
		poll(&p, 1, 1000);
		take_signals(r);
	}
	return err;
}

static int run(struct put_run *r)
{
	int err = 0;

	while (!r->signals.stop && !err) {
		err = wait_for_topics(r);
		if (!err && !r->signals.stop)
			err = run_once(r);
	}
	report(r);
	return err;
}

static int start(struct put_run *r)
{
	const struct kafka_options *o = r->options;

	brokers_init(&r->brokers, o->brokers);
	topics_init(&r->topics, o->prefix);
	r->produce.client.fd = -1;
	if (collector_init(&r->collector, o->socket, PUT_ROLE_SINK)) {
		log_line("out of memory");
		return -ENOMEM;
	}
	if (privsep_check(o->user) || signals_open(&r->signals) || privsep_drop(o->user))
		return -EPERM;
	notify_open(&r->notify);
	return 0;
}

int put_main(int argc, char **argv)
{
	static struct kafka_config config;
	static struct put_run r = { .config = &config, .notify = NOTIFY_NONE };
	static struct kafka_options o;
	int status = options_parse(&o, OPTIONS_PUT, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	log_start(o.level);
	r.options = &o;
	if (kafka_config_read(&config, o.kafka_config, o.brokers) || start(&r))
		return 1;
	status = run(&r) ? 1 : 0;
	notify_close(&r.notify);
	answers_free(&r.answers);
	collector_free(&r.collector);
	signals_close(&r.signals);
	kafka_config_free(&config);
	return client_exit(status);
}
