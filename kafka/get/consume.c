// SPDX-License-Identifier: GPL-2.0
/* Consume: see consume.h. */
#include "consume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "kafka/client/topic_error.h"

#define MESSAGES_AT_ONCE 1000
/* A pause drops what librdkafka has read ahead, so a short one is only waited for. */
#define PAUSE_NS 2000000000ULL

/* ---- commits
   --------------------------------------------------------------------------------- */

static bool is_passing(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
	       err == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION ||
	       err == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID || err == RD_KAFKA_RESP_ERR__NO_OFFSET ||
	       err == RD_KAFKA_RESP_ERR__DESTROY;
}

/* What was not committed is tried again with the next commit. */
static void on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err,
		      rd_kafka_topic_partition_list_t *list, void *arg)
{
	struct consume *c = ((struct client *)arg)->owner;

	(void)rk;
	c->committing = false;
	for (int i = 0; list && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *t = &list->elems[i];
		struct offsets_partition *p = offsets_find(c->offsets, t->partition);

		if (p && !err && !t->err)
			p->committed = t->offset;
		else if (p && t->err && !err)
			err = t->err;
	}
	if (err && !is_passing(err) && err != c->commit_error)
		log_line("topic %s: an offset cannot be committed: %s; trying again", c->topic,
			 rd_kafka_err2str(err));
	c->commit_error = err;
}

static rd_kafka_topic_partition_list_t *to_commit(struct consume *c)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);

	for (int32_t i = 0; i < c->offsets->partition_count; i++) {
		const struct offsets_partition *p = offsets_find(c->offsets, i);

		if (p && p->next != OFFSETS_UNKNOWN && p->next != p->committed)
			rd_kafka_topic_partition_list_add(list, c->topic, i)->offset = p->next;
	}
	return list;
}

static void commit_and_wait(struct consume *c, rd_kafka_topic_partition_list_t *list, int ms)
{
	rd_kafka_queue_t *answer = rd_kafka_queue_new(c->client.rk);

	if (!rd_kafka_commit_queue(c->client.rk, list, answer, on_commit, &c->client))
		rd_kafka_queue_poll_callback(answer, ms);
	rd_kafka_queue_destroy(answer);
}

void consume_commit(struct consume *c, int ms)
{
	rd_kafka_topic_partition_list_t *list = to_commit(c);

	if (list->cnt && ms)
		commit_and_wait(c, list, ms);
	else if (list->cnt && !c->committing)
		c->committing = !rd_kafka_commit(c->client.rk, list, 1);
	rd_kafka_topic_partition_list_destroy(list);
}

/* ---- the group ------------------------------------------------------------------------------- */

#define COMMIT_MS 5000
#define CLOSE_NS 6000000000ULL /* with the last commit */

