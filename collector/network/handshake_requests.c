// SPDX-License-Identifier: GPL-2.0
/* Handshake requests: see handshake_requests.h. */
#include "handshake_requests.h"

#include <sodium.h>
#include <string.h>

#include "wire/bytes.h"
#include "sensor.h"

void handshake_requests_init(struct handshake_requests *r)
{
	request_keys_init(&r->keys[0], r->handshake->own[0].public);
	if (r->handshake->two_keys)
		request_keys_init(&r->keys[1], r->handshake->own[1].public);
	randombytes_buf(r->secret, sizeof(r->secret));
	replays_init(&r->seen);
}

/* ---- owner ----------------------------------------------------------------------------------- */

/* Returns the address of a sensor's public key in the table. It is secret. */
static uint64_t key_word(const struct handshake_requests *r, const uint8_t sensor[KEY_LEN])
{
	uint8_t full[KEY_LEN];

	derive(full, r->secret, "listed", sensor, KEY_LEN, NULL, 0);
	return load_word(full);
}

int handshake_requests_add(const struct handshake_requests *r, struct table *t, struct sensor *s)
{
	struct sensor_second *second = s->network->second;
	int err;

	s->network->key_word = key_word(r, s->public);
	err = table_add(t, s->network->key_word, SENSOR_OWNER(s->index, SENSOR_KEY), 0);
	if (err || !second || sodium_is_zero(s->next, KEY_LEN))
		return err;
	second->key_word = key_word(r, s->next);
	return table_add(t, second->key_word, SENSOR_OWNER(s->index, SENSOR_KEY), SENSOR_PAIR_NEXT);
}

void handshake_requests_remove(struct table *t, const struct sensor *s)
{
	const struct sensor_second *second = s->network->second;

	table_remove(t, s->network->key_word, SENSOR_OWNER(s->index, SENSOR_KEY), 0);
	if (second && second->key_word)
		table_remove(t, second->key_word, SENSOR_OWNER(s->index, SENSOR_KEY),
			     SENSOR_PAIR_NEXT);
}

/* Returns the listed sensor with this key, and adds SENSOR_PAIR_NEXT to `*pair` if it is its next
 * one. */
static struct sensor *sensor_of(const struct handshake_requests *r, const uint8_t sensor[KEY_LEN],
				uint8_t *pair)
{
	uint64_t word = key_word(r, sensor);
	const struct table_entry *e = NULL;

	while ((e = table_find(r->table, word, e))) {
		struct sensor *s = r->sensors->list[SENSOR_OWNER_INDEX(e->owner)];

		if (SENSOR_OWNER_KIND(e->owner) != SENSOR_KEY ||
		    memcmp(sensor_pair_key(s, e->low), sensor, KEY_LEN))
			continue;
		*pair |= e->low;
		return s;
	}
	return NULL;
}

/* ---- cookies --------------------------------------------------------------------------------- */

static uint64_t cookie_of(const struct handshake_requests *r, const struct request *q,
			  const struct sensor *s, uint64_t period)
{
	uint8_t full[KEY_LEN], number[16];

	store_be(number, period, 8);
	store_be(number + 8, s->network->cookies_used, 8);
	derive(full, r->secret, "cookie", q->sensor, KEY_LEN, number, sizeof(number));
	return load_word(full);
}

bool handshake_requests_answers_stranger(struct handshake_requests *r, uint64_t now_ns)
{
	return rate_limit_takes(&r->strangers, HANDSHAKE_REQUESTS_OF_STRANGERS, now_ns);
}

uint64_t handshake_requests_cookie(const struct handshake_requests *r, const struct request *q,
				   const struct sensor *s, uint64_t now_ns)
{
	return cookie_of(r, q, s, now_ns / HANDSHAKE_REQUESTS_COOKIE_NS);
}

