// SPDX-License-Identifier: GPL-2.0
/* Refusals: see refusals.h. */
#include "refusals.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "wire/request.h"
#include "wire/tryst.h"

#define HASHED_MAX 64 /* a short word, and a key or a name */

/* A line that is said again is known by a hash: if two have the same hash, one is not said. It is
 * keyed, so that nobody can find a key of the same hash as another one. */
static uint64_t hash_of(const char *why, const void *bytes, size_t len)
{
	static uint8_t key[crypto_shorthash_KEYBYTES];
	uint8_t input[HASHED_MAX] = { 0 };
	size_t why_len = strlen(why) + 1;
	uint64_t word;

	if (sodium_is_zero(key, sizeof(key)))
		randombytes_buf(key, sizeof(key));
	memcpy(input, why, why_len);
	memcpy(input + why_len, bytes, len);
	crypto_shorthash((uint8_t *)&word, input, why_len + len, key);
	return word;
}

static uint64_t hash_name(const char *why, const char *name)
{
	return hash_of(why, name, strnlen(name, HASHED_MAX / 2));
}

/* The address without its port, which a sensor changes with each attempt. Whoever has one IPv6
 * address has the /64 that it is in. */
static uint64_t hash_address(const char *why, const struct sockaddr_storage *from)
{
	const struct sockaddr_in *in = (const void *)from;
	const struct sockaddr_in6 *in6 = (const void *)from;

	if (from->ss_family != AF_INET6)
		return hash_of(why, &in->sin_addr, sizeof(in->sin_addr));
	if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return hash_of(why, in6->sin6_addr.s6_addr + 12, 4);
	return hash_of(why, &in6->sin6_addr, 8);
}

static void address_text(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr *a)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;
	char ip[INET6_ADDRSTRLEN] = "?";

	if (a->sa_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
		snprintf(text, REFUSALS_ADDRESS_MAX, "%s:%u", ip, ntohs(in->sin_port));
	} else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		inet_ntop(AF_INET, in6->sin6_addr.s6_addr + 12, ip, sizeof(ip));
		snprintf(text, REFUSALS_ADDRESS_MAX, "%s:%u", ip, ntohs(in6->sin6_port));
	} else {
		inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
		snprintf(text, REFUSALS_ADDRESS_MAX, "[%s]:%u", ip, ntohs(in6->sin6_port));
	}
}

void refusals_address(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr_storage *from)
{
	address_text(text, (const struct sockaddr *)from);
}

void refusals_key(struct refusals *r, const uint8_t key[KEY_LEN],
		  const struct sockaddr_storage *from, uint64_t now_ns)
{
	char *line = log_limit_line(&r->keys, hash_address("from", from),
				    hash_of("key", key, KEY_LEN), now_ns);
	char at[REFUSALS_ADDRESS_MAX], text[KEY_TEXT_LEN];

	if (!line)
		return;
	refusals_address(at, from);
	key_to_text(text, key);
	snprintf(line, LOG_LIMIT_TEXT_MAX, "%s: refused: its public key %s is not in --sensors", at,
		 text);
	log_limit_print(&r->keys, now_ns);
}

void refusals_proof(struct refusals *r, const char *name, const struct sockaddr_storage *from,
		    uint64_t now_ns)
{
	char *line = log_limit_line(&r->keys, hash_address("from", from), hash_name("proof", name),
				    now_ns);
	char at[REFUSALS_ADDRESS_MAX];

	if (!line)
		return;
	refusals_address(at, from);
	snprintf(line, LOG_LIMIT_TEXT_MAX,
		 "%s: refused: it says that it is sensor %s, and its preshared key is not the one "
		 "in --sensors",
		 at, name);
	log_limit_print(&r->keys, now_ns);
}

void refusals_version(struct refusals *r, const char *name, unsigned int version,
		      const struct sockaddr_storage *from, uint64_t now_ns)
{
	struct log_limit *q = name ? &r->sensors : &r->keys;
	uint64_t source = name ? hash_name("sensor", name) : hash_address("from", from);
	uint64_t what = name ? hash_name("version", name) : hash_address("version", from);
	char *line = log_limit_line(q, source, what, now_ns), at[REFUSALS_ADDRESS_MAX];

	if (!line)
		return;
	refusals_address(at, from);
	snprintf(line, LOG_LIMIT_TEXT_MAX,
		 "%s%s%s%s: refused: it speaks version %u of the protocol, this collector version "
		 "%d; upgrade the saluki that is older",
		 name ? "sensor " : "", name ?: "", name ? " at " : "", at, version, TRYST_VERSION);
	log_limit_print(q, now_ns);
}

/* ---- what is known to open under no key ------------------------------------------------------ */

static bool is_expected(const struct refusals *r, uint64_t what, uint64_t now_ns)
{
	for (int i = 0; i < REFUSALS_EXPECTED; i++)
		if (r->expected[i].what == what && now_ns < r->expected[i].until_ns)
			return true;
	return false;
}

