// SPDX-License-Identifier: GPL-2.0
/* Refusals: see refusals.h. */
#include "refusals.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "wire/tryst.h"

#define HASHED_MAX 64 /* a short word, and a key or a name */

/* Repeated lines are recognized by a hash. Two lines with the same hash would hide each other, so
 * the hash is keyed, and an attacker cannot find a public key that collides with another. */
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

uint64_t refusals_sensor_hash(const char *why, const char *name)
{
	return hash_of(why, name, strnlen(name, HASHED_MAX / 2));
}

uint64_t refusals_hash(const char *why, const struct sockaddr *from)
{
	const struct sockaddr_in *in = (const void *)from;
	const struct sockaddr_in6 *in6 = (const void *)from;

	if (from->sa_family != AF_INET6)
		return hash_of(why, &in->sin_addr, sizeof(in->sin_addr));
	if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return hash_of(why, in6->sin6_addr.s6_addr + 12, 4);
	return hash_of(why, &in6->sin6_addr, 8);
}

void refusals_address(char text[REFUSALS_ADDRESS_MAX], const struct sockaddr *from)
{
	const struct sockaddr_in *in = (const void *)from;
	const struct sockaddr_in6 *in6 = (const void *)from;
	char ip[INET6_ADDRSTRLEN] = "?";

	if (from->sa_family == AF_INET) {
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

void refusals_key(struct refusals *r, const uint8_t key[KEY_LEN], const struct sockaddr *from,
		  uint64_t now_ns)
{
	char at[REFUSALS_ADDRESS_MAX], text[KEY_TEXT_LEN];

	refusals_address(at, from);
	key_to_text(text, key);
	refused_list_add(&r->list, BOARD_UNLISTED, "", text, from);
	log_limit_line(&r->keys, refusals_hash("from", from), hash_of("key", key, KEY_LEN), now_ns,
		       "%s: refused: its public key %s is not in --sensors", at, text);
}

void refusals_proof(struct refusals *r, const char *name, const struct sockaddr *from,
		    uint64_t now_ns)
{
	char at[REFUSALS_ADDRESS_MAX];

	refusals_address(at, from);
	refused_list_add(&r->list, BOARD_UNPROVED, name, "", from);
	log_limit_line(
		&r->keys, refusals_hash("from", from), refusals_sensor_hash("proof", name), now_ns,
		"%s: refused: it says that it is sensor %s, and its preshared key is not the "
		"one in --sensors",
		at, name);
}

void refusals_version(struct refusals *r, const char *name, unsigned int version,
		      const struct sockaddr *from, uint64_t now_ns)
{
	uint64_t source = name ? refusals_sensor_hash("sensor", name) : refusals_hash("from", from);
	uint64_t what = name ? refusals_sensor_hash("version", name)
			     : refusals_hash("version", from);
	char at[REFUSALS_ADDRESS_MAX];

	refusals_address(at, from);
	refused_list_add(&r->list, BOARD_OTHER_VERSION, name ?: "", "", from);
	log_limit_line(name ? &r->sensors : &r->keys, source, what, now_ns,
		       "%s%s%s%s: refused: it speaks version %u of the protocol, this collector "
		       "version %d; upgrade the saluki that is older",
		       name ? "sensor " : "", name ?: "", name ? " at " : "", at, version,
		       TRYST_VERSION);
}

void refusals_busy(struct refusals *r, const char *name, const struct sockaddr *at,
		   const struct sockaddr *from, bool loses, uint64_t now_ns)
{
	char one[REFUSALS_ADDRESS_MAX], other[REFUSALS_ADDRESS_MAX];

	refusals_address(one, at);
	refusals_address(other, from);
	refused_list_add(&r->list, BOARD_TWICE, name, "", from);
	log_limit_line(&r->sensors, refusals_sensor_hash("sensor", name),
		       refusals_sensor_hash("busy", name), now_ns,
		       "sensor %s: two machines use its key: %s is heard, %s must wait until the "
		       "first is silent for 10 s%s; give each machine its own key",
		       name, one, other, loses ? ", and loses its frames" : "");
}

void refusals_twice(struct refusals *r, const char *name, const struct sockaddr *at,
		    const struct sockaddr *from, uint64_t now_ns)
{
	char one[REFUSALS_ADDRESS_MAX], other[REFUSALS_ADDRESS_MAX];

	refusals_address(one, at);
	refusals_address(other, from);
	refused_list_add(&r->list, BOARD_TWICE, name, "", from);
	log_limit_line(&r->sensors, refusals_sensor_hash("sensor", name),
		       refusals_sensor_hash("twice", name), now_ns,
		       "sensor %s: two processes use its key in turn, at %s and %s; give each its "
		       "own key",
		       name, one, other);
}
