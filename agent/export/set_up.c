// SPDX-License-Identifier: GPL-2.0
/*
 * Set-up: who is asked for a session, when, and what for. In: the time, which set-ups were not
 * answered. Out: m1 and clock requests, each under an address that has not been used and from a
 * port of its own; hear.c takes the answer. The cryptography is wire/tryst.h's.
 */
#include "session.h"

#include <sodium.h>
#include <string.h>

#include <saluki/log.h>

#include "slots.h"

#define RETRY_FIRST_MS 1000
#define RETRY_DOUBLED 3 /* times: 8 seconds */
#define GIVEN_UP 3	/* set-ups without an answer, where there is another collector */

/* ---- addresses ------------------------------------------------------------------------------- */

uint32_t *session_slots_used(struct session_peer *p, uint64_t interval)
{
	uint32_t *used = &p->slots[interval % 3].used;

	if (p->slots[interval % 3].interval != interval)
		*used = 0;
	p->slots[interval % 3].interval = interval;
	return used;
}

/* A random one of an interval's that has not gone out. Returns whether there is one. */
static bool slot_choose(struct session_peer *p, uint64_t interval, uint64_t *slot)
{
	uint64_t slots[TRYST_SLOTS];
	uint32_t *used = session_slots_used(p, interval), j;

	if (*used == UINT32_MAX)
		return false;
	tryst_slots(slots, p->pair, interval);
	do {
		do
			j = randombytes_uniform(TRYST_SLOTS);
		while (*used & 1U << j);
		*used |= 1U << j;
		*slot = slots[j];
		if (slots_take(*slot, interval)) /* by an agent before us neither */
			return true;
	} while (*used != UINT32_MAX);
	return false;
}

_Static_assert(TRYST_SLOTS == 32, "a bit each");

/* Where set-ups go unanswered the neighbours have their turn: the slots of this one may have been
 * spent by an agent before us, and the clock may be wrong. */
static uint64_t slot_interval(const struct session *s, uint64_t time_ns)
{
	static const int turns[3] = { 0, 1, -1 };

	return time_ns / TRYST_INTERVAL_NS + turns[s->unanswered % 3];
}

/* ---- what goes out --------------------------------------------------------------------------- */

size_t session_padding(const struct session *s)
{
	return s->pad ? SHROUD_DATAGRAM_PADDED : 0;
}

uint32_t session_spool_for(const struct session *s, unsigned int peer)
{
	for (unsigned int i = 0; i < s->spool_count; i++)
		if (s->spools[i].is_for[peer] &&
		    !__atomic_load_n(&s->spools[i].done, __ATOMIC_ACQUIRE))
			return i + 1;
	return 0;
}

/* A session for that: its key is ahead of the info, which is that of who wrote it. */
static void hello_spool(const struct session *s, struct tryst_hello *hello)
{
	const struct session_spool *p = &s->spools[s->asked.spool - 1];

	memcpy(hello->info, p->hello[s->asked.peer], SPOOL_HELLO_LEN);
	memcpy(hello->info + SPOOL_HELLO_LEN, p->info.text, p->info.len);
	hello->info_len = SPOOL_HELLO_LEN + p->info.len;
	hello->run = p->run;
	hello->flags |= TRYST_SPOOL;
}

/* `exported` so that a collector that hears of this run only now knows what it has missed. */
static void hello_info(struct session *s, struct tryst_hello *hello)
{
	s->info.exported = __atomic_load_n(s->exported, __ATOMIC_RELAXED);
	hello->info_len = info_write((char *)hello->info, &s->info);
}

static void send_init(struct session *s, const struct session_peer *p, uint64_t time_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	struct tryst_hello hello = {
		.run = s->run,
		.time_ns = time_ns,
		.window = s->window,
		.flags = s->pad ? TRYST_PADDED : 0,
	};
	uint64_t slot;
	long len;

	if (!slot_choose(&s->peers[s->asked.peer], slot_interval(s, time_ns), &slot))
		return; /* another interval has others */
	if (s->asked.spool)
		hello_spool(s, &hello);
	else
		hello_info(s, &hello);
	len = tryst_init(&s->asked.tryst, out, &s->own, p->public, p->pair, slot, &hello,
			 session_padding(s));
	s->asked.waits = len > 0;
	/* Nobody there shows as silence; the next one is the retry. */
	if (len > 0)
		send(s->asked.sock, out, len, MSG_NOSIGNAL);
}

static void ask_clock(struct session *s, const struct session_peer *p, uint64_t time_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t len = s->pad ? SHROUD_DATAGRAM_PADDED : CLOCK_REQUEST_MIN;

	s->asked.clock = !clock_ask(s->asked.clock_key, out, len, &s->own, p->public, time_ns);
	if (s->asked.clock)
		send(s->asked.sock, out, len, MSG_NOSIGNAL);
}

/* ---- who is asked ---------------------------------------------------------------------------- */

void session_ask(struct session *s, unsigned int peer, bool clock, uint64_t now_ns)
{
	const struct session_peer *p = &s->peers[peer];
	uint64_t time_ns = session_time(s, peer, now_ns);

	reach_give(&s->reach, s->asked.sock);
	sodium_memzero(&s->asked, sizeof(s->asked));
	s->asked.peer = peer;
	s->asked.spool = session_spool_for(s, peer);
	s->asked.sock = reach_take(&s->reach, &p->address);
	if (s->asked.sock < 0) {
		s->asked.sock = -1; /* no route at present */
		return;
	}
	send_init(s, p, time_ns);
	if (clock || (time_ns < SESSION_YEAR_2020_NS && !p->clock_set))
		ask_clock(s, p, time_ns);
}

static void next_peer(struct session *s)
{
	unsigned int old = s->trying;

	if (s->peer_count == 1 || s->unanswered < (s->failed >= s->peer_count ? 1 : GIVEN_UP))
		return;
	s->trying = (s->trying + 1) % s->peer_count;
	s->unanswered = 0;
	if (s->failed++ < s->peer_count)
		log_line("collector %s: no answer; trying %s", s->peers[old].address.name,
			 s->peers[s->trying].address.name);
}

void session_set_up(struct session *s, uint64_t now_ns)
{
	unsigned int doubled;
	uint64_t wait_ms;

	next_peer(s);
	doubled = s->failed >= s->peer_count ? RETRY_DOUBLED : s->unanswered;
	wait_ms = RETRY_FIRST_MS << (doubled < RETRY_DOUBLED ? doubled : RETRY_DOUBLED);
	wait_ms += randombytes_uniform(wait_ms / 4);
	s->next_init_ns = now_ns + wait_ms * 1000000ULL;
	/* The clock may be why: with each second one from the third on it is asked for. */
	session_ask(s, s->trying, (s->unanswered >= 2 && !(s->unanswered & 1)) || s->failed,
		    now_ns);
	if (s->unanswered++ == 2 && s->peer_count == 1 && !s->told_silent) {
		log_line(
			"collector %s: no answer; is it running, is its public key the second line "
			"of --key, is this sensor's key in its --sensors file? Trying on",
			s->peers[s->trying].address.name);
		s->told_silent = true;
	}
}
