// SPDX-License-Identifier: GPL-2.0
/* Looks: see look.h. */
#include "look.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define SHARED_KEY_US 60000000

/* ---- states ---------------------------------------------------------------------------------- */

int board_states_open(struct board_states *s, const char *path)
{
	struct board_view view = { 0 };
	int err = board_open(&view, path);

	err = err ?: board_copy(&view, &s->now, &s->before);
	board_close(&view);
	return err;
}

void board_states_free(struct board_states *s)
{
	board_state_free(&s->now);
	board_state_free(&s->before);
}

const struct board_sensor *board_earlier(const struct board_states *s, uint32_t i)
{
	const struct board_sensor *b;

	if (i >= s->before.collector.sensors)
		return NULL;
	b = &s->before.sensors[i];
	return b->id == s->now.sensors[i].id && b->runs == s->now.sensors[i].runs ? b : NULL;
}

/* The first record whose `member` is at least `owner`: read.h says that they are in order. */
#define FIRST(table, count, member, owner)                                                         \
	do {                                                                                       \
		uint32_t low = 0, high = (count);                                                  \
                                                                                                   \
		while (low < high) {                                                               \
			uint32_t middle = low + (high - low) / 2;                                  \
                                                                                                   \
			if ((table)[middle].member < (owner))                                      \
				low = middle + 1;                                                  \
			else                                                                       \
				high = middle;                                                     \
		}                                                                                  \
		return low;                                                                        \
	} while (0)

uint32_t board_first_interface(const struct board_state *s, uint32_t i)
{
	FIRST(s->interfaces, s->collector.interfaces, sensor, i);
}

uint32_t board_first_channel(const struct board_state *s, uint32_t interface)
{
	FIRST(s->channels, s->collector.channels, interface, interface);
}

uint32_t board_first_module(const struct board_state *s, uint32_t i)
{
	FIRST(s->modules, s->collector.modules, sensor, i);
}

/* ---- one sensor ------------------------------------------------------------------------------ */

uint64_t board_lost(const struct board_sensor *s)
{
	return s->totals.ring_full + s->totals.copy_failed + s->totals.dropped_send +
	       s->totals.dropped_shutdown + s->vanished + s->lost_missing + s->lost_disk +
	       s->lost_refused;
}

void board_sum(struct board_sums *x, const struct board_sensor *s)
{
	x->listed += s->listed != 0;
	x->up += s->listed && s->presence == BOARD_UP;
	x->unbalanced += s->balance != 0;
	x->seen += s->totals.seen;
	x->written += s->written;
	x->lost += board_lost(s);
}

bool board_is_shown(const struct board_sensor *s)
{
	return s->listed || s->runs;
}

int64_t board_ahead_us(const struct board_sensor *s)
{
	return s->ahead_us - s->behind_us;
}

double board_per_second(uint64_t now, uint64_t before, uint64_t interval_ns)
{
	return interval_ns && now > before ? (now - before) * 1e9 / interval_ns : 0;
}

