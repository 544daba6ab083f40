// SPDX-License-Identifier: GPL-2.0
/* Presence: see presence.h. */
#include "presence.h"

#include <stdio.h>
#include <time.h>

#include "common/duration.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "links.h"

#define SECOND_NS 1000000000ULL
#define FEW 3 /* of fewer sensors, half says nothing about the network */

/* One look's sensors with the same change. */
struct change {
	unsigned int count;
	const struct sensor *first[PRESENCE_LINES];
	uint64_t heard_ns; /* the earliest time at which one of them was last heard */
};

struct changes {
	struct change silent, again, ended;
	unsigned int up, listed;
};

static void change_add(struct change *c, const struct sensor *s, uint64_t heard_ns)
{
	if (c->count < PRESENCE_LINES)
		c->first[c->count] = s;
	if (!c->count || heard_ns < c->heard_ns)
		c->heard_ns = heard_ns;
	c->count++;
}

static enum sensor_presence presence_of(const struct presence *p, const struct sensor *s,
					uint64_t now_ns)
{
	if (!s->listed)
		return SENSOR_NEVER;
	if (!s->heard_ns)
		return s->before.ended ? SENSOR_ENDED : SENSOR_NEVER;
	if (s->final_heard)
		return SENSOR_ENDED;
	if (now_ns - s->heard_ns < p->silent_ns)
		return SENSOR_UP;
	return s->heard_ns < p->moved_ns ? SENSOR_ENDED : SENSOR_SILENT;
}

/* A sensor with a new session has its line already (network/connections.h). */
static void look(struct presence *p, struct sensor *s, uint64_t now_ns, struct changes *c)
{
	enum sensor_presence is = presence_of(p, s, now_ns);

	c->up += is == SENSOR_UP;
	c->listed += s->listed;
	if (is == s->presence)
		return;
	if (is == SENSOR_SILENT) {
		s->silent_ns = s->heard_ns;
		change_add(&c->silent, s, s->silent_ns);
	} else if (is == SENSOR_ENDED) {
		change_add(&c->ended, s, s->heard_ns);
	} else if (is == SENSOR_UP && s->presence == SENSOR_SILENT) {
		change_add(&c->again, s, s->silent_ns);
	}
	s->presence = is;
}

/* Writes the local time of day at which `ns` was now. */
static const char *clock_text(char out[16], uint64_t ns, uint64_t now_ns)
{
	time_t then = (clock_ns(CLOCK_REALTIME) - (now_ns - ns)) / SECOND_NS;
	struct tm tm;

	if (!localtime_r(&then, &tm) || !strftime(out, 16, "%H:%M:%S", &tm))
		*out = 0;
	return out;
}

/* Writes "a, b, c and 4 more". */
static const char *names(char *out, size_t size, const struct change *c)
{
	unsigned int shown = c->count <= PRESENCE_NAMES ? c->count : PRESENCE_NAMES;
	size_t len = 0;

	*out = 0;
	for (unsigned int i = 0; i < shown; i++)
		len += snprintf(out + len, size - len, "%s%s", i ? ", " : "", c->first[i]->name);
	if (c->count > shown)
		snprintf(out + len, size - len, " and %u more", c->count - shown);
	return out;
}

#define NAMES_MAX ((SENSOR_NAME_MAX + 2) * PRESENCE_NAMES + 24)

static void log_silent(const struct change *c, uint64_t now_ns)
{
	char all[NAMES_MAX], at[16];

	if (c->count > PRESENCE_LINES) {
		log_line("%u sensors: silent since %s: %s", c->count,
			 clock_text(at, c->heard_ns, now_ns), names(all, sizeof(all), c));
		return;
	}
	for (unsigned int i = 0; i < c->count; i++)
		log_line("sensor %s: silent since %s", c->first[i]->name,
			 clock_text(at, c->first[i]->silent_ns, now_ns));
}

static void log_again(const struct change *c, uint64_t now_ns)
{
	char all[NAMES_MAX], away[DURATION_TEXT_LEN];

	if (c->count > PRESENCE_LINES) {
		duration_text(away, (now_ns - c->heard_ns) / 1000);
		log_line("%u sensors: heard again after at most %s of silence: %s", c->count, away,
			 names(all, sizeof(all), c));
		return;
	}
	for (unsigned int i = 0; i < c->count; i++) {
		duration_text(away, (now_ns - c->first[i]->silent_ns) / 1000);
		log_line("sensor %s: heard again after %s of silence", c->first[i]->name, away);
	}
}

static void log_ended(const struct change *c)
{
	char all[NAMES_MAX];

	if (c->count > PRESENCE_LINES) {
		log_info("%u sensors: ended: %s", c->count, names(all, sizeof(all), c));
		return;
	}
	for (unsigned int i = 0; i < c->count; i++)
		log_info("sensor %s: ended", c->first[i]->name);
}

/* If most sensors fall silent at once, the cause is probably near this machine. */
static void ask_about_network(struct presence *p, unsigned int silent, unsigned int up)
{
	unsigned int fell = 0;

	p->second = (p->second + 1) % PRESENCE_WINDOW_S;
	p->fell[p->second] = silent;
	for (unsigned int i = 0; i < PRESENCE_WINDOW_S; i++)
		fell += p->fell[i];
	if (!fell)
		p->network_asked = false;
	if (p->network_asked || fell < FEW || fell <= up)
		return;
	p->network_asked = true;
	log_line("%u of %u sensors fell silent within %u s: is this machine's network down?", fell,
		 fell + up, PRESENCE_WINDOW_S);
}

/* Sensors have the time until the second silence to connect. */
static void log_never(struct presence *p, const struct sensors *sensors, uint64_t now_ns)
{
	struct change never = { 0 };
	char all[NAMES_MAX];

	if (p->never_logged || now_ns - p->begun_ns < 2 * p->silent_ns)
		return;
	p->never_logged = true;
	for (unsigned int i = 0; i < sensors->count; i++)
		if (sensors->list[i]->listed && !sensors->list[i]->heard_ns &&
		    !sensors->list[i]->before.ended)
			change_add(&never, sensors->list[i], 0);
	if (never.count)
		log_line("%u sensor%s not heard since the start: %s", never.count,
			 PLURAL(never.count), names(all, sizeof(all), &never));
}

int presence_tick(struct presence *p, const struct sensors *sensors, uint64_t now_ns)
{
	struct changes c = { 0 };

	if (now_ns < p->next_ns)
		return monotonic_timeout(p->next_ns, now_ns);
	p->begun_ns = p->begun_ns ?: now_ns;
	p->next_ns = now_ns + SECOND_NS;
	for (unsigned int i = 0; i < sensors->count; i++)
		look(p, sensors->list[i], now_ns, &c);
	p->up = c.up;
	p->listed = c.listed;
	log_silent(&c.silent, now_ns);
	log_again(&c.again, now_ns);
	log_ended(&c.ended);
	links_look(sensors);
	ask_about_network(p, c.silent.count, c.up);
	log_never(p, sensors, now_ns);
	return monotonic_timeout(p->next_ns, now_ns);
}
