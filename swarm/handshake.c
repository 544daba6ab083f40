// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated sensor's handshakes, as in agent/export/handshake.c. In: the time, and answers. Out:
 * an m1 under a slot. Without a prompt answer or a free slot, it sends a request for a cookie,
 * first with a date, then without one, and then an m1 under the cookie. An answered m1 becomes a
 * session (session.c). If several are answered, the newest session is used, as at the collector.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/monotonic.h"
#include "swarm.h"
#include "wire/handshake_pace.h"
#include "wire/info.h"

/* Returns the sensor's time. It is wrong by --clock-ahead until the collector has sent the time. */
static uint64_t time_of(const struct swarm_sensor *s)
{
	return clock_ns(CLOCK_REALTIME) + s->ahead_ns;
}

/* ---- what goes out --------------------------------------------------------------------------- */

static void forget_answer(struct swarm *w, struct swarm_sensor *s, uint32_t n)
{
	if (s->answers[n])
		table_remove(&w->table, s->answers[n], swarm_owner(w, s) + 1, n);
	s->answers[n] = 0;
}

/* Chooses an unused slot of the interval. Returns whether there is one. */
static bool pick_slot(struct swarm_sensor *s, uint64_t time_ns, uint64_t *slot)
{
	uint64_t slots[TRYST_SLOTS], interval = time_ns / TRYST_INTERVAL_NS;
	unsigned int j;

	if (s->interval != interval)
		s->slots_used = 0;
	s->interval = interval;
	if (s->slots_used == UINT32_MAX)
		return false;
	do
		j = randombytes_uniform(TRYST_SLOTS);
	while (s->slots_used >> j & 1);
	s->slots_used |= 1u << j;
	tryst_slots(slots, s->keys[s->key].pair, interval);
	*slot = slots[j];
	return true;
}

static void write_hello(const struct swarm *w, const struct swarm_sensor *s, struct tryst_hello *h)
{
	struct info info = {
		.application = "saluki-swarm", .os = "simulated", .exported = s->frames, .count = 1
	};
	char text[INFO_LEN_MAX + 1];

	strcpy(info.interfaces[0].name, "swarm");
	swarm_keys_tell(s, info.trusts);
	memset(h, 0, sizeof(*h));
	h->run = s->run;
	h->time_ns = time_of(s);
	h->window = SWARM_WINDOW;
	h->flags = w->o->pad ? TRYST_PADDED : 0;
	h->info_len = info_write(text, &info);
	memcpy(h->info, text, h->info_len);
}

/* Writes an m1 of `len` bytes under a slot or a cookie to `out`. Returns whether it succeeded. */
static bool write_m1(struct swarm *w, struct swarm_sensor *s, uint8_t *out, uint64_t slot,
		     size_t len, uint64_t now)
{
	const struct swarm_key *k = &s->keys[s->key];
	const struct tryst_keys keys = { &s->own, k->public, k->pair };
	uint32_t n = ++s->attempt % SWARM_ASKED;
	struct tryst_hello hello;

	write_hello(w, s, &hello);
	forget_answer(w, s, n);
	if (tryst_init(&s->asked[n], out, &keys, slot, &hello, len) < 0)
		return false;
	memcpy(&s->answers[n], s->asked[n].answer, sizeof(s->answers[n]));
	if (table_add(&w->table, s->answers[n], swarm_owner(w, s) + 1, n))
		s->answers[n] = 0;
	s->asked_ns[n] = now;
	w->counters.set_ups++;
	return true;
}

static void request(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	const struct swarm_key *k = &s->keys[s->key];
	uint64_t time_ns = time_of(s);
	bool dated = !s->requested;
	uint8_t out[SHROUD_DATAGRAM_MAX];

	s->request_ns = dated ? now + SESSION_UNDATED_NS : 0;
	if (request_cookie(&s->requests[s->requested++], out,
			   &(struct request_from){ &s->own, k->public, time_ns,
						   dated ? time_ns / TRYST_INTERVAL_NS
							 : REQUEST_UNDATED },
			   k->pair))
		return;
	w->counters.requests++;
	swarm_datagram(w, s, out, REQUEST_LEN);
}