const char *board_address(char out[BOARD_ADDRESS_TEXT_MAX], const void *address, uint32_t len)
{
	struct sockaddr_in in = { 0 };
	struct sockaddr_in6 in6 = { 0 };

	*out = 0;
	if (len >= sizeof(in6))
		memcpy(&in6, address, sizeof(in6));
	if (len >= sizeof(in))
		memcpy(&in, address, sizeof(in));
	if (in.sin_family == AF_INET)
		inet_ntop(AF_INET, &in.sin_addr, out, BOARD_ADDRESS_TEXT_MAX);
	else if (in6.sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		inet_ntop(AF_INET, in6.sin6_addr.s6_addr + 12, out, BOARD_ADDRESS_TEXT_MAX);
	else if (in6.sin6_family == AF_INET6)
		inet_ntop(AF_INET6, &in6.sin6_addr, out, BOARD_ADDRESS_TEXT_MAX);
	return out;
}

bool board_just_begun(const struct board_collector *c)
{
	return c->time_us - c->begun_us < c->silent_ns / 1000;
}

bool board_shares_key(const struct board_state *s, const struct board_sensor *b)
{
	return b->twice_us && s->collector.time_us < b->twice_us + SHARED_KEY_US;
}

bool board_is_deaf(const struct board_state *s, const struct board_interface *i)
{
	uint64_t since_us = i->rose_us > s->collector.begun_us ? i->rose_us : s->collector.begun_us;

	return i->radio && s->sensors[i->sensor].presence == BOARD_UP && !*i->state &&
	       s->collector.time_us > since_us + BOARD_DEAF_US;
}

enum board_trouble board_link_trouble(const struct board_state *s, uint32_t i)
{
	enum board_trouble worst = BOARD_FINE;

	for (uint32_t n = board_first_interface(s, i);
	     n < s->collector.interfaces && s->interfaces[n].sensor == i; n++)
		if (*s->interfaces[n].state)
			return BOARD_LINK_DOWN;
		else if (board_is_deaf(s, &s->interfaces[n]))
			worst = BOARD_DEAF;
	return worst;
}

enum board_trouble board_trouble(const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *before = board_earlier(s, i);
	enum board_trouble links;

	if (!now->listed)
		return BOARD_FINE;
	if (now->balance)
		return BOARD_UNBALANCED;
	if (now->presence == BOARD_SILENT)
		return BOARD_IS_SILENT;
	if (now->presence == BOARD_NEVER && board_just_begun(&s->now.collector))
		return BOARD_AWAITED;
	if (now->presence == BOARD_NEVER) /* an earlier collector may have heard it */
		return now->heard_us ? BOARD_IS_SILENT : BOARD_NEVER_HEARD;
	if (now->held)
		return BOARD_WAITS;
	if (board_shares_key(&s->now, now))
		return BOARD_SHARED_KEY;
	if (now->presence == BOARD_ENDED)
		return BOARD_HAS_ENDED;
	links = board_link_trouble(&s->now, i);
	if (links != BOARD_LINK_DOWN && before && board_lost(now) > board_lost(before))
		return BOARD_LOSING;
	return links;
}

/* ---- saluki-kafka ---------------------------------------------------------------------------- */

static uint64_t since_us(const struct board_collector *c, uint64_t us)
{
	return us && us < c->time_us ? c->time_us - us : 0;
}

/* While a topic is missing, or weak, put tries it without a connection. */
const char *board_kafka_why(const struct board_kafka *k)
{
	static char text[sizeof(k->why) + 64];

	if (!k->used || k->connected)
		return k->why;
	snprintf(text, sizeof(text), "no saluki-kafka is connected%s%s",
		 *k->why ? "; the last one said: " : "", k->why);
	return text;
}

uint64_t board_stopped_us(const struct board_collector *c, const struct board_kafka *k)
{
	return since_us(c, k->stopped_us);
}

uint64_t board_oldest_us(const struct board_collector *c)
{
	return since_us(c, c->sink.oldest_us);
}

const char *board_held_for(const struct board_collector *c)
{
	return c->sink.kafka.used ? "saluki-kafka" : "disk space";
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *word(const char *const *words, uint32_t count, uint32_t i)
{
	return i < count ? words[i] : "unknown";
}

const char *board_trouble_word(enum board_trouble t)
{
	static const char *const words[BOARD_TROUBLES] = {
		[BOARD_FINE] = "fine",
		[BOARD_AWAITED] = "awaited",
		[BOARD_HAS_ENDED] = "ended",
		[BOARD_DEAF] = "deaf",
		[BOARD_LOSING] = "losing",
		[BOARD_LINK_DOWN] = "link",
		[BOARD_SHARED_KEY] = "shared_key",
		[BOARD_WAITS] = "held",
		[BOARD_NEVER_HEARD] = "never",
		[BOARD_IS_SILENT] = "silent",
		[BOARD_UNBALANCED] = "unbalanced",
	};

	return word(words, BOARD_TROUBLES, t);
}

const char *board_presence_word(uint32_t presence)
{
	static const char *const words[BOARD_PRESENCES] = { [BOARD_NEVER] = "never",
							    [BOARD_UP] = "up",
							    [BOARD_SILENT] = "silent",
							    [BOARD_ENDED] = "ended" };

	return word(words, BOARD_PRESENCES, presence);
}

const char *board_reason_word(uint32_t reason)
{
	static const char *const words[BOARD_REASONS] = { [BOARD_UNLISTED] = "unlisted",
							  [BOARD_UNPROVED] = "unproved",
							  [BOARD_OTHER_VERSION] = "other_version",
							  [BOARD_TWICE] = "twice",
							  [BOARD_WRONG_KEY] = "wrong_key" };

	return word(words, BOARD_REASONS, reason);
}