static void expect_strange(struct refusals *r, const void *address, uint64_t now_ns)
{
	uint64_t what = hash_address("strange", address);
	int place = 0;

	for (int i = 0; i < REFUSALS_EXPECTED; i++) {
		if (r->expected[i].what == what) {
			place = i;
			break;
		}
		if (r->expected[i].until_ns < r->expected[place].until_ns)
			place = i;
	}
	r->expected[place].what = what;
	r->expected[place].until_ns = now_ns + REFUSALS_EXPECTED_NS;
}

/* ---------------------------------------------------------------------------------------------- */

void refusals_busy(struct refusals *r, const char *name, const struct sockaddr *at,
		   const struct sockaddr_storage *from, bool one_way, uint64_t now_ns)
{
	char *line = log_limit_line(&r->sensors, hash_name("sensor", name), hash_name("busy", name),
				    now_ns);
	char one[REFUSALS_ADDRESS_MAX], other[REFUSALS_ADDRESS_MAX];

	if (one_way) { /* the refused one sends on, and either uses up slots of the other */
		expect_strange(r, from, now_ns);
		expect_strange(r, at, now_ns);
	}
	if (!line)
		return;
	address_text(one, at);
	refusals_address(other, from);
	snprintf(line, LOG_LIMIT_TEXT_MAX,
		 "sensor %s: two machines use its key: %s is heard, %s has to wait until that has "
		 "been silent for 10 s%s; give each machine a key of its own",
		 name, one, other, one_way ? ", and loses its frames" : "");
	log_limit_print(&r->sensors, now_ns);
}

void refusals_twice(struct refusals *r, const char *name, const struct sockaddr *at,
		    const struct sockaddr *from, uint64_t now_ns)
{
	char *line = log_limit_line(&r->sensors, hash_name("sensor", name),
				    hash_name("twice", name), now_ns);
	char one[REFUSALS_ADDRESS_MAX], other[REFUSALS_ADDRESS_MAX];

	if (!line)
		return;
	address_text(one, at);
	address_text(other, from);
	snprintf(line, LOG_LIMIT_TEXT_MAX,
		 "sensor %s: two processes use its key in turn, at %s and %s; give each a key of "
		 "its own",
		 name, one, other);
	log_limit_print(&r->sensors, now_ns);
}

/* The entry of the address, which begins anew after some silence. If its set is full, the entry
 * that was counted least gives way: that of a forged address, which comes once. */
static struct refusals_strange *strange_of(struct refusals *r, uint64_t address, uint64_t now_ns)
{
	struct refusals_strange *set = r->strange[address % REFUSALS_STRANGE_SETS];
	struct refusals_strange *s = &set[(address >> 32) % REFUSALS_STRANGE_WAYS];

	for (unsigned int i = 0; i < REFUSALS_STRANGE_WAYS; i++) {
		bool used = set[i].count && now_ns - set[i].last_ns <= REFUSALS_STRANGE_NS;

		if (used && set[i].address == address)
			return &set[i];
		if (!used || set[i].count < s->count)
			s = &set[i];
		if (!used)
			s->count = 0;
	}
	*s = (struct refusals_strange){ .address = address, .since_ns = now_ns };
	return s;
}

/* Whether so many come from there, for so long, that it may be a sensor with the wrong key. */
static bool is_strange(struct refusals *r, uint64_t address, uint64_t now_ns)
{
	struct refusals_strange *s = strange_of(r, address, now_ns);

	s->last_ns = now_ns;
	return ++s->count >= REFUSALS_STRANGE_COUNT && now_ns - s->since_ns >= REFUSALS_STRANGE_NS;
}

void refusals_known(struct refusals *r, const struct sockaddr_storage *from)
{
	uint64_t address = hash_address("strange", from);

	for (unsigned int i = 0; i < REFUSALS_STRANGE_WAYS; i++) {
		struct refusals_strange *s = &r->strange[address % REFUSALS_STRANGE_SETS][i];

		if (s->address == address)
			s->count = 0;
	}
}

void refusals_strange(struct refusals *r, size_t len, const struct sockaddr_storage *from,
		      uint64_t now_ns)
{
	char at[REFUSALS_ADDRESS_MAX], *line;
	uint64_t what;

	if (len != REQUEST_LEN)
		return;
	what = hash_address("strange", from);
	if (is_expected(r, what, now_ns) || !is_strange(r, what, now_ns))
		return;
	line = log_limit_line(&r->datagrams, what, what, now_ns);
	if (!line)
		return;
	refusals_address(at, from);
	snprintf(line, LOG_LIMIT_TEXT_MAX,
		 "%s: its datagrams open under no key; if it is a sensor of this collector, is the "
		 "collector's public key in its --key the right one?",
		 at);
	log_limit_print(&r->datagrams, now_ns);
}
