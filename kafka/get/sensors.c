// SPDX-License-Identifier: GPL-2.0
/* Sensors: see sensors.h. */
#include "sensors.h"

#include <errno.h>
#include <stdio.h>

#include "common/log.h"

/* A flood of records must not keep the loop from the collector. */
#define MESSAGES_AT_ONCE 1000

static int assign(struct sensors *s, const char *topic, int32_t partitions)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
	rd_kafka_resp_err_t err;

	for (int32_t i = 0; i < partitions; i++)
		rd_kafka_topic_partition_list_add(list, topic, i)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	err = rd_kafka_assign(s->client.rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (err)
		log_line("topic %s: %s", topic, rd_kafka_err2str(err));
	return err ? -EIO : 0;
}

int sensors_open(struct sensors *s, const struct kafka_config *config, const char *group,
		 const char *topic, int32_t partitions)
{
	const struct kafka_setting settings[] = {
		{ "group.id", group }, /* assign() needs it, and joins no group */
		{ "enable.auto.commit", "false" },
		{ "enable.auto.offset.store", "false" },
		{ "enable.partition.eof", "true" },
		{ "auto.offset.reset", "earliest" },
		{ "allow.auto.create.topics", "false" },
		{ "queued.max.messages.kbytes", "16384" },
		{ "topic.metadata.refresh.interval.ms", "10000" },
		{ "fetch.error.backoff.ms", "50" },
		{ NULL, NULL },
	};
	rd_kafka_conf_t *conf = kafka_config_make(config, settings);
	int err;

	s->topic = topic;
	brokers_init(&s->brokers, config->brokers);
	if (!conf || client_open(&s->client, RD_KAFKA_CONSUMER, conf, &s->brokers))
		return -EINVAL;
	client_consume(&s->client);
	err = assign(s, topic, partitions);
	err = err ?: watermarks_start(&s->watermarks, s->client.rk, topic, partitions);
	if (!err)
		watermarks_ask(&s->watermarks, watermarks_next(&s->watermarks));
	return err;
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *why_not_ours(const rd_kafka_message_t *m)
{
	if (!m->key_len || m->key_len > PUT_KEY_MAX)
		return "its key is missing or too long";
	return m->len > PUT_VALUE_MAX ? "its value is too long" : NULL;
}

static void take(struct sensors *s, const rd_kafka_message_t *m)
{
	const char *why = why_not_ours(m);
	rd_kafka_timestamp_type_t type;
	int64_t time_ms = rd_kafka_message_timestamp(m, &type);

	s->received++;
	if (why)
		strangers_say(s->strangers, m, why);
	else if (records_put(s->records, m->key, m->key_len, m->payload, m->len,
			     time_ms > 0 ? time_ms : 0) &&
		 s->records->over == 1)
		log_line("topic %s has more than %u keys or %u MiB; later sensors' records are "
			 "not kept",
			 rd_kafka_topic_name(m->rkt), RECORDS_MAX,
			 (unsigned int)(RECORDS_BYTES >> 20));
}

static void take_event(struct sensors *s, rd_kafka_message_t *m)
{
	if (!m->err) {
		take(s, m);
		watermarks_move(&s->watermarks, m->partition, m->offset + 1);
	} else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		watermarks_move(&s->watermarks, m->partition, m->offset);
	} else if (client_unreadable(m)) {
		strangers_say(s->strangers, m, "librdkafka cannot read its batch");
		client_pass_over(m, watermarks_skip(&s->watermarks, m->partition, m->offset));
	} else {
		brokers_error(&s->brokers, m->err, rd_kafka_message_errstr(m));
	}
	rd_kafka_message_destroy(m);
}

/* librdkafka says nothing if the topic is deleted, and does not go on if it is created again. */
static void check_topic(struct sensors *s)
{
	rd_kafka_resp_err_t err = watermarks_error(&s->watermarks);

	if (err && topic_error(err, s->topic, s->why))
		return;
	if (!err && *s->why) {
		*s->why = 0;
		for (int32_t i = 0; i < s->watermarks.partitions; i++)
			watermarks_move(&s->watermarks, i, 0);
		assign(s, s->topic, s->watermarks.partitions);
	}
}

bool sensors_serve(struct sensors *s)
{
	uint64_t before = s->received, reached = s->reached;
	rd_kafka_message_t *m;
	int n = 0;

	check_topic(s);
	client_clear(&s->client);
	while (n++ < MESSAGES_AT_ONCE && (m = rd_kafka_consumer_poll(s->client.rk, 0)))
		take_event(s, m);
	if (n > MESSAGES_AT_ONCE)
		client_wake(&s->client);
	s->reached = watermarks_reached(&s->watermarks);
	if (s->reached < reached)
		s->reached = reached;
	s->caught_up |= s->reached > 0;
	return s->received != before || s->reached != reached;
}

void sensors_close(struct sensors *s)
{
	watermarks_stop(&s->watermarks);
	client_close(&s->client);
}
