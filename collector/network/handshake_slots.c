// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake slots: see handshake_slots.h. Always holds: for each pair of keys of a listed sensor,
 * the table has exactly the slots of the intervals slots_of - 1 to slots_of + 1 that are not
 * `spent`. A slot's `low` is its interval's low bits and its index in the interval.
 */
#include "handshake_slots.h"

#include <errno.h>
#include <sodium.h>

#include "common/monotonic.h"
#include "sensor.h"

#define SLOT_BITS 5
#define BEHIND_SLOWER 2 /* slowdown of protocol time after the clock was set back */
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
	} else { /* the division's remainder counts next time */
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

static void slots_add(struct table *t, struct sensor *s, unsigned int pair, uint64_t interval)
{
	struct sensor_pair *p = sensor_pair(s, pair);
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, p->shared, interval);
	p->spent[interval % 3] = 0;
	for (unsigned int j = 0; j < TRYST_SLOTS; j++)
		if (table_add(t, slots[j], SENSOR_OWNER(s->index, SENSOR_SLOTS_OF(pair)),
			      slot_low(interval, j)))
			p->spent[interval % 3] |= 1u << j; /* no memory: unusable */
}

static void slots_remove(struct table *t, struct sensor *s, unsigned int pair, uint64_t interval)
{
	const struct sensor_pair *p = sensor_pair(s, pair);
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, p->shared, interval);
	for (unsigned int j = 0; j < TRYST_SLOTS; j++)
		if (!(p->spent[interval % 3] >> j & 1))
			table_remove(t, slots[j], SENSOR_OWNER(s->index, SENSOR_SLOTS_OF(pair)),
				     slot_low(interval, j));
}

/* Replaces the pair's slots by those around interval `to`, which is later. */
static void slots_turn(struct table *t, struct sensor *s, unsigned int pair, uint64_t to)
{
	struct sensor_pair *p = sensor_pair(s, pair);
	uint64_t from = p->slots_of;

	for (uint64_t i = from - 1; i != from + 2; i++)
		if (i + 1 < to)
			slots_remove(t, s, pair, i);
	for (uint64_t i = to - 1; i != to + 2; i++)
		if (i > from + 1)
			slots_add(t, s, pair, i);
	p->slots_of = to;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct handshake *m, const struct sensor *s, unsigned int pair)
{
	return (m->two_keys || !(pair & SENSOR_PAIR_OLD)) &&
	       !(pair & SENSOR_PAIR_NEXT && sodium_is_zero(s->next, KEY_LEN));
}

static int pair_add(struct handshake *m, struct table *t, struct sensor *s, unsigned int pair)
{
	bool preshared = !sodium_is_zero(s->preshared, KEY_LEN);
	uint64_t interval = handshake_time(m) / TRYST_INTERVAL_NS;
	struct sensor_pair *p;

	if (pair && sensor_second_make(s))
		return -ENOMEM;
	p = sensor_pair(s, pair);
	if (tryst_pair(p->shared, &m->own[pair & SENSOR_PAIR_OLD], sensor_pair_key(s, pair), false,
		       preshared ? s->preshared : NULL))
		return pair & SENSOR_PAIR_NEXT ? -ENOKEY : -EINVAL;
	for (uint64_t i = interval - 1; i != interval + 2; i++)
		slots_add(t, s, pair, i);
	p->slots_of = interval;
	return 0;
}

int handshake_add(struct handshake *m, struct table *t, struct sensor *s)
{
	int err = pair_add(m, t, s, 0);

	for (unsigned int i = 1; i < SENSOR_PAIRS && err != -EINVAL; i++)
		if (is_wanted(m, s, i))
			err = pair_add(m, t, s, i) ?: err;
	s->network->refusal_logged = s->network->next_logged = false;
	return err;
}

void handshake_remove(struct table *t, struct sensor *s)
{
	for (unsigned int i = 0; i < SENSOR_PAIRS; i++) {
		struct sensor_pair *p;

		if (!sensor_has_pair(s, i))
			continue;
		p = sensor_pair(s, i);
		for (uint64_t k = p->slots_of - 1; k != p->slots_of + 2; k++)
			slots_remove(t, s, i, k);
		sodium_memzero(p->shared, sizeof(p->shared));
	}
	sensor_second_free(s);
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

		for (unsigned int i = 0; i < SENSOR_PAIRS; i++)
			if (sensor_has_pair(s, i) && sensor_pair(s, i)->slots_of != interval)
				slots_turn(t, s, i, interval);
	}
	return m->turned < list->count;
}

void handshake_spend(struct table *t, struct sensor *s, unsigned int pair, uint64_t address,
		     uint32_t low)
{
	struct sensor_pair *p = sensor_pair(s, pair);
	uint64_t interval = p->slots_of + (int64_t)(int32_t)((low >> SLOT_BITS << SLOT_BITS) -
							     slot_low(p->slots_of, 0)) /
						  TRYST_SLOTS;

	table_remove(t, address, SENSOR_OWNER(s->index, SENSOR_SLOTS_OF(pair)), low);
	p->spent[interval % 3] |= 1u << low % TRYST_SLOTS;
}
