// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated sensor's session: the collector's datagrams (Shroud), renewal, silence. In: datagrams
 * and the time. Out: answers to handshakes, for handshake.c, and ACKs, for send.c.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "swarm.h"
#include "wire/bytes.h"

#define SECOND 1000000000ULL
#define SILENCE_NS (3 * SECOND)
#define HEARD_EVERY 8

uint32_t swarm_owner(const struct swarm *w, const struct swarm_sensor *s)
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
	struct order_keys keys = { .count = 1 };

	swarm_key(&s->own, w->o->seed, w->o->first + i);
	s->sock = sock;
	s->ahead_ns = w->o->clock_ahead * (int64_t)SECOND;
	randombytes_buf(&s->run, sizeof(s->run));
	memcpy(keys.key[0], w->o->collector, KEY_LEN);
	return swarm_keys_set(s, &keys);
}

static void session_end(struct swarm *w, struct swarm_sensor *s)
{
	s->up = false;
	shroud_rx_free(&s->rx, &w->table);
}

void swarm_sensor_free(struct swarm *w, unsigned int i)
{
	struct swarm_sensor *s = &w->sensors[i];

	swarm_set_up_free(w, s);
	session_end(w, s);
	free(s->flight);
	sodium_memzero(s, sizeof(*s));
}

int swarm_session_keys(struct swarm *w, struct swarm_sensor *s, uint8_t k2[KEY_LEN], uint64_t now)
{
	struct shroud_keys up, down;
	int err;

	session_end(w, s);
	tryst_session(k2, &up, &down, s->chain);
	err = shroud_rx_init(&s->rx, &w->table, &down, swarm_owner(w, s), SHROUD_WINDOW_DOWN);
	shroud_tx_init(&s->tx, &up);
	sodium_memzero(&up, sizeof(up));
	sodium_memzero(&down, sizeof(down));
	s->up = !err;
	s->renewing = false;
	s->renew_ns = now + w->o->renew * SECOND;
	return err;
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
	if (swarm_session_keys(w, s, k2, now))
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
	} else if (in[0] == MESSAGE_ORDER) {
		swarm_ordered(w, s, in, len, now);
	}
	if (++s->unheard >= HEARD_EVERY)
		s->heard_due = true;
	swarm_send_control(w, s, now);
}

void swarm_receive(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now)
{
	const struct table_entry *e = NULL;
	uint8_t out[SHROUD_DATAGRAM_MAX];

	while (len >= SHROUD_OVERHEAD && len <= sizeof(out) &&
	       (e = table_find(&w->table, load_word(in), e))) {
		struct swarm_sensor *s = &w->sensors[e->owner / 2 - 1];
		uint64_t number = 0;
		long got;

		if (e->owner & 1) {
			swarm_answered(w, s, e->low, in, len, now);
			return;
		}
		got = shroud_open(&s->rx, &w->table, e->low, &number, out, in, len);
		if (got < 0 && !number)
			continue; /* not authentic: junk, or another sensor has the same address */
		if (got > 0) {
			w->counters.heard++;
			s->waits_ns = 0;
			message(w, s, out, got, now);
		}
		return;
	}
	if (!swarm_told(w, sock, in, len, now))
		w->counters.bad_datagrams++;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* If the collector is silent, ends the session and requests another one. */
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
		swarm_set_up(w, s, now);
		w->due[i] = swarm_set_up_due(s);
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
	w->due[i] = earlier(earlier(s->totals_ns, s->between_ns), now + SECOND);
	if (s->waits_ns)
		w->due[i] = earlier(w->due[i], s->waits_ns + SILENCE_NS);
	if (s->begun > s->taken)
		w->due[i] = earlier(w->due[i], s->progress_ns + s->rto_ns);
}
