// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated sensor's session: set-ups (Tryst), what the collector says (Shroud), silence. In:
 * datagrams and the time. Out: set-ups; what ACK says goes to swarm_send.c. Of several set-ups that
 * are answered the latest counts, as it does at the collector.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>

#include "swarm.h"
#include "wire/bytes.h"
#include "wire/info.h"

#define SECOND 1000000000ULL
#define SILENCE_NS (3 * SECOND)
#define HEARD_EVERY 8

static uint32_t owner_of(const struct swarm *w, const struct swarm_sensor *s)
{
	return 2 * (uint32_t)(s - w->sensors) + 2;
}

void swarm_key(struct keypair *own, const char *seed, unsigned long i)
{
	uint8_t root[KEY_LEN], number[8];

	derive_hash(root, seed, strlen(seed));
	store_be(number, i, sizeof(number));
	derive(own->secret, root, "swarm", number, sizeof(number), NULL, 0);
	key_public(own->public, own->secret);
}

int swarm_sensor_init(struct swarm *w, unsigned int i, int sock)
{
	struct swarm_sensor *s = &w->sensors[i];

	swarm_key(&s->own, w->o->seed, w->o->first + i);
	s->sock = sock;
	randombytes_buf(&s->run, sizeof(s->run));
	return tryst_pair(s->pair, &s->own, w->o->collector, true, NULL);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void forget_answer(struct swarm *w, struct swarm_sensor *s, uint32_t attempt)
{
	uint32_t n = attempt % SWARM_ASKED;

	if (s->answers[n])
		table_remove(&w->table, s->answers[n], owner_of(w, s) + 1, n);
	s->answers[n] = 0;
}

/* One of the interval's slots that have not been used. Returns whether there is one. */
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
	tryst_slots(slots, s->pair, interval);
	*slot = slots[j];
	return true;
}

static void write_hello(const struct swarm *w, const struct swarm_sensor *s, struct tryst_hello *h)
{
	struct info info = {
		.application = "saluki swarm", .os = "simulated", .exported = s->frames, .count = 1
	};
	char text[INFO_LEN_MAX + 1];

	strcpy(info.interfaces[0].name, "swarm");
	memset(h, 0, sizeof(*h));
	h->run = s->run;
	h->time_ns = clock_ns(CLOCK_REALTIME);
	h->window = SWARM_WINDOW;
	h->flags = w->o->pad ? TRYST_PADDED : 0;
	h->info_len = info_write(text, &info);
	memcpy(h->info, text, h->info_len);
}

/* 1, 2, 4 and then 8 seconds, and up to a quarter more. */
static uint64_t retry_after(uint32_t tries)
{
	uint64_t ns = SECOND << (tries < 3 ? tries : 3);

	return ns + ns / 4 * randombytes_uniform(1024) / 1024;
}

static void ask(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX];
	uint32_t n = ++s->attempt % SWARM_ASKED;
	struct tryst_hello hello;
	uint64_t slot;
	long len;

	s->retry_ns = now + retry_after(s->tries++);
	write_hello(w, s, &hello);
	if (!pick_slot(s, hello.time_ns, &slot))
		return;
	forget_answer(w, s, s->attempt);
	len = tryst_init(&s->asked[n], m1, &s->own, w->o->collector, s->pair, slot, &hello,
			 SHROUD_DATAGRAM_PADDED);
	if (len < 0)
		return;
	memcpy(&s->answers[n], s->asked[n].answer, sizeof(s->answers[n]));
	if (table_add(&w->table, s->answers[n], owner_of(w, s) + 1, n))
		s->answers[n] = 0;
	s->asked_ns[n] = now;
	w->counters.set_ups++;
	swarm_datagram(w, s, m1, len);
}

static void session_end(struct swarm *w, struct swarm_sensor *s)
{
	s->up = false;
	shroud_rx_free(&s->rx, &w->table);
}

void swarm_sensor_free(struct swarm *w, unsigned int i)
{
	struct swarm_sensor *s = &w->sensors[i];

	for (uint32_t n = 0; n < SWARM_ASKED; n++)
		forget_answer(w, s, n);
	session_end(w, s);
	free(s->flight);
	sodium_memzero(s, sizeof(*s));
}

/* The session with root `k2`, which is wiped, is the present one. Returns 0 or -ENOMEM. */
static int session_begin(struct swarm *w, struct swarm_sensor *s, uint8_t k2[KEY_LEN], uint64_t now)
{
	struct shroud_keys up, down;
	int err;

	session_end(w, s);
	tryst_session(k2, &up, &down, s->chain);
	err = shroud_rx_init(&s->rx, &w->table, &down, owner_of(w, s), SHROUD_WINDOW_DOWN);
	shroud_tx_init(&s->tx, &up);
	sodium_memzero(&up, sizeof(up));
	sodium_memzero(&down, sizeof(down));
	s->up = !err;
	s->renewing = false;
	s->renew_ns = now + w->o->renew * SECOND;
	return err;
}

