// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-kafka get: the loop that carries messages from the brokers to the collector.
 *
 *     sensors: PREFIX.sensors ─▶ records ─┐
 *     consume: PREFIX.combos ─▶ holds ────┴▶ offsets ─▶ forward ─▶ collector
 *                    ◀─ commit ◀───────────────┘◀──────── DONE ───────┘
 *
 * Always holds: the group is joined after all records of that time are read; after a new
 * connection to the collector, all records and all messages without DONE go again.
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
#include "consume.h"
#include "forward.h"
#include "sensors.h"
#include "kafka/link/state.h"
#include "kafka/topics/topics.h"
#include "wire/bytes.h"

#define SECOND_NS 1000000000ULL
#define STOP_NS (5 * SECOND_NS)

enum { SIGNALS, COLLECTOR, SENSORS, WATERMARKS, GROUP, POLLED };

struct get_run {
	const struct kafka_options *options;
	const struct kafka_config *config;
	struct signals signals;
	struct topics topics;
	struct records records;
	struct offsets offsets;
	struct holds holds;
	struct strangers strangers;
	struct sensors sensors;
	struct consume consume;
	struct collector collector;
	struct forward *forward;
	struct state state;
	struct notify notify;
	uint64_t tick_ns;
	bool waits;		   /* the collector takes nothing more at present */
	bool joined;		   /* the group */
	char said[TOPICS_WHY_MAX]; /* what is wrong, as logged */
};

/* ---- what people are told -------------------------------------------------------------------- */

static void say(struct get_run *r, const char *why)
{
	if (*why && strcmp(r->said, why))
		log_line("%s", why);
	if (!*why && *r->said)
		log_line("messages are read again");
	snprintf(r->said, sizeof(r->said), "%s", why);
}

static void report(struct get_run *r)
{
	const struct consume_counts *c = &r->consume.counts;

	log_line("get: received %" PRIu64 " = done %" PRIu64 " + rejected %" PRIu64
		 " + passed over %" PRIu64 " + of a later version %" PRIu64 " + returned %" PRIu64
		 " + in flight %" PRIu64,
		 c->received, c->done, c->rejected, c->passed, c->newer, c->returned,
		 consume_in_flight(&r->consume));
	log_line("get: records received %" PRIu64 ", kept %" PRIu32 ", without room %" PRIu64
		 "; messages without their record %" PRIu64,
		 r->sensors.received, r->records.count, r->records.over, r->holds.unknown);
}

static void tell(struct get_run *r, const char *why, uint64_t now_ns)
{
	const struct consume_counts *c = &r->consume.counts;
	int64_t lag = r->joined ? consume_lag(&r->consume) : -1;
	char status[200];

	state_begin(&r->state, why);
	if (lag >= 0)
		state_add(&r->state, "lag=%" PRId64, lag);
	state_add(&r->state, "topic=%s", r->topics.list[PUT_COMBOS].name);
	state_add(&r->state, "brokers=%s", r->options->brokers);
	state_add(&r->state, "group=%s", r->options->group);
	state_add(&r->state, "partitions=%" PRId32, r->consume.assigned);
	state_add(&r->state, "moves=%" PRIu32, r->consume.moves);
	state_add(&r->state, "refused_messages=%" PRIu64, r->strangers.count);
	state_send(&r->state, &r->collector, true, now_ns);
	snprintf(status, sizeof(status), "%" PRIu64 " messages done, %" PRId64 " to read", c->done,
		 lag > 0 ? lag : 0);
	notify_alive(&r->notify, why ?: status);
}

static void take_signals(struct get_run *r)
{
	signals_read(&r->signals);
	if (r->signals.report)
		report(r);
	r->signals.report = false;
}

/* ---- the collector --------------------------------------------------------------------------- */

static void leave(struct get_run *r, int err)
{
	collector_leave(&r->collector, err == -EPIPE || err == -ECONNRESET ? NULL : "");
	r->tick_ns = 0; /* connects again */
	r->waits = false;
}

static void take_number(struct get_run *r, uint64_t number, uint64_t *count)
{
	if (!(number & FORWARD_RECORD) && !offsets_done(&r->offsets, number))
		(*count)++;
}

static int take_packet(struct get_run *r, const uint8_t *packet, size_t len)
{
	struct consume_counts *c = &r->consume.counts;

	if (packet[0] == PUT_DONE)
		for (size_t at = 1; at + 8 <= len; at += 8)
			take_number(r, load_be(packet + at, 8), &c->done);
	else if (packet[0] == PUT_REFUSED && len >= 9)
		take_number(r, load_be(packet + 1, 8), &c->rejected);
	else if (packet[0] == PUT_MESSAGE)
		return -EPROTO;
	return 0;
}

