// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake slots: see handshake_slots.h. Always holds: for a listed sensor, the table has exactly
 * the slots of the intervals slots_of - 1 to slots_of + 1 that are not `spent`. A slot's `low` is
 * its interval's low bits and its index in the interval.
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

static void slots_add(struct table *t, struct sensor *s, uint64_t interval)
{
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, s->network->pair, interval);
	s->network->spent[interval % 3] = 0;
	for (unsigned int j = 0; j < TRYST_SLOTS; j++)
		if (table_add(t, slots[j], SENSOR_OWNER(s->index, SENSOR_SLOTS),
			      slot_low(interval, j)))
			s->network->spent[interval % 3] |= 1u << j; /* no memory: unusable */
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

/* Replaces the slots around interval `from` by those around `to`, which is later. */
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
	s->network->refusal_logged = false;
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

void handshake_spend(struct table *t, struct sensor *s, uint64_t address, uint32_t low)
{
	uint64_t interval =
		s->network->slots_of + (int64_t)(int32_t)((low >> SLOT_BITS << SLOT_BITS) -
							  slot_low(s->network->slots_of, 0)) /
					       TRYST_SLOTS;

	table_remove(t, address, SENSOR_OWNER(s->index, SENSOR_SLOTS), low);
	s->network->spent[interval % 3] |= 1u << low % TRYST_SLOTS;
}
