// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake: see handshake.h. Always holds, of a listed sensor: the table has the slots of the
 * intervals slots_of - 1 to slots_of + 1 that are not `spent`, and no others. A slot's `low` is its
 * interval's low bits and its place in it.
 */
#include "handshake.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>

#include "wire/request.h"
#include "sensor.h"
#include "handshake_forward.h"

#define SLOT_BITS 5
#define BEHIND_SLOWER 2 /* a clock that was set back: times slower than time passes */
_Static_assert(TRYST_SLOTS == 1 << SLOT_BITS, "the place of a slot in `low`");

void handshake_init(struct handshake *m, uint64_t floor_ns)
{
	m->latest_ns = floor_ns;
	m->begun_ns = handshake_time(m);
	m->interval = m->begun_ns / TRYST_INTERVAL_NS;
}

uint64_t handshake_time(struct handshake *m)
{
	uint64_t now = m->clock ? m->clock() : clock_ns(CLOCK_REALTIME);
	uint64_t monotonic = m->monotonic ? m->monotonic() : monotonic_ns();
	uint64_t slowly = m->read_ns ? (monotonic - m->read_ns) / BEHIND_SLOWER : 0;

	if (now >= m->latest_ns || !m->read_ns) {
		m->latest_ns = now > m->latest_ns ? now : m->latest_ns;
		m->read_ns = monotonic;
	} else { /* what the division leaves counts the next time */
		m->latest_ns += slowly;
		m->read_ns += slowly * BEHIND_SLOWER;
	}
	return m->latest_ns;
}

/* ---- slots ----------------------------------------------------------------------------------- */

static uint32_t slot_low(uint64_t interval, unsigned int j)
{
	return (uint32_t)(interval << SLOT_BITS | j);
}

static void slots_add(struct table *t, struct sensor *s, uint64_t interval)
{
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, s->network->pair, interval);
	s->network->spent[interval % 3] = 0;
	for (unsigned int j = 0; j < TRYST_SLOTS; j++)
		if (table_add(t, slots[j], SENSOR_OWNER(s->index, SENSOR_SLOTS),
			      slot_low(interval, j)))
			s->network->spent[interval % 3] |= 1u
							   << j; /* no memory: it cannot be used */
}

static void slots_remove(struct table *t, struct sensor *s, uint64_t interval)
{
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, s->network->pair, interval);
	for (unsigned int j = 0; j < TRYST_SLOTS; j++)
		if (!(s->network->spent[interval % 3] >> j & 1))
			table_remove(t, slots[j], SENSOR_OWNER(s->index, SENSOR_SLOTS),
				     slot_low(interval, j));
}

/* Slots of the intervals around `from` become those around `to`, which is later. */
static void slots_turn(struct table *t, struct sensor *s, uint64_t from, uint64_t to)
{
	for (uint64_t i = from - 1; i != from + 2; i++)
		if (i + 1 < to)
			slots_remove(t, s, i);
	for (uint64_t i = to - 1; i != to + 2; i++)
		if (i > from + 1)
			slots_add(t, s, i);
	s->network->slots_of = to;
}

int handshake_add(struct handshake *m, struct table *t, struct sensor *s)
{
	static const uint8_t none[KEY_LEN];
	bool preshared = sodium_memcmp(s->preshared, none, KEY_LEN) != 0;
	uint64_t interval = handshake_time(m) / TRYST_INTERVAL_NS;

	if (tryst_pair(s->network->pair, &m->own, s->public, false,
		       preshared ? s->preshared : NULL))
		return -EINVAL;
	for (uint64_t i = interval - 1; i != interval + 2; i++)
		slots_add(t, s, i);
	s->network->slots_of = interval;
	s->network->refused_one_way = false;
	return 0;
}

void handshake_remove(struct table *t, struct sensor *s)
{
	for (uint64_t i = s->network->slots_of - 1; i != s->network->slots_of + 2; i++)
		slots_remove(t, s, i);
	sodium_memzero(s->network->pair, sizeof(s->network->pair));
}

