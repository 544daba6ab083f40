// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-swarm: many simulated sensors that export to one collector, to test the collector and to
 * measure how many sensors it can serve. Keys come from a seed; frames and seals are real. A
 * sensor's steps:
 *
 *     handshake ─▶ session ─▶ send ─▶ acknowledged        combos: what all of them send
 *
 * In loop.c the sensors take turns. They share a few sockets, because a process may open only so
 * many files.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "swarm.h"

#define RCVBUF (4 * 1024 * 1024)

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

/* Returns the number of sockets, or -errno after a line. */
static int sockets_open(const struct swarm_options *o, int epoll, int socks[SWARM_SOCKETS])
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *a;
	int count = o->count < SWARM_SOCKETS ? o->count : SWARM_SOCKETS, err;

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

static int run(const struct swarm_options *o)
{
	struct swarm w = { 0 };
	int socks[SWARM_SOCKETS], count = 0, status = 1, epoll = epoll_create1(EPOLL_CLOEXEC);

	swarm_signals();
	if (swarm_init(&w, o) == 0 && (count = sockets_open(o, epoll, socks)) > 0 &&
	    sensors_init(&w, socks, count) == 0) {
		swarm_loop(&w, epoll);
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

int main(int argc, char **argv)
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
