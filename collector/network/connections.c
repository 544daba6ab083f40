// SPDX-License-Identifier: GPL-2.0
/* Connections: see connections.h. */
#include "connections.h"

#include "common/duration.h"
#include "common/log.h"
#include "sensor.h"

/* Once per key, so that the operator knows when the old one is no longer needed. */
static void log_next_key(struct sensor *s, const struct session *session)
{
	if (!(session->pair & SENSOR_PAIR_NEXT) || s->network->next_logged)
		return;
	s->network->next_logged = true;
	log_line("sensor %s: uses its next key; its old key in --sensors is no longer needed",
		 s->name);
}

void connections_begun(struct network *o, struct sensor *s, const struct session *session,
		       const struct sockaddr *from, uint64_t now_ns)
{
	uint64_t away_ns = now_ns - s->heard_ns, who;
	char at[REFUSALS_ADDRESS_MAX], away[DURATION_TEXT_LEN];

	if (from->sa_family == AF_UNIX)
		return; /* the sensor of `saluki capture` */
	log_next_key(s, session);
	refusals_address(at, from);
	log_verbose("sensor %s: session %s from %s", s->name,
		    session->renewed ? "with new keys" : "set up", at);
	if (log_settings.level < LOG_LEVEL_NORMAL || session->renewed ||
	    (s->heard_ns && away_ns < CONNECTIONS_AWAY_NS))
		return;
	s->presence = SENSOR_UP;
	who = refusals_sensor_hash("sensor", s->name);
	duration_text(away, away_ns / 1000);
	if (!s->heard_ns)
		log_limit_line(&o->connected, who, refusals_sensor_hash("first", s->name), now_ns,
			       "sensor %s: connected from %s", s->name, at);
	else
		log_limit_line(&o->connected, who, refusals_sensor_hash("again", s->name), now_ns,
			       "sensor %s: connected again from %s, after %s of silence", s->name,
			       at, away);
}