bool handshake_turn(struct handshake *m, struct table *t, struct sensors *list)
{
	uint64_t interval = handshake_time(m) / TRYST_INTERVAL_NS;
	unsigned int until;

	if (interval != m->interval) {
		m->interval = interval;
		m->turned = 0;
	}
	until = m->turned + HANDSHAKE_TURN_BATCH;
	for (; m->turned < list->count && m->turned < until; m->turned++) {
		struct sensor *s = list->list[m->turned];

		if (s->listed && s->network->slots_of != interval)
			slots_turn(t, s, s->network->slots_of, interval);
	}
	return m->turned < list->count;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void spend(struct table *t, struct sensor *s, uint64_t address, uint32_t low)
{
	uint64_t interval =
		s->network->slots_of + (int64_t)(int32_t)((low >> SLOT_BITS << SLOT_BITS) -
							  slot_low(s->network->slots_of, 0)) /
					       TRYST_SLOTS;

	table_remove(t, address, SENSOR_OWNER(s->index, SENSOR_SLOTS), low);
	s->network->spent[interval % 3] |= 1u << low % TRYST_SLOTS;
}

/* The place for another candidate: the last one's, or a free one. NULL: no memory. */
static struct session *candidate_place(struct sensor *s, struct table *t)
{
	int i = s->network->candidate;

	if (network_sensor_sessions(s))
		return NULL;
	for (int k = 0; i < 0 && k < SENSOR_SESSIONS; k++)
		if (k != s->network->current && k != s->network->old)
			i = k;
	s->network->candidate = -1;
	session_end(&s->network->sessions[i], t);
	return &s->network->sessions[i];
}

/* Makes the candidate of a root. Returns NULL where there is no memory for it. */
static struct session *candidate_make(struct sensor *s, struct table *t, uint8_t k2[KEY_LEN],
				      uint32_t window, uint64_t now_ns)
{
	struct session *c = candidate_place(s, t);
	int i;

	if (!c)
		return NULL;
	i = c - s->network->sessions;
	if (session_make(c, t, k2, SENSOR_OWNER(s->index, SENSOR_SESSION + i), window, now_ns))
		return NULL;
	s->network->candidate = i;
	return c;
}

static uint32_t window_given(uint32_t asked)
{
	return asked < SHROUD_WINDOW_MIN ? SHROUD_WINDOW_MIN
	       : asked > SESSION_WINDOW	 ? SESSION_WINDOW
					 : asked;
}

/* After a restart slots that were spent are here once more: what is recorded of them must not drive
 * out the candidate that the sensor is just about to use, by renewal neither. */
static bool overtaken(const struct sensor *s, const struct tryst_hello *hello, uint64_t now_ns)
{
	const struct session *c = sensor_candidate(s);

	return c && hello->time_ns <= c->hello_ns && now_ns - c->made_ns < HANDSHAKE_CANDIDATE_NS;
}

static void candidate_of(struct session *c, const struct tryst_hello *hello)
{
	c->run = hello->run;
	c->hello_ns = hello->time_ns;
	memcpy(c->instance, hello->instance, sizeof(c->instance));
	sensor_info_set(&c->info, hello->info, hello->info_len); /* without memory there is none */
}

/* Writes the m2. Returns its bytes, with k2, or -EBADMSG. */
static long welcome(struct handshake *m, struct sensor *s, const struct tryst_hello *hello,
		    struct tryst_welcome *w, uint8_t k2[KEY_LEN], uint8_t *out, const uint8_t *in,
		    size_t len)
{
	bool padded = hello->flags & TRYST_PADDED && len >= REQUEST_INIT_LEN;

	w->time_ns = handshake_time(m);
	w->sensor_id = s->id;
	w->flags |= padded ? TRYST_PADDED : 0;
	return tryst_answer(out, k2, &m->own, s->public, s->network->pair, hello, w, in, len,
			    padded ? SHROUD_DATAGRAM_PADDED : 0);
}

static struct session *welcome_sensor(struct handshake *m, struct table *t, struct sensor *s,
				      const struct tryst_hello *hello, uint8_t *out,
				      size_t *out_len, const uint8_t *in, size_t len,
				      uint64_t now_ns)
{
	struct tryst_welcome w = { .window = window_given(hello->window) };
	uint64_t spool = handshake_forward_agree(&m->own, s->network->pair, hello);
	uint8_t k2[KEY_LEN];
	struct session *c;
	long n;

	w.flags = spool ? TRYST_SPOOL : 0;
	n = welcome(m, s, hello, &w, k2, out, in, len);
	c = n < 0 ? NULL : candidate_make(s, t, k2, w.window, now_ns);
	sodium_memzero(k2, sizeof(k2));
	if (!c)
		return NULL;
	*out_len = n;
	c->padded = w.flags & TRYST_PADDED;
	candidate_of(c, hello);
	c->spool = spool;
	return c;
}

/* ---- another instance ------------------------------------------------------------------------ */

/* The sensor is being heard from another machine: its key was copied. A machine that was started
 * again has another instance too, but was silent meanwhile. */
static bool is_busy(const struct sensor *s, const struct tryst_hello *hello, uint64_t now_ns)
{
	const struct session *c = sensor_session(s);

	return c && !s->final_confirmed && now_ns - s->heard_ns < HANDSHAKE_SILENT_NS &&
	       memcmp(c->instance, hello->instance, sizeof(c->instance));
}

static enum handshake_result answer_busy(struct handshake *m, struct sensor *s,
					 const struct tryst_hello *hello, uint8_t *out,
					 size_t *out_len, const uint8_t *in, size_t len)
{
	struct tryst_welcome w = { .flags = TRYST_BUSY };
	uint8_t k2[KEY_LEN];
	long n = welcome(m, s, hello, &w, k2, out, in, len);

	sodium_memzero(k2, sizeof(k2));
	if (n < 0)
		return HANDSHAKE_IGNORED;
	*out_len = n;
	return HANDSHAKE_BUSY;
}

/* ---- one way --------------------------------------------------------------------------------- */

/* The one-way session that an m1 is of, or NULL. */
static struct session *announced(struct sensor *s, const struct tryst_hello *hello)
{
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++) {
		struct session *c = &s->network->sessions[i];

		if (c->one_way && c->run == hello->run && i != s->network->old &&
		    !memcmp(c->renew + 1, hello->ephemeral, KEY_LEN))
			return c;
	}
	return NULL;
}

