// SPDX-License-Identifier: GPL-2.0
/* Produce: see produce.h. */
#include "produce.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/monotonic.h"
#include "kafka/client/topic_error.h"

/* The collector has at most 64 MiB and 65,536 messages without an answer. */
#define MESSAGES_MAX 131072
#define BYTES_MAX (160 << 20)
#define BATCH_BYTES 1000000
#define FLUSH_MS 1000
/* A batch's head, and what a record has beside key, headers and value at least and at most. */
#define BATCH_HEAD 61
#define RECORD_HEAD_MIN 15
#define RECORD_HEAD_MAX 48

_Static_assert(sizeof(void *) >= 8, "librdkafka keeps a message's number as a pointer");

/* ---- delivery reports ------------------------------------------------------------------------ */

/* Only the first reason counts: others follow from it. */
__attribute__((format(printf, 2, 3))) static void fail(struct produce *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!*p->trouble)
		vsnprintf(p->trouble, sizeof(p->trouble), fmt, args);
	va_end(args);
}

static void refuse(struct produce *p, uint64_t number, const char *reason)
{
	p->counts.refused++;
	if (answers_refuse(p->answers, number, reason))
		fail(p, "out of memory");
}

static const struct topic *topic_of(const struct produce *p, const rd_kafka_message_t *m)
{
	int i = 0;

	while (i < PUT_TOPICS - 1 && p->topics[i] != m->rkt)
		i++;
	return &p->known->list[i];
}

/* A batch is refused if one message is. If this one was not alone, all come again, each alone, and
 * with the present time. If that is refused, a clock is wrong, and no message is. */
static void refuse_batch(struct produce *p, const rd_kafka_message_t *m)
{
	const bool clock = p->alone && m->err == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;

	if (p->alone && !clock) {
		refuse(p, (uintptr_t)m->_private, rd_kafka_err2str(m->err));
		return;
	}
	p->counts.returned++;
	if (!*p->trouble) /* all that is in flight comes again, and before all else */
		p->alone_until = p->counts.taken + p->in_flight + 1;
	if (clock)
		fail(p,
		     "topic %s: brokers refuse the present time: %s; set the clocks of this "
		     "machine and of the brokers",
		     topic_of(p, m)->name, rd_kafka_err2str(m->err));
	fail(p, "topic %s: brokers refuse a batch: %s; sending each message alone to find which",
	     topic_of(p, m)->name, rd_kafka_err2str(m->err));
}

/* Batches are made to fit, so either this message is too large, or the topic has been changed. */
static void refuse_large(struct produce *p, const rd_kafka_message_t *m)
{
	const struct topic *t = topic_of(p, m);
	size_t most = BATCH_HEAD + RECORD_HEAD_MAX + 255 + m->key_len + m->len;

	if (t->max_bytes < 0 || most > (size_t)t->max_bytes) {
		refuse(p, (uintptr_t)m->_private, rd_kafka_err2str(m->err));
		return;
	}
	p->counts.returned++;
	fail(p, "topic %s: its max.message.bytes is smaller now; reading it again", t->name);
}

