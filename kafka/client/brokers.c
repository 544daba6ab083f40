// SPDX-License-Identifier: GPL-2.0
/* Brokers: see brokers.h. */
#include "brokers.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

/* A restarted broker, or a new leader, is there before this time has passed. */
#define PATIENCE_NS 3000000000ULL
#define INTERCEPTOR "saluki"

void brokers_init(struct brokers *b, const char *names)
{
	memset(b, 0, sizeof(*b));
	b->names = names;
	pthread_mutex_init(&b->lock, NULL);
}

void brokers_forget(struct brokers *b)
{
	pthread_mutex_lock(&b->lock);
	b->count = 0;
	pthread_mutex_unlock(&b->lock);
	b->refused = b->tls = b->protocol = b->all_down = false;
}

/* ---- librdkafka's threads -------------------------------------------------------------------- */

/* A broker of --brokers gets its id later, so the id is no part of it. */
static uint64_t hash(const char *name, int port)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ (uint64_t)port << 32;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ULL;
	return h;
}

static struct broker *find(struct brokers *b, uint64_t name)
{
	for (unsigned int i = 0; i < b->count; i++)
		if (b->list[i].name == name)
			return &b->list[i];
	if (b->count == BROKERS_MAX)
		return NULL;
	b->list[b->count] = (struct broker){ .name = name };
	return &b->list[b->count++];
}

static rd_kafka_resp_err_t on_state(rd_kafka_t *rk, int32_t id, const char *protocol,
				    const char *name, int port, const char *state, void *arg)
{
	struct brokers *b = arg;
	struct broker *one;

	(void)rk;
	(void)id;
	(void)protocol;
	pthread_mutex_lock(&b->lock);
	one = find(b, hash(name, port));
	if (one)
		one->up = !strcmp(state, "UP") || !strcmp(state, "UPDATE");
	pthread_mutex_unlock(&b->lock);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *arg,
				  char *error, size_t size)
{
	(void)conf;
	(void)error;
	(void)size;
	return rd_kafka_interceptor_add_on_broker_state_change(rk, INTERCEPTOR, on_state, arg);
}

void brokers_watch(struct brokers *b, rd_kafka_conf_t *conf)
{
	rd_kafka_conf_interceptor_add_on_new(conf, INTERCEPTOR, on_new, b);
}

/* ---- the program's thread -------------------------------------------------------------------- */

void brokers_error(struct brokers *b, rd_kafka_resp_err_t err, const char *reason)
{
	char *end;

	if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) { /* the errors before it say more */
		b->all_down = true;
		return;
	}
	b->refused = err == RD_KAFKA_RESP_ERR__AUTHENTICATION;
	/* A wrong certificate is no error of TLS to librdkafka, but one of the connection. */
	b->tls = err == RD_KAFKA_RESP_ERR__SSL || strstr(reason, "in state SSL_HANDSHAKE");
	b->protocol = strstr(reason, "incorrect security.protocol");
	snprintf(b->error, sizeof(b->error), "%s", reason);
	end = strstr(b->error, " (after ");
	if (end) /* its state, and how often it has happened */
		*end = 0;
}

static bool is_any_up(struct brokers *b)
{
	bool up = false;

	pthread_mutex_lock(&b->lock);
	for (unsigned int i = 0; i < b->count; i++)
		up |= b->list[i].up;
	pthread_mutex_unlock(&b->lock);
	return up;
}

const char *brokers_why(struct brokers *b)
{
	if (is_any_up(b))
		return NULL;
	if (b->refused)
		snprintf(b->why, sizeof(b->why),
			 "brokers refuse the credentials: %.250s; correct sasl.mechanism, "
			 "sasl.username and sasl.password in --kafka-config",
			 b->error);
	else if (b->tls)
		snprintf(b->why, sizeof(b->why),
			 "TLS to brokers fails: %.250s; correct security.protocol and ssl.* in "
			 "--kafka-config",
			 b->error);
	else if (b->protocol)
		snprintf(b->why, sizeof(b->why),
			 "brokers %.100s end each connection at its first request; if they need "
			 "TLS or SASL, correct security.protocol in --kafka-config",
			 b->names);
	else
		snprintf(b->why, sizeof(b->why), "brokers %.100s cannot be reached%s%.200s",
			 b->names, *b->error ? ": " : "", b->error);
	return b->why;
}

const char *brokers_look(struct brokers *b, bool needed, uint64_t now_ns)
{
	if (is_any_up(b)) {
		if (b->said)
			log_line("brokers are reached again");
		b->said = false;
		b->away_ns = 0;
		*b->error = 0;
		return NULL;
	}
	if (!b->away_ns)
		b->away_ns = now_ns;
	if (!b->said && !(needed && (b->refused || now_ns - b->away_ns > PATIENCE_NS)))
		return NULL;
	if (!brokers_why(b))
		return NULL;
	if (!b->said)
		log_line("%s; trying again", b->why);
	b->said = true;
	return b->why;
}
