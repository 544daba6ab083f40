// SPDX-License-Identifier: GPL-2.0
/* Topics: see topics.h. */
#include "topics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin.h"
#include "kafka/client/topic_error.h"

#define STEP_MS 1000

static const char *const endings[] = {
	[PUT_COMBOS] = "combos", [PUT_SENSORS] = "sensors", [PUT_LEDGER] = "ledger"
};

void topics_init(struct topics *t, const char *prefix)
{
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < PUT_TOPICS; i++)
		snprintf(t->list[i].name, TOPICS_NAME_MAX, "%.200s.%s", prefix, endings[i]);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void take_setting(struct topic *t, const char *name, const char *value)
{
	if (!value)
		return;
	if (!strcmp(name, "min.insync.replicas"))
		t->min_insync = atol(value);
	else if (!strcmp(name, "max.message.bytes"))
		t->max_bytes = atol(value);
	else if (!strcmp(name, "segment.bytes"))
		t->segment_bytes = atol(value);
	else if (!strcmp(name, "retention.ms"))
		t->retention_ms = atoll(value);
	else if (!strcmp(name, "message.timestamp.before.max.ms"))
		t->oldest_ms = atoll(value);
	else if (!strcmp(name, "cleanup.policy"))
		snprintf(t->cleanup, sizeof(t->cleanup), "%s", value);
	else if (!strcmp(name, "compression.type"))
		snprintf(t->compression, sizeof(t->compression), "%s", value);
}

