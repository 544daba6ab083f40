// SPDX-License-Identifier: GPL-2.0
/* Timers: see timers.h. */
#include "timers.h"

#include "common/monotonic.h"
#include "sensor_sessions.h"
#include "session_send.h"

#define TICK_MAX_NS 10000000000ULL

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int timers_tick(struct network *o, uint64_t now_ns)
{
	uint64_t time = handshake_time(&o->handshake);
	uint64_t next_ns =
		now_ns + least(TICK_MAX_NS, TRYST_INTERVAL_NS - time % TRYST_INTERVAL_NS);

	next_ns = least(next_ns, session_send_due(o, now_ns));
	next_ns = least(next_ns, sensor_sessions_expire(o, now_ns));
	if (handshake_turn(&o->handshake, &o->table, o->sensors))
		next_ns = 0;
	o->combos->output->state.floor_ns = time;
	return monotonic_timeout(next_ns, now_ns);
}
