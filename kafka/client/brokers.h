/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Brokers: whether any is connected, and what people must know if none is. In: librdkafka's events
 * of connections, from its threads, and its errors. Out: a log line when brokers go and when they
 * are back, and a reason for STATE.
 */
#ifndef KAFKA_CLIENT_BROKERS_H
#define KAFKA_CLIENT_BROKERS_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define BROKERS_MAX 256
#define BROKERS_WHY_MAX 600

struct brokers {
	const char *names;    /* as given */
	pthread_mutex_t lock; /* for `list` and `count` */
	struct broker {
		uint64_t name; /* a hash */
		bool up;
	} list[BROKERS_MAX];
	unsigned int count;
	uint64_t away_ns; /* since when none is connected; 0: one is */
	bool said;
	/* The last error: the credentials; the certificate; TLS on one side only, perhaps */
	bool refused, tls, protocol;
	bool all_down; /* each of the known brokers has been tried in vain */
	char error[BROKERS_WHY_MAX];
	char why[BROKERS_WHY_MAX];
};

void brokers_init(struct brokers *b, const char *names);
/* Follows the connections of the client that is made of `conf`. `b` must outlive it. */
void brokers_watch(struct brokers *b, rd_kafka_conf_t *conf);
/* A new client follows: nothing is connected yet. */
void brokers_forget(struct brokers *b);
/* Takes an error of the client. */
void brokers_error(struct brokers *b, rd_kafka_resp_err_t err, const char *reason);
/* Returns why no broker is connected, or NULL: one is. */
const char *brokers_why(struct brokers *b);
/* `needed`: something waits for a broker. Logs what has changed. Returns why nothing is carried, or
 * NULL. */
const char *brokers_look(struct brokers *b, bool needed, uint64_t now_ns);

#endif
