// SPDX-License-Identifier: GPL-2.0
/* saluki-kafka topics: creates the topics that are missing, and prints all. In: the brokers'
 * answers. Out: a table, and a line for each fault. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kafka/options/commands.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/privsep.h"
#include "topics.h"

/* Reads again until all brokers' caches have a new topic. */
#define READS_MAX 20

static int say_why(struct client *c, const char *why)
{
	client_serve(c);
	log_line("%s", brokers_why(c->brokers) ?: why);
	return -EIO;
}

static bool is_any_missing(const struct topics *t)
{
	bool missing = false;

	for (int i = 0; i < PUT_TOPICS; i++)
		missing |= t->list[i].have == TOPIC_MISSING;
	return missing;
}

static int read_and_create(struct topics *t, struct client *c, struct signals *s,
			   const struct kafka_options *o)
{
	char why[TOPICS_WHY_MAX];
	int err = topics_read(t, c, s, why);

	if (err)
		return say_why(c, why);
	if (!is_any_missing(t))
		return 0;
	err = topics_create(t, c, s, o);
	for (int i = 0; i < READS_MAX && !err && is_any_missing(t); i++)
		err = topics_read(t, c, s, why);
	return err;
}

static const char *retention_text(const struct topic *t, char text[DURATION_TEXT_LEN])
{
	if (strstr(t->cleanup, "compact"))
		return "compacted";
	return t->retention_ms < 0 ? "for ever" : duration_text(text, t->retention_ms * 1000ULL);
}

/* Returns whether all is well. */
static bool print_topic(const struct topic *t, enum put_topic which, bool allow_weak)
{
	char text[DURATION_TEXT_LEN], why[TOPICS_WHY_MAX];
	const char *advice = topic_advice(t, which);
	bool fit = topic_is_fit(t, allow_weak, why);

	if (t->have == TOPIC_FOUND)
		printf("%-32s %10d %8d %10ld  %s\n", t->name, t->partitions, t->replicas,
		       t->min_insync, retention_text(t, text));
	fflush(stdout);
	if (!fit)
		log_line("%s", why);
	if (advice)
		log_line("topic %s: %s", t->name, advice);
	return fit && !advice;
}

static int run(const struct kafka_options *o, const struct kafka_config *config, struct signals *s)
{
	struct client c = CLIENT_CLOSED;
	struct brokers brokers;
	struct topics t;
	rd_kafka_conf_t *conf = kafka_config_make(config, NULL);
	bool well;

	brokers_init(&brokers, o->brokers);
	topics_init(&t, o->prefix);
	if (!conf || client_open(&c, RD_KAFKA_CONSUMER, conf, &brokers))
		return 1;
	well = !read_and_create(&t, &c, s, o);
	if (well)
		printf("%-32s %10s %8s %10s  %s\n", "topic", "partitions", "replicas", "min.insync",
		       "retention");
	for (int i = 0; i < PUT_TOPICS && *t.list[i].cleanup; i++)
		well &= print_topic(&t.list[i], i, o->allow_weak);
	client_close(&c);
	return well ? 0 : 1;
}

int topics_main(int argc, char **argv)
{
	struct kafka_config config;
	struct kafka_options o;
	struct signals s;
	int status = options_parse(&o, OPTIONS_TOPICS, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	log_settings.level = o.level;
	if (kafka_config_read(&config, o.kafka_config, o.brokers))
		return 1;
	if (privsep_check(o.user) || signals_open(&s) || privsep_drop(o.user))
		return 1;
	status = run(&o, &config, &s);
	kafka_config_free(&config);
	return status;
}
