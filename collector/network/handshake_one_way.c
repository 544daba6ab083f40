// SPDX-License-Identifier: GPL-2.0
/* Handshake one way: see handshake_one_way.h. */
#include "handshake_one_way.h"

#include <sodium.h>
#include <string.h>

#include "common/log.h"
#include "handshake_candidate.h"
#include "sensor.h"

/* Returns the one-way session to which an m1 belongs, or NULL. */
static struct session *announced(struct sensor *s, const struct tryst_hello *hello)
{
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++) {
		struct session *c = &s->network->sessions[i];

		if (c->no_acks && c->run == hello->run && i != s->network->old &&
		    !memcmp(c->renew + 1, hello->ephemeral, KEY_LEN))
			return c;
	}
	return NULL;
}

/* An earlier collector may have taken an m1 from before our start. An m1 from the future would
 * block all later ones. */
static bool announced_out_of_time(struct handshake *m, const struct tryst_hello *hello)
{
	return hello->time_ns <= m->begun_ns ||
	       hello->time_ns > handshake_time(m) + 2 * TRYST_INTERVAL_NS;
}

static struct session *announce(struct set_up *u)
{
	const struct tryst_hello *hello = &u->hello;
	uint8_t k2[KEY_LEN];
	struct session *c = NULL;

	if (!tryst_one_way(k2, sensor_pair(u->s, u->pair)->shared, hello,
			   u->m->own[u->pair & SENSOR_PAIR_OLD].secret, hello->ephemeral))
		c = handshake_candidate_make(u->s, u->t, k2, hello->window, u->now_ns);
	sodium_memzero(k2, sizeof(k2));
	if (!c)
		return NULL;
	c->no_acks = true;
	c->pair = u->pair;
	memcpy(c->renew + 1, hello->ephemeral, KEY_LEN);
	handshake_candidate_hello(c, hello);
	return c;
}

/* Our private key is enough to forge one-way set-ups: they are only for sensors listed one-way. */
enum handshake_result handshake_one_way_take(struct set_up *u)
{
	const struct tryst_hello *hello = &u->hello;
	struct sensor *s = u->s;
	struct session *c = announced(s, hello);

	if (!s->one_way && !s->network->refusal_logged)
		log_line("sensor %s: has --one-way, and its line in --sensors does not say so",
			 s->name);
	s->network->refusal_logged = true;
	if (!s->one_way || announced_out_of_time(u->m, hello) ||
	    hello->window < SHROUD_WINDOW_MIN || hello->window > SESSION_WINDOW)
		return HANDSHAKE_IGNORED;
	/* Before the times are compared, as the other machine's clock may be behind. */
	if (!c && handshake_candidate_is_busy(s, u->pair, hello, u->now_ns))
		return HANDSHAKE_BUSY;
	/* Nothing from us proves that the m1 is fresh. But the sensor's time increases, and a
	 * replay has an old one. */
	if (hello->time_ns <= s->network->announced_ns)
		return HANDSHAKE_IGNORED;
	c = c ?: announce(u);
	if (!c)
		return HANDSHAKE_IGNORED;
	s->network->announced_ns = hello->time_ns;
	shroud_rx_move(&c->rx, u->t, hello->next);
	return HANDSHAKE_ANNOUNCED;
}
