// SPDX-License-Identifier: GPL-2.0
/* Status socket: see status_socket.h. */
#include "status_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/changes.h"
#include "common/log.h"
#include "common/unix_address.h"

#define STATUS_SOCKET_PATIENCE_S 2 /* a silent client must not delay signals */

static void status_socket_patience(int fd)
{
	struct timeval t = { .tv_sec = STATUS_SOCKET_PATIENCE_S };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/* ---- the agent ------------------------------------------------------------------------------- */

static int status_socket_listen(struct status_socket *c, unsigned int i)
{
	struct sockaddr_un a;
	mode_t mask;
	int fd, err;

	lock_path(c->paths[i], c->tap->interfaces[i].name, ".sock");
	err = unix_address(&a, c->paths[i]);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(c->paths[i]); /* left by a killed agent: we hold the lock */
	mask = umask(0177);
	err = bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4) ? -errno : 0;
	umask(mask);
	if (err)
		close(fd);
	return err ? err : fd;
}

void status_socket_open(struct status_socket *c, struct tap *t,
			const struct shared_statistics *board)
{
	memset(c, 0, sizeof(*c));
	c->tap = t;
	c->board = board;
	for (unsigned int i = 0; i < INTERFACES_MAX; i++)
		c->listeners[i] = -1;
	for (unsigned int i = 0; i < t->count; i++) {
		if (t->locks[i].is_shared) /* the other saluki has the socket */
			continue;
		c->listeners[i] = status_socket_listen(c, i);
		if (c->listeners[i] < 0)
			log_line("%s: no control socket: %s; 'saluki status' and 'saluki filter' "
				 "will not find this agent",
				 t->interfaces[i].name, strerror(-c->listeners[i]));
	}
}

static void status_socket_status(const struct status_socket *c, unsigned int i,
				 struct status_socket_answer *a)
{
	const char *list;

	a->pid = getpid();
	a->number = i;
	a->count = c->tap->count;
	a->snaplen = c->tap->o->snaplen;
	a->consume = c->tap->o->consume;
	a->direction = c->tap->o->direction;
	tap_describe(&c->tap->interfaces[i], &a->interface);
	snprintf(a->ring, sizeof(a->ring), "%s", c->tap->ring);
	list = c->tap->o->plans[c->tap->interfaces[i].given].list;
	snprintf(a->plan, sizeof(a->plan), "%s", list ? list : "");
	changes_read(&c->board->changes, &a->news, &c->board->news, sizeof(a->news));
}

static void status_socket_refuse(struct status_socket_answer *a, int err, const char *why)
{
	a->error = err;
	snprintf(a->why, sizeof(a->why), "%s", why);
}

static void status_socket_filter(const struct status_socket *c, unsigned int i,
				 struct status_socket_request *r, struct status_socket_answer *a)
{
	char why[FILTER_WHY_LEN];
	int err;

	r->filter.text[sizeof(r->filter.text) - 1] = 0;
	err = tap_replace_filter(c->tap, i, &r->filter, r->linktype, why, sizeof(why));
	if (err) {
		status_socket_refuse(a, err, why);
		return;
	}
	if (r->filter.len)
		log_info("%s: filter '%.200s' from now on", c->tap->interfaces[i].name,
			 r->filter.text);
	else
		log_info("%s: no filter from now on", c->tap->interfaces[i].name);
}

static bool status_socket_answer(struct status_socket *c, unsigned int i, int fd)
{
	struct status_socket_answer a = { .size = sizeof(a) };
	static struct status_socket_request r; /* large: only written pages take memory */
	ssize_t n = recv(fd, &r, sizeof(r), 0);

	if (n < (ssize_t)STATUS_SOCKET_STATUS_LEN || r.size != sizeof(r))
		status_socket_refuse(&a, -EPROTO,
				     "the agent is of another version than this command");
	else if (r.what == STATUS_SOCKET_STATUS)
		status_socket_status(c, i, &a);
	else if (r.what == STATUS_SOCKET_FILTER && n == sizeof(r))
		status_socket_filter(c, i, &r, &a);
	else
		status_socket_refuse(&a, -EOPNOTSUPP, "the agent does not know this request");
	send(fd, &a, sizeof(a), MSG_NOSIGNAL);
	return !a.error && r.what == STATUS_SOCKET_FILTER;
}

bool status_socket_serve(struct status_socket *c, unsigned int i)
{
	int fd = accept(c->listeners[i], NULL, NULL); /* no CLOEXEC needed: we never call exec */
	bool changed;

	if (fd < 0)
		return false;
	status_socket_patience(fd);
	changed = status_socket_answer(c, i, fd);
	close(fd);
	return changed;
}

void status_socket_close(struct status_socket *c)
{
	for (unsigned int i = 0; c->tap && i < INTERFACES_MAX; i++) {
		if (c->listeners[i] < 0)
			continue;
		close(c->listeners[i]);
		unlink(c->paths[i]);
	}
	memset(c, 0, sizeof(*c));
}

/* ---- other commands -------------------------------------------------------------------------- */

int status_socket_ask(const char *interface, const struct status_socket_request *r,
		      struct status_socket_answer *answer)
{
	char path[LOCK_PATH_MAX];
	size_t len = r->what == STATUS_SOCKET_STATUS ? STATUS_SOCKET_STATUS_LEN : sizeof(*r);
	struct sockaddr_un a;
	ssize_t n = -1;
	int fd, err;

	lock_path(path, interface, ".sock");
	err = unix_address(&a, path);
	fd = err ? err : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err ? err : -errno;
	status_socket_patience(fd);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    send(fd, r, len, MSG_NOSIGNAL) == (ssize_t)len)
		n = recv(fd, answer, sizeof(*answer), 0);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err == -ECONNREFUSED)
		return -ENOENT; /* left by a killed agent */
	if (!err && (n != sizeof(*answer) || answer->size != sizeof(*answer)))
		return -EPROTO;
	return err;
}