/* What is from before our start may have been answered by the collector before us. One that is not
 * of its slot would keep all that come behind it out. */
static bool announced_out_of_time(struct handshake *m, const struct tryst_hello *hello)
{
	return hello->time_ns <= m->begun_ns ||
	       hello->time_ns > handshake_time(m) + 2 * TRYST_INTERVAL_NS;
}

static struct session *announce_sensor(struct handshake *m, struct table *t, struct sensor *s,
				       const struct tryst_hello *hello, uint64_t now_ns)
{
	uint8_t k2[KEY_LEN];
	struct session *c = NULL;

	if (!tryst_one_way(k2, s->network->pair, hello, m->own.secret, hello->ephemeral))
		c = candidate_make(s, t, k2, hello->window, now_ns);
	sodium_memzero(k2, sizeof(k2));
	if (!c)
		return NULL;
	c->one_way = true;
	memcpy(c->renew + 1, hello->ephemeral, KEY_LEN);
	candidate_of(c, hello);
	return c;
}

/* Whoever has our private key could be a one-way sensor to us: only those may that are listed so.
 */
static enum handshake_result take_one_way(struct handshake *m, struct table *t, struct sensor *s,
					  const struct tryst_hello *hello, uint64_t now_ns)
{
	struct session *c = announced(s, hello);

	if (!s->one_way && !s->network->refused_one_way)
		log_line("sensor %s: has --one-way, and its line in --sensors does not say so",
			 s->name);
	s->network->refused_one_way = true;
	if (!s->one_way || announced_out_of_time(m, hello) || hello->window < SHROUD_WINDOW_MIN ||
	    hello->window > SESSION_WINDOW)
		return HANDSHAKE_IGNORED;
	/* Before the times are compared: the other machine's clock may be behind. */
	if (!c && is_busy(s, hello, now_ns))
		return HANDSHAKE_BUSY;
	/* Nothing was agreed on with the sensor, but its time rises: a recording has an old one. */
	if (hello->time_ns <= s->network->announced_ns)
		return HANDSHAKE_IGNORED;
	c = c ? c : announce_sensor(m, t, s, hello, now_ns);
	if (!c)
		return HANDSHAKE_IGNORED;
	s->network->announced_ns = hello->time_ns;
	shroud_rx_move(&c->rx, t, hello->next);
	return HANDSHAKE_ONE_WAY;
}

