// SPDX-License-Identifier: GPL-2.0
/*
 * saluki swarm: many simulated sensors against one collector, to test it and to see how many it can
 * serve. Keys of a seed, real frames, real seals, in one thread: a loop over what is due, what may
 * be sent and what has come. The sensors share a few sockets, as a process has not many.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/options/subcommands.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "swarm.h"

#define SOCKETS 128
#define BATCH 64
#define SECOND 1000000000ULL
#define TICK_NS 5000000ULL
#define BURST 16   /* datagrams of a sensor before another one's turn */
#define SET_UPS 16 /* before it is looked what has come */
#define ROUND 512  /* datagrams before it is looked what has come */
#define RCVBUF (4 * 1024 * 1024)

static volatile sig_atomic_t interrupted, again;

static void interrupt(int signo)
{
	if (signo == SIGUSR1)
		again = 1;
	else
		interrupted = 1;
}

/* ---- the loop -------------------------------------------------------------------------------- */

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

/* Goes on behind the last one, and only as far as answers do not have to wait for it: many set-ups
 * take a second. Returns whether all had their turn. */
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

/* Combos that every sensor has settled are not needed any more. */
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

/* Does not wait where something is `due`. */
static void wait_and_receive(struct swarm *w, int epoll, bool due)
{
	struct epoll_event events[SOCKETS];
	bool busy = due || (w->ready_len && !w->o->rate);
	int n = epoll_wait(epoll, events, SOCKETS, busy ? 0 : w->ready_len ? 1 : TICK_NS / 1000000);

	for (int i = 0; i < n; i++)
		receive(w, events[i].data.fd);
}

/* Says, once, that all of them have set a session up, and with SIGUSR1 that they have again. */
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

/* For who waits for it while sessions are kept up (--seconds). */
static void tell_settled(const struct swarm *w)
{
	static bool told;
	uint64_t all = (uint64_t)w->o->combos * w->o->count;

	if (!told && w->o->combos > 0 && w->counters.combos_settled == all) {
		log_line("all %llu combos are settled", (unsigned long long)all);
		told = true;
	}
}

static void loop(struct swarm *w, int epoll)
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

/* ---- start ----------------------------------------------------------------------------------- */

static int socket_open(const struct addrinfo *a, int epoll)
{
	int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), size = RCVBUF;
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e)) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

/* Returns how many there are, or -errno after a line. */
static int sockets_open(const struct swarm_options *o, int epoll, int socks[SOCKETS])
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *a;
	int count = o->count < SOCKETS ? o->count : SOCKETS, err;

	err = getaddrinfo(o->host, o->port, &hints, &a);
	if (err) {
		log_line("--to %s:%s: %s", o->host, o->port, gai_strerror(err));
		return -EHOSTUNREACH;
	}
	for (int i = 0; i < count; i++) {
		socks[i] = socket_open(a, epoll);
		if (socks[i] >= 0)
			continue;
		log_line("--to %s:%s: %s", o->host, o->port, strerror(-socks[i]));
		count = socks[i];
	}
	freeaddrinfo(a);
	return count;
}

static int sensors_init(struct swarm *w, const int *socks, int sock_count)
{
	for (long i = 0; i < w->o->count; i++)
		if (swarm_sensor_init(w, i, socks[i % sock_count])) {
			log_line("--collector-key: is no public key");
			return -EINVAL;
		}
	return 0;
}

static int swarm_init(struct swarm *w, const struct swarm_options *o)
{
	w->o = o;
	w->sensors = calloc(o->count, sizeof(*w->sensors));
	w->due = calloc(o->count, sizeof(*w->due));
	w->ready = calloc(o->count, sizeof(*w->ready));
	w->set_up_ms = calloc(o->count, sizeof(*w->set_up_ms));
	if (!w->sensors || !w->due || !w->ready || !w->set_up_ms ||
	    table_init(&w->table, o->count * (SHROUD_WINDOW_MIN + 2))) {
		log_line("out of memory for %ld sensors", o->count);
		return -ENOMEM;
	}
	return swarm_combos_init(&w->combos, o->file);
}

static void swarm_free(struct swarm *w)
{
	for (long i = 0; w->sensors && w->table.entries && i < w->o->count; i++)
		swarm_sensor_free(w, i);
	swarm_combos_free(&w->combos);
	table_free(&w->table);
	free(w->set_up_ms);
	free(w->ready);
	free(w->due);
	free(w->sensors);
}

/* ---- command --------------------------------------------------------------------------------- */

static int run(const struct swarm_options *o)
{
	struct sigaction sa = { .sa_handler = interrupt };
	struct swarm w = { 0 };
	int socks[SOCKETS], count = 0, status = 1, epoll = epoll_create1(EPOLL_CLOEXEC);

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	if (swarm_init(&w, o) == 0 && (count = sockets_open(o, epoll, socks)) > 0 &&
	    sensors_init(&w, socks, count) == 0) {
		loop(&w, epoll);
		swarm_report(&w, monotonic_ns() - w.start_ns);
		status = w.done == o->count ? 0 : 1;
		if (status)
			log_line("%ld of %ld sensors have not settled all", o->count - w.done,
				 o->count);
	}
	swarm_free(&w);
	for (int i = 0; i < count; i++)
		close(socks[i]);
	close(epoll);
	return status;
}

int swarm_main(int argc, char **argv)
{
	struct swarm_options o;
	int status = swarm_options_parse(&o, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	if (o.sensors_file && swarm_list_write(&o))
		return 1;
	return o.host ? run(&o) : 0;
}
