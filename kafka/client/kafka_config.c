// SPDX-License-Identifier: GPL-2.0
/* Settings of librdkafka: see kafka_config.h. */
#include "kafka_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define BYTES_MAX 65536
#define BLANKS " \t\r"
#define ERROR_MAX 512

/* The guarantees of put.h depend on these. */
#define BY_OPTION(option) "the option " option " of saluki-kafka gives it"
#define ACKED "a message is done only if all brokers that must have it have it"
#define ONCE "retries must neither repeat nor reorder messages"
#define FOREVER "a message is sent until brokers have it"
#define AFTER_DONE "an offset is committed only after the collector has the message"
#define SAME_PARTITION "all messages of a sensor must be in one partition, as for Java clients"
#define COMPRESSED "combos are compressed already"
#define FITS "saluki-kafka reads from the topics how large a batch may be"
#define FROM_START "messages would be skipped"
#define CALLS "saluki-kafka needs librdkafka's events in its own way"

static const struct {
	const char *key, *why;
} fixed[] = {
	{ "bootstrap.servers", BY_OPTION("--brokers") },
	{ "metadata.broker.list", BY_OPTION("--brokers") },
	{ "group.id", BY_OPTION("--group") },
	{ "group.instance.id", BY_OPTION("--instance") },
	{ "acks", ACKED },
	{ "request.required.acks", ACKED },
	{ "enable.idempotence", ONCE },
	{ "enable.gapless.guarantee", ONCE },
	{ "transactional.id", ONCE },
	{ "queuing.strategy", ONCE },
	{ "message.timeout.ms", FOREVER },
	{ "delivery.timeout.ms", FOREVER },
	{ "retries", FOREVER },
	{ "message.send.max.retries", FOREVER },
	{ "topic.metadata.propagation.max.ms", FOREVER },
	{ "enable.auto.commit", AFTER_DONE },
	{ "auto.commit.enable", AFTER_DONE },
	{ "enable.auto.offset.store", AFTER_DONE },
	{ "offset.store.method", AFTER_DONE },
	{ "partitioner", SAME_PARTITION },
	{ "compression.codec", COMPRESSED },
	{ "compression.type", COMPRESSED },
	{ "batch.size", FITS },
	{ "message.max.bytes", FITS },
	{ "auto.offset.reset", FROM_START },
	{ "partition.assignment.strategy", "all members of a group must have the same one" },
	{ "enable.partition.eof", CALLS },
	{ "enabled_events", CALLS },
	{ "allow.auto.create.topics", "brokers would create weak topics" },
	{ "plugin.library.paths", "a plugin could change all other settings" },
	{ NULL, NULL },
};

/* ---- the file -------------------------------------------------------------------------------- */

static int open_failed(const char *path, const char *why, int err)
{
	log_line("--kafka-config %s: %s", path, why);
	return err;
}

/* A service's group may read it, so that root can own the file. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file";
	else if (st.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO))
		why = "other users can read or change this file; chmod 600";
	else if (st.st_size > BYTES_MAX)
		why = "is larger than 64 KiB";
	if (!why)
		return fd;
	if (fd >= 0)
		close(fd);
	return open_failed(path, why, -EINVAL);
}

static int read_all(char *text, int fd)
{
	ssize_t n = 1;
	size_t len = 0;

	while (n && len < BYTES_MAX) {
		n = read(fd, text + len, BYTES_MAX - len);
		if (n < 0)
			return -errno;
		len += n;
	}
	return memchr(text, 0, len) ? -EINVAL : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int line_wrong(const struct kafka_config *c, unsigned int number, const char *key,
		      const char *why)
{
	log_line("%s:%u: %s%s%s", c->path, number, key ?: "", key ? ": " : "", why);
	return -EINVAL;
}

static char *trim(char *text)
{
	char *end;

	text += strspn(text, BLANKS);
	end = text + strlen(text);
	while (end > text && strchr(BLANKS, end[-1]))
		*--end = 0;
	return text;
}

static const char *why_fixed(const char *key)
{
	int i = 0;

	while (fixed[i].key && strcmp(fixed[i].key, key))
		i++;
	return fixed[i].why;
}

/* A line without '=' may be a password, so it is not logged. */
static int add_line(struct kafka_config *c, char *text, unsigned int number)
{
	char *value, *key = trim(text);
	const char *why;

	if (!*key || *key == '#')
		return 0;
	value = strchr(key, '=');
	if (!value || value == key)
		return line_wrong(c, number, NULL, "must be key=value");
	*value++ = 0;
	key = trim(key);
	why = why_fixed(key);
	if (why) {
		log_line("%s:%u: %s cannot be set: %s; remove the line", c->path, number, key, why);
		return -EINVAL;
	}
	if (c->count == KAFKA_CONFIG_LINES_MAX)
		return line_wrong(c, number, key, "too many settings");
	c->lines[c->count++] = (struct kafka_config_line){ key, trim(value), number };
	return 0;
}