static void ask(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX];
	uint64_t slot;

	swarm_keys_turn(s);
	s->retry_ns = now + handshake_retry_ms(s->tries++) * 1000000ULL;
	s->requested = 0;
	s->told = false;
	if (!pick_slot(s, time_of(s), &slot)) {
		request(w, s, now);
	} else if (write_m1(w, s, m1, slot, SHROUD_DATAGRAM_PADDED, now)) {
		s->request_ns = now + SESSION_REQUEST_NS;
		swarm_datagram(w, s, m1, SHROUD_DATAGRAM_PADDED);
	}
}

void swarm_set_up(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	/* Requests come first, as both may be due if the swarm is late. */
	if (s->request_ns && now >= s->request_ns)
		request(w, s, now);
	else if (now >= s->retry_ns)
		ask(w, s, now);
}

uint64_t swarm_set_up_due(const struct swarm_sensor *s)
{
	return s->request_ns && s->request_ns < s->retry_ns ? s->request_ns : s->retry_ns;
}

void swarm_set_up_free(struct swarm *w, struct swarm_sensor *s)
{
	for (uint32_t n = 0; n < SWARM_ASKED; n++)
		forget_answer(w, s, n);
}

/* ---- what comes back ------------------------------------------------------------------------- */

void swarm_answered(struct swarm *w, struct swarm_sensor *s, uint32_t n, const uint8_t *in,
		    size_t len, uint64_t now)
{
	uint32_t attempt = s->attempt - (s->attempt - n) % SWARM_ASKED;
	struct tryst_welcome welcome;
	uint8_t k2[KEY_LEN];

	if (tryst_finish(&s->asked[n], &s->own, &welcome, k2, in, len)) {
		w->counters.bad_datagrams++;
		return;
	}
	forget_answer(w, s, n);
	if (welcome.flags & TRYST_BUSY)
		return;
	if ((s->up && attempt < s->attempt_up) || swarm_session_keys(w, s, k2, now))
		return;
	s->sensor_id = welcome.sensor_id;
	s->window = welcome.window < SWARM_WINDOW ? welcome.window : SWARM_WINDOW;
	s->attempt_up = attempt;
	s->in_vain = false;
	s->tries = 0;
	s->request_ns = 0;
	s->told = true;
	if (w->set_up_count < w->o->count)
		w->set_up_ms[w->set_up_count++] = (now - s->asked_ns[n]) / 1e6f;
	w->counters.sessions++;
	w->fresh += !s->fresh;
	s->fresh = true;
	swarm_session_begun(w, s, now);
}

/* Takes the collector's time and cookie, and sends the m1 under that cookie at once. */
static void told(struct swarm *w, struct swarm_sensor *s, const struct request_answer *answer,
		 uint64_t now)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX], out[SHROUD_DATAGRAM_MAX];
	uint64_t time_ns = answer->time_ns;

	s->told = true;
	s->request_ns = 0;
	s->ahead_ns = time_ns - clock_ns(CLOCK_REALTIME);
	if (write_m1(w, s, m1, answer->cookie, REQUEST_INIT_LEN, now) &&
	    !request_set_up(out, m1,
			    &(struct request_from){ &s->own, s->keys[s->key].public, time_ns,
						    time_ns / TRYST_INTERVAL_NS }))
		swarm_datagram(w, s, out, REQUEST_LEN);
}

bool swarm_told(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now)
{
	struct request_answer answer;

	for (long i = 0; i < w->o->count; i++) {
		struct swarm_sensor *s = &w->sensors[i];

		for (unsigned int k = 0; s->sock == sock && k < s->requested; k++)
			if (!request_answered(&s->requests[k], &answer, in, len)) {
				if (!s->told) /* or the path is slow */
					told(w, s, &answer, now);
				return true;
			}
	}
	return false;
}
