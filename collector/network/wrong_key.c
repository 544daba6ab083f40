// SPDX-License-Identifier: GPL-2.0
/* Wrong key: see wrong_key.h. */
#include "wrong_key.h"

#include "refusals.h"
#include "wire/request.h"

static uint64_t address_of(const struct sockaddr *from)
{
	return refusals_hash("strange", from);
}

/* ---- expected addresses ---------------------------------------------------------------------- */

static bool is_expected(const struct wrong_key *w, uint64_t address, uint64_t now_ns)
{
	for (int i = 0; i < WRONG_KEY_EXPECTED; i++)
		if (w->expected[i].address == address && now_ns < w->expected[i].until_ns)
			return true;
	return false;
}

void wrong_key_expect(struct wrong_key *w, const struct sockaddr *from, uint64_t now_ns)
{
	uint64_t address = address_of(from);
	int place = 0;

	for (int i = 0; i < WRONG_KEY_EXPECTED; i++) {
		if (w->expected[i].address == address) {
			place = i;
			break;
		}
		if (w->expected[i].until_ns < w->expected[place].until_ns)
			place = i;
	}
	w->expected[place].address = address;
	w->expected[place].until_ns = now_ns + WRONG_KEY_EXPECTED_NS;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Returns the address's entry, which restarts from zero after a silence. In a full set it replaces
 * the entry with the lowest count: a forged address occurs only once. */
static struct wrong_key_address *entry_of(struct wrong_key *w, uint64_t address, uint64_t now_ns)
{
	struct wrong_key_address *set = w->addresses[address % WRONG_KEY_SETS];
	struct wrong_key_address *s = &set[(address >> 32) % WRONG_KEY_WAYS];

	for (unsigned int i = 0; i < WRONG_KEY_WAYS; i++) {
		bool used = set[i].count && now_ns - set[i].last_ns <= WRONG_KEY_NS;

		if (used && set[i].address == address)
			return &set[i];
		if (!used || set[i].count < s->count)
			s = &set[i];
		if (!used)
			s->count = 0;
	}
	*s = (struct wrong_key_address){ .address = address, .since_ns = now_ns };
	return s;
}

/* Counts a datagram. Returns whether the address sent so many for so long that it may be a sensor
 * with a wrong key. */
static bool is_strange(struct wrong_key *w, uint64_t address, uint64_t now_ns)
{
	struct wrong_key_address *s = entry_of(w, address, now_ns);

	s->last_ns = now_ns;
	return ++s->count >= WRONG_KEY_COUNT && now_ns - s->since_ns >= WRONG_KEY_NS;
}

void wrong_key_proved(struct wrong_key *w, const struct sockaddr *from)
{
	uint64_t address = address_of(from);

	for (unsigned int i = 0; i < WRONG_KEY_WAYS; i++) {
		struct wrong_key_address *s = &w->addresses[address % WRONG_KEY_SETS][i];

		if (s->address == address)
			s->count = 0;
	}
}

bool wrong_key_datagram(struct wrong_key *w, size_t len, const struct sockaddr *from,
			uint64_t now_ns)
{
	uint64_t address = len == REQUEST_LEN ? address_of(from) : 0;
	char at[REFUSALS_ADDRESS_MAX];

	if (len != REQUEST_LEN || is_expected(w, address, now_ns) ||
	    !is_strange(w, address, now_ns))
		return false;
	if (log_limit_was_logged(&w->lines, address, now_ns))
		return true;
	refusals_address(at, from);
	log_limit_line(
		&w->lines, address, address, now_ns,
		"%s: its datagrams open under no key; if it is a sensor of this collector, is "
		"the collector's public key in its --key the right one?",
		at);
	return true;
}
