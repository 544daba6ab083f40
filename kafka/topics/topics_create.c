// SPDX-License-Identifier: GPL-2.0
/* Creates topics: see topics.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "admin.h"
#include "common/log.h"
#include "topics.h"

static rd_kafka_NewTopic_t *describe(const struct topic *t, enum put_topic which,
				     const struct kafka_options *o)
{
	long insync = o->replicas > 2 ? 2 : 1;
	char error[256], text[32];
	rd_kafka_NewTopic_t *n =
		rd_kafka_NewTopic_new(t->name, o->partitions, o->replicas, error, sizeof(error));

	if (!n) {
		log_line("topic %s: %s", t->name, error);
		return NULL;
	}
	snprintf(text, sizeof(text), "%ld", insync);
	rd_kafka_NewTopic_set_config(n, "min.insync.replicas", text);
	rd_kafka_NewTopic_set_config(n, "compression.type", "producer");
	rd_kafka_NewTopic_set_config(n, "max.message.bytes", "1048588");
	rd_kafka_NewTopic_set_config(n, "cleanup.policy",
				     which == PUT_SENSORS ? "compact" : "delete");
	snprintf(text, sizeof(text), "%lld", (long long)o->retention_ms);
	if (which != PUT_SENSORS && o->retention_ms)
		rd_kafka_NewTopic_set_config(n, "retention.ms", text);
	return n;
}

static int say_results(rd_kafka_event_t *event)
{
	const rd_kafka_topic_result_t **all;
	size_t count;
	int wrong = 0;

	if (rd_kafka_event_error(event)) {
		log_line("topics cannot be created: %s", rd_kafka_event_error_string(event));
		return -EIO;
	}
	all = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event),
						  &count);
	for (size_t i = 0; i < count; i++) {
		rd_kafka_resp_err_t err = rd_kafka_topic_result_error(all[i]);

		if (!err || err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
			continue;
		log_line("topic %s cannot be created: %s", rd_kafka_topic_result_name(all[i]),
			 rd_kafka_topic_result_error_string(all[i]) ?: rd_kafka_err2str(err));
		wrong = -EIO;
	}
	return wrong;
}

static int create(rd_kafka_NewTopic_t **missing, int count, struct client *c, struct signals *s)
{
	rd_kafka_event_t *event;
	struct admin a;
	char error[128];
	int err = -EAGAIN;

	admin_begin(&a, c, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	/* Until all brokers know them, so that they are found when they are read. */
	rd_kafka_AdminOptions_set_operation_timeout(a.options, ADMIN_TIMEOUT_MS, error,
						    sizeof(error));
	rd_kafka_CreateTopics(c->rk, missing, count, a.options, a.queue);
	event = admin_wait(&a, c, s);
	if (event)
		err = say_results(event);
	else
		log_line("topics cannot be created: the brokers do not answer");
	if (event)
		rd_kafka_event_destroy(event);
	admin_end(&a);
	return err;
}

int topics_create(const struct topics *t, struct client *c, struct signals *s,
		  const struct kafka_options *o)
{
	rd_kafka_NewTopic_t *missing[PUT_TOPICS];
	int count = 0, err = 0;

	for (int i = 0; i < PUT_TOPICS && !err; i++) {
		if (t->list[i].have != TOPIC_MISSING)
			continue;
		missing[count] = describe(&t->list[i], i, o);
		err = missing[count] ? 0 : -EINVAL;
		count += !err;
	}
	if (count && !err)
		err = create(missing, count, c, s);
	rd_kafka_NewTopic_destroy_array(missing, count);
	return err;
}