static bool is_fresh(const struct handshake_requests *r, const struct request *q,
		     const struct sensor *s, uint64_t now_ns)
{
	uint64_t cookie = load_word(q->rest), period = now_ns / HANDSHAKE_REQUESTS_COOKIE_NS;

	return cookie == cookie_of(r, q, s, period) || cookie == cookie_of(r, q, s, period - 1);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* The limit is enough for a sensor that a loop restarts, and keeps a broken sensor from using up
 * the others' quota. */
static bool sensor_allowed(struct sensor *s, bool dated, uint64_t now_ns)
{
	uint32_t most = dated ? HANDSHAKE_REQUESTS_OF_A_SENSOR
			      : HANDSHAKE_REQUESTS_OF_A_SENSOR_UNDATED;

	return rate_limit_takes(&s->network->requests, most, now_ns);
}

static bool may_open(struct handshake_requests *r, bool dated, uint64_t now_ns)
{
	return (dated || rate_limit_takes(&r->undated, HANDSHAKE_REQUESTS_UNDATED, now_ns)) &&
	       rate_limit_takes(&r->opened, HANDSHAKE_REQUESTS_OPENED_A_SECOND, now_ns);
}

/* ---------------------------------------------------------------------------------------------- */

static enum handshake_requests_result classify(struct handshake_requests *r,
					       const struct request *q, struct sensor *s,
					       bool dated, uint64_t now_ns)
{
	if (q->kind == REQUEST_SET_UP) {
		if (!s || !is_fresh(r, q, s, now_ns))
			return HANDSHAKE_REQUESTS_STALE;
		return sensor_allowed(s, dated, now_ns) ? HANDSHAKE_REQUESTS_SET_UP
							: HANDSHAKE_REQUESTS_LIMITED;
	}
	if (q->kind != REQUEST_COOKIE)
		return HANDSHAKE_REQUESTS_NONE;
	if (s && request_proved(q, sensor_pair(s, q->pair)->shared))
		return sensor_allowed(s, dated, now_ns) ? HANDSHAKE_REQUESTS_COOKIE
							: HANDSHAKE_REQUESTS_LIMITED;
	return s ? HANDSHAKE_REQUESTS_UNPROVED : HANDSHAKE_REQUESTS_UNLISTED;
}

/* Whether it is a request to one of the collector's keys: then sets its date, and in `*pair` whose.
 */
static bool plausible(const struct handshake_requests *r, const struct datagram *d,
		      uint64_t interval, uint64_t *date, uint8_t *pair)
{
	*pair = 0;
	if (request_plausible(&r->keys[0], d->bytes, d->len, interval, date))
		return true;
	*pair = SENSOR_PAIR_OLD;
	return r->handshake->two_keys &&
	       request_plausible(&r->keys[1], d->bytes, d->len, interval, date);
}

enum handshake_requests_result handshake_requests_take(struct handshake_requests *r,
						       const struct datagram *d, uint64_t interval,
						       struct request *q, struct sensor **s)
{
	enum handshake_requests_result result = HANDSHAKE_REQUESTS_NONE;
	uint64_t date;

	*s = NULL;
	if (!plausible(r, d, interval, &date, &q->pair))
		return HANDSHAKE_REQUESTS_NONE;
	if (replays_has(&r->seen, d->bytes))
		return HANDSHAKE_REQUESTS_REPEATED;
	if (!may_open(r, date != REQUEST_UNDATED, d->now_ns))
		return HANDSHAKE_REQUESTS_LIMITED;
	replays_add(&r->seen, d->bytes);
	if (!request_open(q, &r->handshake->own[q->pair], d->bytes, d->len, date)) {
		if (q->version != TRYST_VERSION)
			return HANDSHAKE_REQUESTS_VERSION;
		*s = sensor_of(r, q->sensor, &q->pair);
		result = classify(r, q, *s, date != REQUEST_UNDATED, d->now_ns);
	}
	if (result == HANDSHAKE_REQUESTS_NONE || result == HANDSHAKE_REQUESTS_LIMITED)
		sodium_memzero(q, sizeof(*q));
	return result;
}