static int take_settings(struct topic *t, const rd_kafka_ConfigResource_t *r, char *why)
{
	rd_kafka_resp_err_t err = rd_kafka_ConfigResource_error(r);
	const rd_kafka_ConfigEntry_t **entries;
	size_t count;

	t->min_insync = t->max_bytes = t->segment_bytes = t->retention_ms = t->oldest_ms = -1;
	*t->cleanup = *t->compression = 0;
	t->have = err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ? TOPIC_MISSING : TOPIC_FOUND;
	if (err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
		t->have = TOPIC_HIDDEN;
	else if (err && t->have == TOPIC_FOUND) {
		snprintf(why, TOPICS_WHY_MAX, "topic %s: %s", t->name,
			 rd_kafka_ConfigResource_error_string(r) ?: rd_kafka_err2str(err));
		return -EIO;
	}
	entries = rd_kafka_ConfigResource_configs(r, &count);
	for (size_t i = 0; i < count; i++)
		take_setting(t, rd_kafka_ConfigEntry_name(entries[i]),
			     rd_kafka_ConfigEntry_value(entries[i]));
	return 0;
}

static int take_event(struct topics *t, rd_kafka_event_t *event, char *why)
{
	const rd_kafka_ConfigResource_t **all;
	size_t count;
	int err = 0;

	if (rd_kafka_event_error(event)) {
		snprintf(why, TOPICS_WHY_MAX, "%s", rd_kafka_event_error_string(event));
		return -EAGAIN;
	}
	all = rd_kafka_DescribeConfigs_result_resources(
		rd_kafka_event_DescribeConfigs_result(event), &count);
	for (size_t i = 0; i < count && !err; i++)
		for (int n = 0; n < PUT_TOPICS && !err; n++)
			if (!strcmp(t->list[n].name, rd_kafka_ConfigResource_name(all[i])))
				err = take_settings(&t->list[n], all[i], why);
	return err;
}

static int read_settings(struct topics *t, struct client *c, struct signals *s, char *why)
{
	rd_kafka_ConfigResource_t *asked[PUT_TOPICS];
	rd_kafka_event_t *event;
	struct admin a;
	int err;

	admin_begin(&a, c, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	for (int i = 0; i < PUT_TOPICS; i++)
		asked[i] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, t->list[i].name);
	rd_kafka_DescribeConfigs(c->rk, asked, PUT_TOPICS, a.options, a.queue);
	rd_kafka_ConfigResource_destroy_array(asked, PUT_TOPICS);
	event = admin_wait(&a, c, s);
	snprintf(why, TOPICS_WHY_MAX, "the brokers do not answer");
	err = event ? take_event(t, event, why) : -EAGAIN;
	if (event)
		rd_kafka_event_destroy(event);
	admin_end(&a);
	return err;
}

/* ---- replicas -------------------------------------------------------------------------------- */

static void count_replicas(struct topic *t, const rd_kafka_metadata_topic_t *m)
{
	t->partitions = m->partition_cnt;
	t->replicas = 0;
	for (int i = 0; i < m->partition_cnt; i++)
		if (i == 0 || m->partitions[i].replica_cnt < t->replicas)
			t->replicas = m->partitions[i].replica_cnt;
}

/* Only of a topic that is there: brokers may create a topic that is asked for. */
static int read_replicas(struct topic *t, struct client *c, char *why)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(c->rk, t->name, NULL);
	const rd_kafka_metadata_t *m;
	rd_kafka_resp_err_t err = rd_kafka_metadata(c->rk, 0, topic, &m, STEP_MS);

	rd_kafka_topic_destroy(topic);
	if (err) {
		snprintf(why, TOPICS_WHY_MAX, "%s", rd_kafka_err2str(err));
		return -EAGAIN;
	}
	err = m->topic_cnt ? m->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
		t->have = TOPIC_MISSING;
	else if (err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
		t->have = TOPIC_HIDDEN;
	else if (!err)
		count_replicas(t, &m->topics[0]);
	rd_kafka_metadata_destroy(m);
	return 0;
}

int topics_read(struct topics *t, struct client *c, struct signals *s, char why[TOPICS_WHY_MAX])
{
	int err = read_settings(t, c, s, why);

	for (int i = 0; i < PUT_TOPICS && !err; i++)
		if (t->list[i].have != TOPIC_MISSING)
			err = read_replicas(&t->list[i], c, why);
	return err;
}

/* ---- judgement ------------------------------------------------------------------------------- */

#define WAYS "; change the topic, or accept that brokers can lose messages with --allow-weak"

bool topic_is_fit(const struct topic *t, bool allow_weak, char why[TOPICS_WHY_MAX])
{
	if (t->have == TOPIC_MISSING)
		topic_missing(why, TOPICS_WHY_MAX, t->name);
	else if (t->have == TOPIC_HIDDEN && (!allow_weak || !t->partitions))
		snprintf(why, TOPICS_WHY_MAX,
			 "topic %s: the brokers forbid this user to describe it; allow the "
			 "operations Describe and DescribeConfigs",
			 t->name);
	else if (!allow_weak && (t->replicas < 3 || t->min_insync < 2))
		snprintf(why, TOPICS_WHY_MAX,
			 "topic %s has %d replica%s and min.insync.replicas %ld, and needs 3 and "
			 "2" WAYS,
			 t->name, t->replicas, PLURAL(t->replicas), t->min_insync);
	else
		return true;
	return false;
}

bool topics_are_fit(const struct topics *t, bool allow_weak, char why[TOPICS_WHY_MAX])
{
	for (int i = 0; i < PUT_TOPICS; i++)
		if (!topic_is_fit(&t->list[i], allow_weak, why))
			return false;
	return true;
}

const char *topic_advice(const struct topic *t, enum put_topic which)
{
	if (t->have != TOPIC_FOUND)
		return NULL;
	if (t->max_bytes >= 0 && t->max_bytes < TOPICS_BYTES_MIN)
		return "max.message.bytes is below 131072: the brokers refuse large messages";
	if (which == PUT_SENSORS && *t->cleanup && strcmp(t->cleanup, "compact"))
		return "cleanup.policy is not compact: records of sensors are deleted";
	if (which != PUT_SENSORS && strstr(t->cleanup, "compact"))
		return "cleanup.policy is compact: all but a sensor's last message are deleted";
	if (*t->compression && strcmp(t->compression, "producer") &&
	    strcmp(t->compression, "uncompressed"))
		return "compression.type is not producer: the brokers compress again";
	return NULL;
}

uint64_t topic_age_ms(const struct topic *t)
{
	uint64_t age_ms = t->oldest_ms < 0 ? INT64_MAX : t->oldest_ms;

	if (t->retention_ms >= 0 && strstr(t->cleanup, "delete") &&
	    (uint64_t)t->retention_ms < age_ms)
		age_ms = t->retention_ms;
	return age_ms / 2;
}

static long smaller(long a, long b)
{
	return b > 0 && b < a ? b : a;
}

long topics_batch_bytes(const struct topics *t, long most)
{
	for (int i = 0; i < PUT_TOPICS; i++)
		most = smaller(smaller(most, t->list[i].max_bytes), t->list[i].segment_bytes);
	return most;
}
