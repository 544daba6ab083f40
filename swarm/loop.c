// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of a swarm, in one thread. In: signals, the time, datagrams. Out: turns of sensors, at
 * the allowed rate. Always holds: no sensor sends more than BURST datagrams in a turn.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "swarm.h"

#define BATCH 64
#define SECOND 1000000000ULL
#define TICK_NS 5000000ULL
#define BURST 16   /* datagrams of a sensor before another one's turn */
#define SET_UPS 16 /* before it receives again */
#define ROUND 512  /* datagrams before it is looked what has come */

static volatile sig_atomic_t interrupted, again;

static void interrupt(int signo)
{
	if (signo == SIGUSR1)
		again = 1;
	else
		interrupted = 1;
}

void swarm_signals(void)
{
	struct sigaction sa = { .sa_handler = interrupt };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
}

void swarm_ready(struct swarm *w, struct swarm_sensor *s)
{
	if (s->ready || s->done)
		return;
	s->ready = true;
	w->ready[(w->ready_from + w->ready_len++) % w->o->count] = s - w->sensors;
}

static struct swarm_sensor *next_ready(struct swarm *w)
{
	struct swarm_sensor *s = &w->sensors[w->ready[w->ready_from]];

	w->ready_from = (w->ready_from + 1) % w->o->count;
	w->ready_len--;
	s->ready = false;
	return s;
}

static void allow(struct swarm *w, uint64_t *before, uint64_t now)
{
	double most = w->o->rate / 50.0 + 1;

	if (w->o->rate)
		w->tokens += (now - *before) * (w->o->rate / 1e9);
	else
		w->tokens = ROUND;
	if (w->o->rate && w->tokens > most)
		w->tokens = most;
	*before = now;
}

static void send_round(struct swarm *w, uint64_t now)
{
	uint32_t turns = w->ready_len < ROUND / BURST ? w->ready_len : ROUND / BURST;

	while (turns-- && w->tokens >= 1) {
		struct swarm_sensor *s = next_ready(w);

		if (swarm_send_pieces(w, s, BURST, now))
			swarm_ready(w, s);
	}
}

/* Continues after the last sensor that had a turn. It stops after SET_UPS, so that answers need not
 * wait: many handshakes take a second. Returns whether all sensors had their turn. */
static bool tick_due(struct swarm *w, uint64_t now)
{
	static long next;
	uint64_t asked = w->counters.set_ups + w->counters.requests;

	for (; next < w->o->count; next++) {
		if (w->counters.set_ups + w->counters.requests - asked == SET_UPS)
			return false;
		if (w->due[next] <= now)
			swarm_sensor_tick(w, next, now);
	}
	next = 0;
	return true;
}

/* Frees combos that every sensor has settled. */
static void release_settled(struct swarm *w)
{
	uint64_t least = UINT64_MAX;

	for (long i = 0; i < w->o->count; i++)
		if (!w->sensors[i].done && w->sensors[i].settled < least)
			least = w->sensors[i].settled;
	if (least != UINT64_MAX)
		swarm_combos_release(&w->combos, least);
}

static void receive(struct swarm *w, int sock)
{
	static uint8_t buffers[BATCH][SHROUD_DATAGRAM_MAX + 1];
	struct iovec iovecs[BATCH];
	struct mmsghdr messages[BATCH] = { 0 };
	int n;

	for (int i = 0; i < BATCH; i++) {
		iovecs[i] = (struct iovec){ buffers[i], sizeof(buffers[i]) };
		messages[i].msg_hdr.msg_iov = &iovecs[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(sock, messages, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		swarm_receive(w, sock, buffers[i], messages[i].msg_len, monotonic_ns());
}

/* Waits for a datagram, unless work is `due`, and receives. */
static void wait_and_receive(struct swarm *w, int epoll, bool due)
{
	struct epoll_event events[SWARM_SOCKETS];
	bool busy = due || (w->ready_len && !w->o->rate);
	int n = epoll_wait(epoll, events, SWARM_SOCKETS,
			   busy		  ? 0
			   : w->ready_len ? 1
					  : TICK_NS / 1000000);

	for (int i = 0; i < n; i++)
		receive(w, events[i].data.fd);
}

/* Prints one line when all sensors have a session, and again after SIGUSR1. */
static void tell_up(struct swarm *w, uint64_t now)
{
	static bool told;

	if (again) {
		again = 0;
		told = false;
		w->fresh = 0;
		for (long i = 0; i < w->o->count; i++)
			w->sensors[i].fresh = false;
		log_line("counting sessions from now on");
	}
	if (told || w->fresh < w->o->count)
		return;
	if (!w->all_up_ns)
		w->all_up_ns = now - w->start_ns;
	log_line("all %ld sensors have set up a session", w->o->count);
	told = true;
}

/* With --seconds, sessions stay up after this line, for which a user may wait. */
static void tell_settled(const struct swarm *w)
{
	static bool told;
	uint64_t all = (uint64_t)w->o->combos * w->o->count;

	if (!told && w->o->combos > 0 && w->counters.combos_settled == all) {
		log_line("all %llu combos are settled", (unsigned long long)all);
		told = true;
	}
}

void swarm_loop(struct swarm *w, int epoll)
{
	uint64_t now = monotonic_ns(), before = now, tick = 0, give_up = 0;
	bool due;

	w->start_ns = now;
	while (w->done < w->o->count) {
		now = monotonic_ns();
		if (!w->ending &&
		    (interrupted || (w->o->seconds && now - w->start_ns >= w->o->seconds * SECOND)))
			w->ending = true;
		if (!give_up &&
		    (w->ending || (!w->o->seconds && w->o->combos >= 0 &&
				   w->counters.combos >= (uint64_t)w->o->combos * w->o->count)))
			give_up = now + w->o->patience * SECOND;
		if (give_up && now >= give_up)
			return;
		due = now >= tick && !tick_due(w, now);
		if (now >= tick && !due) {
			release_settled(w);
			tell_up(w, now);
			tell_settled(w);
			tick = now + TICK_NS;
		}
		allow(w, &before, now);
		send_round(w, now);
		wait_and_receive(w, epoll, due);
	}
}