static void fail_topic(struct produce *p, const rd_kafka_message_t *m)
{
	const char *name = topic_of(p, m)->name, *error = rd_kafka_err2str(m->err);

	p->counts.returned++;
	switch (m->err) {
	case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
	case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
		break;
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
		if (!*p->trouble)
			topic_missing(p->trouble, sizeof(p->trouble), name);
		break;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
		fail(p,
		     "topic %s: the brokers forbid this user to write; allow the operation Write",
		     name);
		break;
	case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
		fail(p, "the brokers forbid this user to write with idempotence; allow the "
			"operation IdempotentWrite of the cluster");
		break;
	default:
		fail(p, "topic %s: %s", name, error);
	}
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *arg)
{
	struct produce *p = ((struct client *)arg)->owner;

	(void)rk;
	p->in_flight--;
	p->in_flight_bytes -= m->len;
	switch (m->err) {
	case RD_KAFKA_RESP_ERR_NO_ERROR:
		p->counts.delivered++;
		p->counts.delivered_bytes += m->len;
		if (answers_done(p->answers, (uintptr_t)m->_private))
			fail(p, "out of memory");
		break;
	case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
		refuse_large(p, m);
		break;
	case RD_KAFKA_RESP_ERR_INVALID_MSG:
	case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
	case RD_KAFKA_RESP_ERR_INVALID_RECORD:
	case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
	case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
		refuse_batch(p, m);
		break;
	default:
		fail_topic(p, m);
	}
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A sensor's clock may be wrong, and its store may be days old. Brokers refuse a batch for one
 * stamp that is an hour ahead, keep a file for ever for one that is a year ahead, and delete at
 * once what is older than the topic's retention. */
static int64_t stamp(const struct produce *p, const struct put *m)
{
	uint64_t now_ms = clock_ns(CLOCK_REALTIME_COARSE) / 1000000;
	uint64_t age_ms = m->time_ms < now_ms ? now_ms - m->time_ms : 0;

	if (p->alone || m->time_ms > now_ms || age_ms > topic_age_ms(&p->known->list[m->topic]))
		return now_ms;
	return m->time_ms;
}

static const char *why_never(const struct produce *p, const struct put *m)
{
	const struct topic *t = &p->known->list[m->topic];
	size_t least = BATCH_HEAD + RECORD_HEAD_MIN + m->key_len + m->header_len + m->value_len;

	if (!m->key_len)
		return "a message without a key has no partition";
	if (t->max_bytes >= 0 && least > (size_t)t->max_bytes)
		return "the message is larger than the topic's max.message.bytes";
	return NULL;
}

void produce_take(struct produce *p, const struct put *m)
{
	const char *why = why_never(p, m);
	rd_kafka_vu_t v[] = {
		{ .vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = p->topics[m->topic] },
		{ .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
		{ .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { (void *)m->key, m->key_len } },
		{ .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { (void *)m->value, m->value_len } },
		{ .vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = stamp(p, m) },
		{ .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)(uintptr_t)m->number },
		{ .vtype = RD_KAFKA_VTYPE_HEADER,
		  .u.header = { PUT_HEADER_NAME, m->header, m->header_len } },
	};
	rd_kafka_error_t *error;

	p->counts.taken++;
	if (why) {
		refuse(p, m->number, why);
		return;
	}
	p->in_flight++;
	p->in_flight_bytes += m->value_len;
	error = rd_kafka_produceva(p->client.rk, v, 6 + !!m->header_len);
	if (!error)
		return;
	p->in_flight--;
	p->in_flight_bytes -= m->value_len;
	p->counts.returned++;
	fail(p, "topic %s: %s", p->known->list[m->topic].name, rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
}

/* Each message of the refused batch has been sent alone: go back when the last one has an answer.
 */
static bool is_found(const struct produce *p)
{
	return p->alone && p->counts.taken >= p->alone_until;
}

bool produce_is_full(const struct produce *p)
{
	return is_found(p) || p->in_flight >= MESSAGES_MAX || p->in_flight_bytes >= BYTES_MAX;
}

/* A refused message ends the producer, because those behind it must not overtake those that are
 * sent again. librdkafka then gives all messages back: the reports of the refused batch come now,
 * or with this error. */
static void fail_all(struct produce *p)
{
	char error[BROKERS_WHY_MAX];
	rd_kafka_resp_err_t err = rd_kafka_fatal_error(p->client.rk, error, sizeof(error));

	rd_kafka_flush(p->client.rk, FLUSH_MS);
	if (err == RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE)
		fail(p, "brokers have refused a message; sending those behind it again");
	fail(p, "librdkafka cannot go on: %s", error);
}

void produce_serve(struct produce *p)
{
	client_serve(&p->client);
	if (p->client.fatal)
		fail_all(p);
	if (p->client.brokers->refused)
		fail(p, "brokers refuse the credentials: %s", p->client.brokers->error);
	if (is_found(p) && !p->in_flight)
		fail(p, "sending many messages at a time again");
}

/* ---- the producer ---------------------------------------------------------------------------- */

int produce_open(struct produce *p, const struct kafka_config *config, struct brokers *brokers,
		 const struct topics *topics, struct answers *answers)
{
	const bool alone = p->counts.taken < p->alone_until;
	char batch_bytes[32];
	const struct kafka_setting settings[] = {
		{ "acks", "all" },
		{ "enable.idempotence", "true" },
		{ "enable.gapless.guarantee", alone ? "false" : "true" },
		{ "max.in.flight", "5" },
		{ "message.timeout.ms", "0" },
		{ "partitioner", "murmur2_random" },
		{ "compression.codec", "none" },
		{ "linger.ms", "5" },
		{ "queue.buffering.max.messages", "1000000" },
		{ "queue.buffering.max.kbytes", "2097151" },
		{ "batch.size", batch_bytes },
		{ "batch.num.messages", alone ? "1" : "10000" },
		{ "topic.metadata.propagation.max.ms", "1000" },
		{ NULL, NULL },
	};
	rd_kafka_conf_t *conf;
	int err;

	snprintf(batch_bytes, sizeof(batch_bytes), "%ld", topics_batch_bytes(topics, BATCH_BYTES));
	*p->trouble = 0;
	p->known = topics;
	p->answers = answers;
	p->alone = alone;
	p->in_flight = p->in_flight_bytes = 0;
	conf = kafka_config_make(config, settings);
	if (!conf)
		return -EINVAL;
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	p->client.owner = p;
	err = client_open(&p->client, RD_KAFKA_PRODUCER, conf, brokers);
	for (int i = 0; i < PUT_TOPICS && !err; i++)
		p->topics[i] = rd_kafka_topic_new(p->client.rk, topics->list[i].name, NULL);
	return err;
}

/* Destroying waits for no broker, and drops what is in flight. */
void produce_close(struct produce *p)
{
	p->counts.returned += p->in_flight;
	p->in_flight = p->in_flight_bytes = 0;
	for (int i = 0; i < PUT_TOPICS; i++)
		if (p->topics[i])
			rd_kafka_topic_destroy(p->topics[i]);
	memset(p->topics, 0, sizeof(p->topics));
	if (p->client.rk)
		rd_kafka_purge(p->client.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
						     RD_KAFKA_PURGE_F_NON_BLOCKING);
	client_close(&p->client);
}