static int take_packets(struct get_run *r)
{
	int n = COLLECTOR_BATCH, err = 0;

	while (n == COLLECTOR_BATCH && !err) {
		n = collector_receive(&r->collector);
		err = n < 0 ? n : 0;
		for (int i = 0; i < n && !err; i++) {
			size_t len;
			const uint8_t *packet = collector_packet(&r->collector, i, &len);

			err = take_packet(r, packet, len);
		}
	}
	return err;
}

/* Reads DONE, and sends what there is. */
static void exchange(struct get_run *r, short revents)
{
	bool greeted = r->collector.greeted;
	int err = 0;

	if (r->collector.fd < 0)
		return;
	if (revents & (POLLIN | POLLHUP | POLLERR))
		err = take_packets(r);
	if (!err && r->collector.greeted && !greeted) {
		records_rewind(&r->records);
		offsets_rewind(&r->offsets);
		r->tick_ns = 0; /* the state goes at once */
	}
	if (!err && r->collector.greeted)
		err = forward_send(r->forward, &r->collector, &r->records, &r->offsets);
	r->waits = err == -EAGAIN;
	if (err && err != -EAGAIN)
		leave(r, err);
}

static struct pollfd collector_pollfd(const struct get_run *r)
{
	return (struct pollfd){ r->collector.fd, POLLIN | (r->waits ? POLLOUT : 0), 0 };
}

static bool has_any(struct get_run *r, const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt; i++) {
		const struct offsets_partition *p =
			offsets_find(&r->offsets, list->elems[i].partition);

		if (p && p->waiting)
			return true;
	}
	return false;
}

/* Partitions go to another member, which reads again what has no DONE. */
static void settle(void *owner, const rd_kafka_topic_partition_list_t *revoked)
{
	struct get_run *r = owner;
	uint64_t until = monotonic_ns() + STOP_NS, now;

	while (has_any(r, revoked) && r->collector.fd >= 0 && (now = monotonic_ns()) < until) {
		struct pollfd p = collector_pollfd(r);

		poll(&p, 1, monotonic_timeout(until, now));
		exchange(r, p.revents);
	}
}

/* ---- the brokers ----------------------------------------------------------------------------- */

static uint64_t next_ticket(void *owner)
{
	return watermarks_next(&((struct get_run *)owner)->sensors.watermarks);
}

/* Returns whether the topics are there. */
static bool check_topics(struct get_run *r, struct client *c)
{
	char why[TOPICS_WHY_MAX];
	int err = topics_read(&r->topics, c, &r->signals, why);
	const char *away;

	client_serve(c);
	away = brokers_look(c->brokers, true, monotonic_ns());
	for (int i = 0; i <= PUT_SENSORS && !err; i++)
		if (!r->topics.list[i].partitions) {
			topic_is_fit(&r->topics.list[i], true, why);
			err = -ENOENT;
		}
	if (!err)
		return true;
	if (err != -EAGAIN)
		say(r, why);
	notify_alive(&r->notify, away ?: why);
	return false;
}

static int wait_for_topics(struct get_run *r)
{
	static struct brokers brokers;
	struct client c = CLIENT_CLOSED;
	struct pollfd p = { r->signals.fd, POLLIN, 0 };
	rd_kafka_conf_t *conf = kafka_config_make(r->config, NULL);

	brokers_init(&brokers, r->options->brokers);
	if (!conf || client_open(&c, RD_KAFKA_CONSUMER, conf, &brokers))
		return -EINVAL;
	while (!check_topics(r, &c) && !r->signals.stop) {
		poll(&p, 1, 1000);
		take_signals(r);
	}
	client_close(&c);
	return 0;
}

static int join(struct get_run *r)
{
	int err;

	r->consume.topic = r->topics.list[PUT_COMBOS].name;
	r->consume.offsets = &r->offsets;
	r->consume.holds = &r->holds;
	r->consume.strangers = &r->strangers;
	r->consume.settle = settle;
	r->consume.ticket = next_ticket;
	r->consume.owner = r;
	err = consume_open(&r->consume, r->config, r->options);
	r->joined = !err;
	return err;
}