/* ---------------------------------------------------------------------------------------------- */

static enum handshake_result take_hello(struct handshake *m, struct table *t, struct sensor *s,
					const struct tryst_hello *hello, uint8_t *out,
					size_t *out_len, const uint8_t *in, size_t len,
					uint64_t now_ns)
{
	s->network->said_version = hello->version;
	if (hello->version != TRYST_VERSION)
		return HANDSHAKE_VERSION;
	if (hello->flags & TRYST_ONE_WAY)
		return take_one_way(m, t, s, hello, now_ns);
	if (is_busy(s, hello, now_ns))
		return answer_busy(m, s, hello, out, out_len, in, len);
	return welcome_sensor(m, t, s, hello, out, out_len, in, len, now_ns) ? HANDSHAKE_TAKEN
									     : HANDSHAKE_IGNORED;
}

enum handshake_result handshake_take(struct handshake *m, struct table *t, struct sensor *s,
				     uint32_t low, uint8_t *out, size_t *out_len, const uint8_t *in,
				     size_t len, uint64_t now_ns)
{
	struct tryst_hello hello;
	enum handshake_result result = HANDSHAKE_IGNORED;

	if (tryst_accept(&hello, s->network->pair, in, len))
		return HANDSHAKE_NONE;
	if (!rate_limit_takes(&m->inits, HANDSHAKE_INITS_A_SECOND, now_ns))
		return HANDSHAKE_LIMITED; /* its slot is good for another time */
	spend(t, s, load_word(in), low);
	if (hello.version != TRYST_VERSION || hello.flags & TRYST_ONE_WAY ||
	    !overtaken(s, &hello, now_ns))
		result = take_hello(m, t, s, &hello, out, out_len, in, len, now_ns);
	sodium_memzero(&hello, sizeof(hello));
	return result;
}

enum handshake_result handshake_take_fresh(struct handshake *m, struct table *t, struct sensor *s,
					   uint8_t *out, size_t *out_len, const uint8_t *in,
					   size_t len, uint64_t now_ns)
{
	struct tryst_hello hello;
	enum handshake_result result = HANDSHAKE_IGNORED;

	if (tryst_accept(&hello, s->network->pair, in, len))
		return HANDSHAKE_NONE;
	if (!rate_limit_takes(&m->inits, HANDSHAKE_INITS_A_SECOND, now_ns))
		return HANDSHAKE_LIMITED;
	s->network->cookies_used++;
	if (!(hello.flags & TRYST_ONE_WAY)) /* nobody could have told it a cookie */
		result = take_hello(m, t, s, &hello, out, out_len, in, len, now_ns);
	sodium_memzero(&hello, sizeof(hello));
	return result;
}

bool handshake_renew(struct handshake *m, struct table *t, struct sensor *s, const uint8_t *message,
		     uint64_t now_ns)
{
	const struct session *current = sensor_session(s);
	struct session *c = sensor_candidate(s);
	uint8_t k2[KEY_LEN];
	struct keypair own;

	if (!current)
		return false;
	if (c && c->renewed && !memcmp(c->renew + 1, message + 1, KEY_LEN))
		return true;
	if (s->network->renewed_ns && now_ns - s->network->renewed_ns < 500000000)
		return false; /* it is repeated, and costs some Diffie-Hellman */
	s->network->renewed_ns = now_ns;
	tryst_ephemeral(&own, m->own.secret, handshake_time(m));
	c = tryst_renew(k2, current->chain, &own, message + 1, false)
		    ? NULL
		    : candidate_make(s, t, k2, current->rx.window, now_ns);
	if (c) {
		c->run = current->run;
		c->padded = current->padded;
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