static void pause_partitions(struct consume *c, bool pause)
{
	rd_kafka_topic_partition_list_t *list;

	if (rd_kafka_assignment(c->client.rk, &list))
		return;
	if (pause)
		rd_kafka_pause_partitions(c->client.rk, list);
	else
		rd_kafka_resume_partitions(c->client.rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	c->paused = pause;
}

static void assign(struct consume *c, rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_error_t *error = rd_kafka_incremental_assign(c->client.rk, list);

	for (int i = 0; i < list->cnt; i++) {
		if (offsets_assign(c->offsets, list->elems[i].partition))
			log_line("out of memory");
		c->assigned++;
	}
	if (error)
		log_line("topic %s: %s", c->topic, rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	if (c->paused)
		pause_partitions(c, true);
}

/* Held messages have not been sent. */
static void revoke(struct consume *c, rd_kafka_topic_partition_list_t *list)
{
	bool lost = rd_kafka_assignment_lost(c->client.rk);
	rd_kafka_error_t *error;

	for (int i = 0; i < list->cnt; i++)
		c->counts.returned += holds_revoke(c->holds, list->elems[i].partition);
	if (!lost && !c->closing)
		c->settle(c->owner, list);
	if (!lost)
		consume_commit(c, COMMIT_MS);
	for (int i = 0; i < list->cnt; i++) {
		c->counts.returned += offsets_revoke(c->offsets, list->elems[i].partition);
		c->assigned--;
	}
	error = rd_kafka_incremental_unassign(c->client.rk, list);
	rd_kafka_error_destroy(error);
}

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
			 rd_kafka_topic_partition_list_t *list, void *arg)
{
	struct consume *c = ((struct client *)arg)->owner;

	(void)rk;
	if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		assign(c, list);
	else
		revoke(c, list);
	c->divided = true;
	c->moves++;
	log_info("topic %s: this member has %" PRId32 " partition%s", c->topic, c->assigned,
		 PLURAL(c->assigned));
}

/* Cooperative: a partition that stays with its member is not interrupted when others come and go.
 * Static: a member that is restarted within session.timeout.ms finds its partitions. */
int consume_open(struct consume *c, const struct kafka_config *config,
		 const struct kafka_options *o)
{
	char member[OPTIONS_PREFIX_MAX + 256];
	const struct kafka_setting settings[] = {
		{ "group.id", o->group },
		{ "group.instance.id", member },
		{ "partition.assignment.strategy", "cooperative-sticky" },
		{ "heartbeat.interval.ms", "1000" },
		{ "enable.auto.commit", "false" },
		{ "enable.auto.offset.store", "false" },
		{ "enable.partition.eof", "true" },
		{ "auto.offset.reset", "earliest" },
		{ "allow.auto.create.topics", "false" },
		{ "queued.max.messages.kbytes", "16384" },
		{ "topic.metadata.refresh.interval.ms", "3000" },
		{ "fetch.error.backoff.ms", "50" }, /* client_pass_over() goes step by step */
		{ NULL, NULL },
	};
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__FAIL;
	rd_kafka_conf_t *conf;

	/* A member that comes back gets its old partitions without a question, for ever, also those
	 * of another topic. So a member is one topic's: the old one is forgotten after its session.
	 */
	snprintf(member, sizeof(member), "%s.%s", o->prefix, o->instance);
	conf = kafka_config_make(config, settings);
	brokers_init(&c->brokers, o->brokers);
	c->client.owner = c;
	if (conf) {
		rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
		rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
	}
	if (conf && !client_open(&c->client, RD_KAFKA_CONSUMER, conf, &c->brokers)) {
		client_consume(&c->client);
		rd_kafka_topic_partition_list_add(topics, c->topic, RD_KAFKA_PARTITION_UA);
		err = rd_kafka_subscribe(c->client.rk, topics);
		if (err)
			log_line("topic %s: %s", c->topic, rd_kafka_err2str(err));
	}
	rd_kafka_topic_partition_list_destroy(topics);
	return err ? -EIO : 0;
}

/* A broker that hangs would be waited for without end. */
static void leave_group(struct consume *c)
{
	rd_kafka_queue_t *queue = rd_kafka_queue_new(c->client.rk);
	rd_kafka_error_t *error = rd_kafka_consumer_close_queue(c->client.rk, queue);
	uint64_t until = monotonic_ns() + CLOSE_NS;

	while (!error && !rd_kafka_consumer_closed(c->client.rk) && monotonic_ns() < until)
		rd_kafka_queue_poll_callback(queue, 100);
	rd_kafka_error_destroy(error);
	rd_kafka_queue_destroy(queue);
}

void consume_close(struct consume *c)
{
	if (!c->client.rk)
		return;
	c->closing = true;
	leave_group(c);
	/* librdkafka does not end while there are messages. */
	for (int32_t i = 0; i < c->offsets->partition_count; i++) {
		c->counts.returned += holds_revoke(c->holds, i);
		c->counts.returned += offsets_revoke(c->offsets, i);
	}
	client_close(&c->client);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Returns 0, -EPROTO: a later version, or -EBADMSG with the reason. */
static int read_name(const rd_kafka_message_t *m, struct put_name *name, const char **why)
{
	rd_kafka_headers_t *headers;
	const void *value;
	size_t len;
	int err;

	*why = "it has no header " PUT_HEADER_NAME ", so saluki-kafka has not put it there";
	if (rd_kafka_message_headers(m, &headers) ||
	    rd_kafka_header_get_last(headers, PUT_HEADER_NAME, &value, &len))
		return -EBADMSG;
	*why = "its header " PUT_HEADER_NAME " is malformed";
	if (!value || len > UINT8_MAX)
		return -EBADMSG;
	err = put_name_read(name, value, len);
	if (err == -EPROTO)
		*why = "a later version has put it there; update saluki-kafka";
	return err;
}

static int read_message(const rd_kafka_message_t *m, struct put_name *name, const char **why)
{
	int err = read_name(m, name, why);

	if (err)
		return err;
	if (!m->key_len || m->key_len > PUT_KEY_MAX)
		*why = "its key is missing or too long";
	else if (m->len > PUT_VALUE_MAX)
		*why = "its value is too long";
	else
		return 0;
	return -EBADMSG;
}

static void name_record(struct hold *h, const rd_kafka_message_t *m, const struct put_name *name)
{
	char hash[18];

	snprintf(hash, sizeof(hash), "/%016" PRIx64, name->info);
	memcpy(h->key, m->key, m->key_len);
	memcpy(h->key + m->key_len, hash, sizeof(hash) - 1);
	h->key_len = m->key_len + sizeof(hash) - 1;
}

static void take(struct consume *c, rd_kafka_message_t *m)
{
	struct offsets_partition *p = offsets_find(c->offsets, m->partition);
	struct hold h = { .message = m,
			  .bytes = m->len + m->key_len,
			  .offset = m->offset,
			  .partition = m->partition };
	struct put_name name;
	const char *why;
	int err;

	if (!p) { /* revoked meanwhile */
		rd_kafka_message_destroy(m);
		return;
	}
	c->counts.received++;
	p->position = m->offset + 1;
	err = read_message(m, &name, &why);
	h.pass = err;
	c->counts.passed += err == -EBADMSG;
	c->counts.newer += err == -EPROTO;
	if (err)
		strangers_say(c->strangers, m, why);
	else
		name_record(&h, m, &name);
	if (holds_take(c->holds, &h, c->ticket(c->owner)) == 0)
		return;
	log_line("out of memory");
	c->client.fatal = true;
}

/* librdkafka would ask for an unreadable batch for ever. It is a stranger's, as ours are not
 * compressed. Where it ends is not known, so its messages are passed over one by one. */
static void pass_unreadable(struct consume *c, rd_kafka_message_t *m)
{
	struct offsets_partition *p = offsets_find(c->offsets, m->partition);
	struct hold h = { .message = m, .offset = m->offset, .partition = m->partition };

	if (!p) {
		rd_kafka_message_destroy(m);
		return;
	}
	if (h.offset < p->position) /* the error has the batch's begin */
		h.offset = p->position;
	h.pass = true;
	p->position = h.offset + 1;
	c->counts.received++;
	c->counts.passed++;
	strangers_say(c->strangers, m, "librdkafka cannot read its batch");
	client_pass_over(m, p->position);
	if (holds_take(c->holds, &h, c->ticket(c->owner)) == 0)
		return;
	log_line("out of memory");
	c->client.fatal = true;
}

/* An end of a partition, or an error. */
static void take_event(struct consume *c, const rd_kafka_message_t *m)
{
	struct offsets_partition *p = offsets_find(c->offsets, m->partition);

	switch (m->err) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF:
		if (p)
			p->position = m->offset;
		*c->why = 0;
		break;
	case RD_KAFKA_RESP_ERR__FATAL:
	case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
		c->client.fatal = true;
		break;
	case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED: /* it joins again */
		break;
	default:
		if (!topic_error(m->err, c->topic, c->why))
			brokers_error(&c->brokers, m->err, rd_kafka_message_errstr(m));
	}
}

static int say_fatal(const struct consume *c)
{
	char error[BROKERS_WHY_MAX];
	rd_kafka_resp_err_t err = rd_kafka_fatal_error(c->client.rk, error, sizeof(error));

	if (err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
		log_line("another member of the group has this instance's name; give each "
			 "saluki-kafka get a name of its own with --instance");
	else if (err)
		log_line("librdkafka cannot go on: %s", error);
	return -EIO;
}

/* Whether there is room. Pauses the partitions if there is none for long. */
static bool make_room(struct consume *c, uint64_t now_ns)
{
	const struct offsets *o = c->offsets;

	if (c->paused && o->bytes + c->holds->bytes < OFFSETS_BYTES / 2 &&
	    o->end - o->first + c->holds->count < OFFSETS_MESSAGES / 2)
		pause_partitions(c, false);
	if (!holds_are_full(c->holds)) {
		c->full_ns = 0;
		return true;
	}
	if (!c->full_ns)
		c->full_ns = now_ns;
	if (!c->paused && now_ns - c->full_ns > PAUSE_NS)
		pause_partitions(c, true);
	return c->paused;
}

int consume_serve(struct consume *c, uint64_t now_ns)
{
	rd_kafka_message_t *m;
	int n = 0;

	client_clear(&c->client);
	c->more = true;
	while (n++ < MESSAGES_AT_ONCE && make_room(c, now_ns)) {
		m = rd_kafka_consumer_poll(c->client.rk, 0);
		if (!m) {
			c->more = false;
			break;
		}
		if (!m->err) {
			take(c, m);
			continue;
		}
		if (client_unreadable(m)) {
			pass_unreadable(c, m);
			continue;
		}
		take_event(c, m);
		rd_kafka_message_destroy(m);
	}
	return c->client.fatal ? say_fatal(c) : 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

int64_t consume_lag(struct consume *c)
{
	int64_t lag = c->divided ? 0 : -1;

	for (int32_t i = 0; i < c->offsets->partition_count && lag >= 0; i++) {
		const struct offsets_partition *p = offsets_find(c->offsets, i);
		int64_t low, high;

		if (!p)
			continue;
		if (p->position < 0 ||
		    rd_kafka_get_watermark_offsets(c->client.rk, c->topic, i, &low, &high))
			return -1;
		lag += high > p->position ? high - p->position : 0;
	}
	return lag;
}

uint64_t consume_in_flight(const struct consume *c)
{
	return c->offsets->waiting + c->holds->count - c->holds->passing;
}