static int add_lines(struct kafka_config *c)
{
	char *at = c->text;
	int err = 0;

	for (unsigned int number = 1; at && !err; number++) {
		char *line = strsep(&at, "\n");

		err = add_line(c, line, number);
	}
	return err;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* librdkafka's messages are for people who look for a fault. It does not log passwords. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	(void)rk;
	(void)level;
	log_verbose("librdkafka: %s: %s", facility, text);
}

static int set_ours(rd_kafka_conf_t *conf, const char *key, const char *value)
{
	char error[ERROR_MAX];

	if (!value || rd_kafka_conf_set(conf, key, value, error, sizeof(error)) == RD_KAFKA_CONF_OK)
		return 0;
	log_line("%s=%s: %s", key, value, error);
	return -EINVAL;
}

/* librdkafka names a wrong value, which could be a password's. */
static int set_line(rd_kafka_conf_t *conf, const struct kafka_config *c,
		    const struct kafka_config_line *l)
{
	char error[ERROR_MAX];

	if (rd_kafka_conf_set(conf, l->key, l->value, error, sizeof(error)) == RD_KAFKA_CONF_OK)
		return 0;
	return line_wrong(c, l->number, l->key,
			  *l->value && strstr(error, l->value) && strlen(l->value) > 1
				  ? "librdkafka refuses this value; see its CONFIGURATION.md"
				  : error);
}

rd_kafka_conf_t *kafka_config_make(const struct kafka_config *c, const struct kafka_setting *ours)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	int err = set_ours(conf, "bootstrap.servers", c->brokers);

	err = err ?: set_ours(conf, "client.id", "saluki-kafka");
	err = err ?: set_ours(conf, "reconnect.backoff.max.ms", "2000");
	for (; ours && ours->key && !err; ours++)
		err = set_ours(conf, ours->key, ours->value);
	for (unsigned int i = 0; i < c->count && !err; i++)
		err = set_line(conf, c, &c->lines[i]);
	if (err) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_log_cb(conf, on_log);
	return conf;
}

int kafka_config_read(struct kafka_config *c, const char *path, const char *brokers)
{
	rd_kafka_conf_t *conf;
	int fd, err;

	*c = (struct kafka_config){ .path = path, .brokers = brokers };
	if (path) {
		fd = open_file(path);
		if (fd < 0)
			return fd;
		c->text = calloc(1, BYTES_MAX + 1);
		err = c->text ? read_all(c->text, fd) : -ENOMEM;
		close(fd);
		if (err)
			return open_failed(path, err == -EINVAL ? "has a NUL byte" : strerror(-err),
					   err);
		if (add_lines(c))
			return -EINVAL;
	}
	conf = kafka_config_make(c, NULL);
	if (!conf)
		return -EINVAL;
	rd_kafka_conf_destroy(conf);
	return 0;
}

void kafka_config_free(struct kafka_config *c)
{
	if (c->text)
		explicit_bzero(c->text, BYTES_MAX + 1);
	free(c->text);
	c->text = NULL;
}