/* Takes what the brokers have sent. Returns 0 or -errno. */
static int serve(struct get_run *r, const struct pollfd *p, bool tick)
{
	uint64_t now = monotonic_ns();
	int32_t assigned = r->consume.assigned;
	int err = 0;

	if (p[SENSORS].revents || p[WATERMARKS].revents || tick)
		if (sensors_serve(&r->sensors))
			holds_release(&r->holds, r->sensors.reached);
	if (tick && watermarks_grown(&r->sensors.watermarks)) {
		log_line("topic %s has more partitions now; start again, so that they are read",
			 r->topics.list[PUT_SENSORS].name);
		return -ESTALE;
	}
	if (!r->joined && r->sensors.caught_up)
		err = join(r);
	if (!err && r->joined && (p[GROUP].revents || r->consume.more || tick))
		err = consume_serve(&r->consume, now);
	if (r->consume.assigned != assigned)
		r->tick_ns = 0; /* the state goes at once */
	if (r->holds.wanted)
		watermarks_ask(&r->sensors.watermarks, r->holds.wanted);
	return err;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static bool tick(struct get_run *r)
{
	uint64_t now = monotonic_ns();
	const char *away, *why;

	if (now < r->tick_ns)
		return false;
	r->tick_ns = now + SECOND_NS;
	collector_connect(&r->collector, now);
	away = brokers_look(r->joined ? &r->consume.brokers : &r->sensors.brokers, true, now);
	why = *r->consume.why ? r->consume.why : r->sensors.why;
	if (!away)
		say(r, why);
	if (r->joined)
		consume_commit(&r->consume, 0);
	tell(r, away ?: *why ? why : NULL, now);
	return true;
}

/* With no room, what librdkafka has is left there. */
static int timeout(const struct get_run *r)
{
	if (r->joined && r->consume.more && !holds_are_full(&r->holds))
		return 0;
	return monotonic_timeout(r->tick_ns, monotonic_ns());
}

static int carry(struct get_run *r)
{
	struct pollfd p[POLLED];
	int err = 0;
	bool full;

	while (!r->signals.stop && !err) {
		bool ticked = tick(r);

		full = r->consume.more && holds_are_full(&r->holds);
		p[SIGNALS] = (struct pollfd){ r->signals.fd, POLLIN, 0 };
		p[COLLECTOR] = collector_pollfd(r);
		p[SENSORS] = (struct pollfd){ r->sensors.client.fd, POLLIN, 0 };
		p[WATERMARKS] = (struct pollfd){ r->sensors.watermarks.fd, POLLIN, 0 };
		p[GROUP] = (struct pollfd){ r->joined && !full ? r->consume.client.fd : -1, POLLIN,
					    0 };
		poll(p, POLLED, ticked ? 0 : timeout(r));
		if (p[SIGNALS].revents)
			take_signals(r);
		err = serve(r, p, ticked);
		exchange(r, p[COLLECTOR].revents);
	}
	return err;
}

/* What is in flight is given 5 s. */
static void finish(struct get_run *r)
{
	uint64_t until = monotonic_ns() + STOP_NS, now;

	notify_stopping(&r->notify);
	for (int32_t i = 0; i < r->offsets.partition_count; i++)
		r->consume.counts.returned += holds_revoke(&r->holds, i);
	while (r->offsets.waiting && r->collector.fd >= 0 && (now = monotonic_ns()) < until) {
		struct pollfd p = collector_pollfd(r);

		poll(&p, 1, monotonic_timeout(until, now));
		exchange(r, p.revents);
	}
}

static int run(struct get_run *r)
{
	const struct topic *sensors = &r->topics.list[PUT_SENSORS];
	int err = wait_for_topics(r);

	if (err || r->signals.stop)
		return err;
	r->sensors.records = &r->records;
	r->sensors.strangers = &r->strangers;
	err = sensors_open(&r->sensors, r->config, r->options->group, sensors->name,
			   sensors->partitions);
	err = err ?: carry(r);
	finish(r);
	consume_close(&r->consume);
	sensors_close(&r->sensors);
	return err;
}

static void free_message(void *message)
{
	rd_kafka_message_destroy(message);
}

static int start(struct get_run *r)
{
	const struct kafka_options *o = r->options;

	topics_init(&r->topics, o->prefix);
	r->sensors.client.fd = r->consume.client.fd = r->collector.fd = -1;
	r->forward = forward_new();
	if (!r->forward || records_init(&r->records) || offsets_init(&r->offsets, free_message) ||
	    collector_init(&r->collector, o->socket, PUT_ROLE_SOURCE)) {
		log_line("out of memory");
		return -ENOMEM;
	}
	holds_init(&r->holds, &r->offsets, &r->records);
	r->consume.offsets = &r->offsets;
	r->consume.holds = &r->holds;
	if (privsep_check(o->user) || signals_open(&r->signals) || privsep_drop(o->user))
		return -EPERM;
	notify_open(&r->notify);
	return 0;
}

static void end(struct get_run *r)
{
	report(r);
	notify_close(&r->notify);
	holds_free(&r->holds);
	offsets_free(&r->offsets);
	records_free(&r->records);
	forward_free(r->forward);
	collector_free(&r->collector);
	signals_close(&r->signals);
}

int get_main(int argc, char **argv)
{
	static struct kafka_config config;
	static struct get_run r = { .config = &config, .notify = NOTIFY_NONE };
	static struct kafka_options o;
	int status = options_parse(&o, OPTIONS_GET, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	log_start(o.level);
	r.options = &o;
	if (kafka_config_read(&config, o.kafka_config, o.brokers) || start(&r))
		return 1;
	status = run(&r) ? 1 : 0;
	end(&r);
	kafka_config_free(&config);
	return client_exit(status);
}
