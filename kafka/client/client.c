// SPDX-License-Identifier: GPL-2.0
/* Client: see client.h. */
#include "client.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"

#define DESTROY_S 3

static bool client_stuck; /* threads of librdkafka remain */
/* rd_kafka_new() that fails late has destroyed the interceptors of brokers_watch() already, and
 * rd_kafka_conf_destroy() would do so again. The program ends then. */
static __attribute__((used)) rd_kafka_conf_t *client_unused;

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *arg)
{
	struct client *c = arg;

	(void)rk;
	if (err == RD_KAFKA_RESP_ERR__FATAL)
		c->fatal = true;
	else
		brokers_error(c->brokers, err, reason);
}

static void watch(struct client *c, rd_kafka_queue_t *queue)
{
	static const uint64_t one = 1;

	c->queue = queue;
	rd_kafka_queue_io_event_enable(queue, c->fd, &one, sizeof(one));
}

void client_consume(struct client *c)
{
	rd_kafka_poll_set_consumer(c->rk);
	rd_kafka_queue_destroy(c->queue);
	watch(c, rd_kafka_queue_get_consumer(c->rk));
}

int client_open(struct client *c, rd_kafka_type_t type, rd_kafka_conf_t *conf,
		struct brokers *brokers)
{
	char error[BROKERS_WHY_MAX];

	*c = (struct client){ .fd = -1, .brokers = brokers, .owner = c->owner };
	brokers_forget(brokers);
	brokers_watch(brokers, conf);
	rd_kafka_conf_set_opaque(conf, c);
	rd_kafka_conf_set_error_cb(conf, on_error);
	c->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->rk = c->fd < 0 ? NULL : rd_kafka_new(type, conf, error, sizeof(error));
	if (c->rk) {
		watch(c, rd_kafka_queue_get_main(c->rk));
		return 0;
	}
	if (c->fd < 0)
		log_line("librdkafka cannot start: %s", strerror(errno));
	else
		log_line("librdkafka cannot start: %s; correct --kafka-config", error);
	client_unused = conf;
	client_close(c);
	return -EINVAL;
}

void client_clear(struct client *c)
{
	uint64_t count;

	if (read(c->fd, &count, sizeof(count)) < 0) /* there was none */
		return;
}

void client_wake(struct client *c)
{
	static const uint64_t one = 1;

	if (write(c->fd, &one, sizeof(one)) < 0) /* it is readable already */
		return;
}

bool client_unreadable(const rd_kafka_message_t *m)
{
	return m->err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION || m->err == RD_KAFKA_RESP_ERR__BAD_MSG;
}

void client_pass_over(const rd_kafka_message_t *m, int64_t next)
{
	rd_kafka_seek(m->rkt, m->partition, next, 0);
}

void client_serve(struct client *c)
{
	client_clear(c);
	rd_kafka_poll(c->rk, 0);
}

/* A group has been left before, as far as the brokers answered. */
static void *destroy(void *rk)
{
	rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	return NULL;
}

/* librdkafka 2.0 waits for ever if a topic was deleted and created again. Its threads then remain.
 */
static void destroy_in_time(rd_kafka_t *rk)
{
	struct timespec until;
	pthread_t thread;

	if (pthread_create(&thread, NULL, destroy, rk)) {
		destroy(rk);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DESTROY_S;
	if (!pthread_timedjoin_np(thread, NULL, &until))
		return;
	log_verbose("librdkafka: a client does not end");
	pthread_detach(thread);
	client_stuck = true;
}

void client_close(struct client *c)
{
	if (c->queue) {
		/* The descriptor's number will be another one's. */
		rd_kafka_queue_io_event_enable(c->queue, -1, NULL, 0);
		rd_kafka_queue_destroy(c->queue);
	}
	c->queue = NULL;
	if (c->rk)
		destroy_in_time(c->rk);
	c->rk = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

int client_exit(int status)
{
	if (!client_stuck)
		return status;
	fflush(NULL);
	_exit(status);
}
