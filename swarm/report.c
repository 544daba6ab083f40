// SPDX-License-Identifier: GPL-2.0
/* The report of a swarm, as text or as JSON, from one table. */
#include <stdio.h>
#include <stdlib.h>

#include "swarm.h"

static int compare(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double set_up_ms(const struct swarm *w, double quantile)
{
	return w->set_up_count ? w->set_up_ms[(int)(quantile * (w->set_up_count - 1))] : 0;
}

/* name in JSON, description, value */
#define REPORT(X)                                                                                  \
	X(sensors, "sensors", (uint64_t)w->o->count)                                               \
	X(sensors_done, "  of which all is settled", w->done)                                      \
	X(set_ups, "set-ups sent", w->counters.set_ups)                                            \
	X(requests, "requests for a cookie", w->counters.requests)                                 \
	X(sessions, "sessions set up", w->counters.sessions)                                       \
	X(renewals, "sessions renewed", w->counters.renewals)                                      \
	X(lost_sessions, "sessions that fell silent", w->counters.lost_sessions)                   \
	X(datagrams, "datagrams sent", w->counters.datagrams)                                      \
	X(bytes, "  bytes", w->counters.bytes)                                                     \
	X(heard, "datagrams heard", w->counters.heard)                                             \
	X(bad_datagrams, "  of which nothing could be made", w->counters.bad_datagrams)            \
	X(retransmitted, "pieces sent again", w->counters.retransmitted)                           \
	X(combos, "combos sent", w->counters.combos)                                               \
	X(combos_settled, "  settled", w->counters.combos_settled)                                 \
	X(frames, "frames sent", w->counters.frames)                                               \
	X(frames_settled, "  settled", w->counters.frames_settled)

void swarm_report(struct swarm *w, uint64_t took_ns)
{
	qsort(w->set_up_ms, w->set_up_count, sizeof(*w->set_up_ms), compare);
	if (w->o->json) {
		printf("{\"seconds\": %.3f, \"all_up_s\": %.3f", took_ns / 1e9, w->all_up_ns / 1e9);
#define X(name, text, value) printf(", \"" #name "\": %llu", (unsigned long long)(value));
		REPORT(X)
#undef X
		printf(", \"set_up_ms\": {\"least\": %.2f, \"median\": %.2f, \"p99\": %.2f, "
		       "\"most\": %.2f}}\n",
		       set_up_ms(w, 0), set_up_ms(w, .5), set_up_ms(w, .99), set_up_ms(w, 1));
		return;
	}
	printf("%-32s %.3f\n%-32s %.3f\n", "seconds", took_ns / 1e9, "  until all sessions were up",
	       w->all_up_ns / 1e9);
#define X(name, text, value) printf("%-32s %llu\n", text, (unsigned long long)(value));
	REPORT(X)
#undef X
	printf("%-32s %.2f, median %.2f, 99 %% below %.2f, most %.2f\n", "set-up took ms: least",
	       set_up_ms(w, 0), set_up_ms(w, .5), set_up_ms(w, .99), set_up_ms(w, 1));
}
