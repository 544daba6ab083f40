// SPDX-License-Identifier: GPL-2.0
/* Handshake candidate: see handshake_candidate.h. */
#include "handshake_candidate.h"

#include <string.h>

#include "sensor.h"

/* Returns the place for a new candidate: the last candidate's, or a free one. NULL: no memory. */
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

struct session *handshake_candidate_make(struct sensor *s, struct table *t, uint8_t k2[KEY_LEN],
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

void handshake_candidate_hello(struct session *c, const struct tryst_hello *hello)
{
	c->run = hello->run;
	c->hello_ns = hello->time_ns;
	memcpy(c->instance, hello->instance, sizeof(c->instance));
	sensor_info_set(&c->info, hello->info, hello->info_len); /* without memory, no info */
}

/* After a restart, slots that were spent earlier are valid again. A replayed set-up must not
 * replace the candidate of a set-up or renewal that the sensor is about to use. */
bool handshake_candidate_overtook(const struct sensor *s, const struct tryst_hello *hello,
				  uint64_t now_ns)
{
	const struct session *c = sensor_candidate(s);

	return c && hello->time_ns <= c->hello_ns && now_ns - c->made_ns < HANDSHAKE_CANDIDATE_NS;
}

/* A machine that restarted also has a new instance, but was silent meanwhile. An instance depends
 * on the sensor's key, so a sensor that takes its next key into use need not be silent. */
bool handshake_candidate_is_busy(const struct sensor *s, unsigned int pair,
				 const struct tryst_hello *hello, uint64_t now_ns)
{
	const struct session *c = sensor_session(s);
	bool next = c && pair & SENSOR_PAIR_NEXT && !(c->pair & SENSOR_PAIR_NEXT);

	return c && !next && !s->final_confirmed && now_ns - s->heard_ns < HANDSHAKE_SILENT_NS &&
	       memcmp(c->instance, hello->instance, sizeof(c->instance));
}
