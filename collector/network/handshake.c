// SPDX-License-Identifier: GPL-2.0
/* Handshake: see handshake.h. */
#include "handshake.h"

#include <sodium.h>
#include <string.h>

#include "handshake_candidate.h"
#include "handshake_forward.h"
#include "handshake_one_way.h"
#include "sensor.h"
#include "wire/request.h"

/* ---- set-up ---------------------------------------------------------------------------------- */

static uint32_t window_given(uint32_t asked)
{
	return asked < SHROUD_WINDOW_MIN ? SHROUD_WINDOW_MIN
	       : asked > SESSION_WINDOW	 ? SESSION_WINDOW
					 : asked;
}

/* Writes the m2. Returns false if the sensor's keys are invalid. */
static bool answer(struct set_up *u, struct tryst_welcome *w, uint8_t k2[KEY_LEN])
{
	const struct tryst_keys keys = { &u->m->own[u->pair & SENSOR_PAIR_OLD],
					 sensor_pair_key(u->s, u->pair),
					 sensor_pair(u->s, u->pair)->shared };
	long n;

	w->time_ns = handshake_time(u->m);
	w->sensor_id = u->s->id;
	if (u->hello.flags & TRYST_PADDED && u->len >= REQUEST_INIT_LEN)
		w->flags |= TRYST_PADDED;
	n = tryst_answer(u->out, k2, &keys, &u->hello, w, u->in, u->len);
	u->out_len = n < 0 ? 0 : n;
	return n >= 0;
}

static enum handshake_result welcome(struct set_up *u)
{
	uint64_t spool = handshake_forward_agree(u->m, u->s, &u->hello);
	struct tryst_welcome w = { .window = window_given(u->hello.window),
				   .flags = spool ? TRYST_SPOOL : 0 };
	struct session *c = NULL;
	uint8_t k2[KEY_LEN];

	if (answer(u, &w, k2))
		c = handshake_candidate_make(u->s, u->t, k2, w.window, u->now_ns);
	sodium_memzero(k2, sizeof(k2));
	if (!c)
		return HANDSHAKE_IGNORED;
	c->padded = w.flags & TRYST_PADDED;
	c->pair = u->pair;
	handshake_candidate_hello(c, &u->hello);
	c->spool = spool;
	return HANDSHAKE_TAKEN;
}

static enum handshake_result refuse_busy(struct set_up *u)
{
	struct tryst_welcome w = { .flags = TRYST_BUSY };
	uint8_t k2[KEY_LEN];
	bool done = answer(u, &w, k2);

	sodium_memzero(k2, sizeof(k2));
	return done ? HANDSHAKE_BUSY : HANDSHAKE_IGNORED;
}

static enum handshake_result take_hello(struct set_up *u)
{
	bool one_way = u->hello.flags & TRYST_ONE_WAY;

	if (one_way && !u->has_slot)
		return HANDSHAKE_IGNORED; /* a one-way sensor cannot receive a cookie */
	u->s->network->version = u->hello.version;
	if (u->hello.version != TRYST_VERSION)
		return HANDSHAKE_VERSION;
	if (one_way)
		return handshake_one_way_take(u);
	if (u->has_slot && handshake_candidate_overtook(u->s, &u->hello, u->now_ns))
		return HANDSHAKE_IGNORED;
	if (handshake_candidate_is_busy(u->s, u->pair, &u->hello, u->now_ns))
		return refuse_busy(u);
	return welcome(u);
}

enum handshake_result handshake_take(struct set_up *u)
{
	enum handshake_result result;

	if (tryst_accept(&u->hello, sensor_pair(u->s, u->pair)->shared, u->in, u->len))
		return HANDSHAKE_NONE;
	if (!rate_limit_takes(&u->m->inits, HANDSHAKE_INITS_A_SECOND, u->now_ns))
		return HANDSHAKE_LIMITED; /* its slot remains valid */
	if (u->has_slot)
		handshake_spend(u->t, u->s, u->pair, load_word(u->in), u->low);
	else
		u->s->network->cookies_used++;
	result = take_hello(u);
	sodium_memzero(&u->hello, sizeof(u->hello));
	return result;
}

/* ---- renewal --------------------------------------------------------------------------------- */

bool handshake_renew(struct handshake *m, struct table *t, struct sensor *s, const uint8_t *message,
		     uint64_t now_ns)
{
	const struct session *current = sensor_session(s);
	struct session *c = sensor_candidate(s);
	uint8_t k2[KEY_LEN];
	struct keypair own;

	if (!current || current->no_acks)
		return false;
	if (c && c->renewed && !memcmp(c->renew + 1, message + 1, KEY_LEN))
		return true;
	if (s->network->renewed_ns && now_ns - s->network->renewed_ns < 500000000)
		return false; /* the sensor repeats it, and each one costs Diffie-Hellman */
	s->network->renewed_ns = now_ns;
	tryst_ephemeral(&own, m->own[0].secret, handshake_time(m));
	c = tryst_renew(k2, current->chain, &own, message + 1, false)
		    ? NULL
		    : handshake_candidate_make(s, t, k2, current->rx.window, now_ns);
	if (c) {
		c->run = current->run;
		c->padded = current->padded;
		c->pair = current->pair;
		c->spool = current->spool;
		c->renewed = true;
		c->hello_ns = current->hello_ns;
		memcpy(c->instance, current->instance, sizeof(c->instance));
		c->renew[0] = MESSAGE_RENEWED;
		memcpy(c->renew + 1, message + 1, KEY_LEN);
		memcpy(c->renew + 1 + KEY_LEN, own.public, KEY_LEN);
	}
	sodium_memzero(k2, sizeof(k2));
	sodium_memzero(&own, sizeof(own));
	return c != NULL;
}