static void answered(struct swarm *w, struct swarm_sensor *s, uint32_t n, const uint8_t *in,
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
	if ((s->up && attempt < s->attempt_up) || session_begin(w, s, k2, now))
		return;
	s->sensor_id = welcome.sensor_id;
	s->window = welcome.window < SWARM_WINDOW ? welcome.window : SWARM_WINDOW;
	s->attempt_up = attempt;
	s->tries = 0;
	if (w->set_up_count < w->o->count)
		w->set_up_ms[w->set_up_count++] = (now - s->asked_ns[n]) / 1e6f;
	w->counters.sessions++;
	w->fresh += !s->fresh;
	s->fresh = true;
	swarm_session_begun(w, s, now);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void renew(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	uint8_t message[MESSAGE_RENEW_LEN] = { MESSAGE_RENEW };

	if (!s->renewing)
		tryst_ephemeral(&s->renewal, s->own.secret, clock_ns(CLOCK_REALTIME));
	s->renewing = true;
	s->renew_ns = now + SECOND;
	memcpy(message + 1, s->renewal.public, KEY_LEN);
	swarm_send(w, s, message, sizeof(message), now);
}

static void renewed(struct swarm *w, struct swarm_sensor *s, const uint8_t *in, uint64_t now)
{
	uint8_t k2[KEY_LEN];

	if (!s->renewing || sodium_memcmp(in + 1, s->renewal.public, KEY_LEN) ||
	    tryst_renew(k2, s->chain, &s->renewal, in + 1 + KEY_LEN, true))
		return;
	sodium_memzero(&s->renewal, sizeof(s->renewal));
	if (session_begin(w, s, k2, now))
		return;
	w->counters.renewals++;
	swarm_session_begun(w, s, now);
}

static void message(struct swarm *w, struct swarm_sensor *s, const uint8_t *in, size_t len,
		    uint64_t now)
{
	struct ack ack;

	if (in[0] == MESSAGE_ACK && ack_read(&ack, in, len) == 0) {
		swarm_acked(w, s, &ack, now);
	} else if (in[0] == MESSAGE_CHALLENGE && len >= MESSAGE_CHALLENGE_LEN) {
		s->cookie = load_be(in + 1, 8);
		s->echo_due = true;
	} else if (in[0] == MESSAGE_RENEWED && len >= MESSAGE_RENEWED_LEN) {
		renewed(w, s, in, now);
	}
	if (++s->unheard >= HEARD_EVERY)
		s->heard_due = true;
	swarm_send_control(w, s, now);
}

void swarm_receive(struct swarm *w, const uint8_t *in, size_t len, uint64_t now)
{
	const struct table_entry *e = NULL;
	uint8_t out[SHROUD_DATAGRAM_MAX];

	while (len >= SHROUD_OVERHEAD && len <= sizeof(out) &&
	       (e = table_find(&w->table, load_word(in), e))) {
		struct swarm_sensor *s = &w->sensors[e->owner / 2 - 1];
		uint64_t number = 0;
		long got;

		if (e->owner & 1) {
			answered(w, s, e->low, in, len, now);
			return;
		}
		got = shroud_open(&s->rx, &w->table, e->low, &number, out, in, len);
		if (got < 0 && !number)
			continue; /* not authentic: another's address is the same, or it is junk */
		if (got > 0) {
			w->counters.heard++;
			s->waits_ns = 0;
			message(w, s, out, got, now);
		}
		return;
	}
	w->counters.bad_datagrams++;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nothing but silence came back: the session is given up, and another one set up. */
static void check_silence(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	if (!s->waits_ns || now - s->waits_ns < SILENCE_NS)
		return;
	session_end(w, s);
	w->counters.lost_sessions++;
	s->waits_ns = 0;
	s->retry_ns = now;
}

void swarm_sensor_tick(struct swarm *w, unsigned int i, uint64_t now)
{
	struct swarm_sensor *s = &w->sensors[i];

	if (s->done) {
		w->due[i] = UINT64_MAX;
		return;
	}
	if (s->up)
		check_silence(w, s, now);
	if (!s->up) {
		if (now >= s->retry_ns)
			ask(w, s, now);
		w->due[i] = s->retry_ns;
		return;
	}
	if (s->begun > s->taken && now - s->progress_ns >= s->rto_ns) {
		s->progress_ns = now;
		s->rto_ns = earlier(2 * s->rto_ns, 5 * SECOND);
		swarm_send_again(w, s);
	}
	if (now >= s->renew_ns)
		renew(w, s, now);
	swarm_send_control(w, s, now);
	w->due[i] = earlier(s->totals_ns, now + SECOND);
	if (s->waits_ns)
		w->due[i] = earlier(w->due[i], s->waits_ns + SILENCE_NS);
	if (s->begun > s->taken)
		w->due[i] = earlier(w->due[i], s->progress_ns + s->rto_ns);
}
