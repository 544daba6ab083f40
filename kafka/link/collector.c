// SPDX-License-Identifier: GPL-2.0
/* Collector: see collector.h. */
#include "collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/unix_address.h"

#define RETRY_NS 1000000000ULL
#define HELLO_NS 3000000000ULL
/* Room for a packet, and a byte by which a longer one is noticed. */
#define ROOM (PUT_MAX + 1)
#define SEND_BUFFER (4 << 20)

int collector_init(struct collector *c, const char *path, enum put_role role)
{
	*c = (struct collector){ .path = path, .role = role, .fd = -1 };
	c->packets = calloc(COLLECTOR_BATCH, sizeof(*c->packets));
	c->pieces = calloc(COLLECTOR_BATCH, sizeof(*c->pieces));
	c->bytes = malloc((size_t)COLLECTOR_BATCH * ROOM);
	if (!c->packets || !c->pieces || !c->bytes)
		return -ENOMEM;
	for (int i = 0; i < COLLECTOR_BATCH; i++) {
		c->pieces[i] = (struct iovec){ c->bytes + (size_t)i * ROOM, ROOM };
		c->packets[i].msg_hdr =
			(struct msghdr){ .msg_iov = &c->pieces[i], .msg_iovlen = 1 };
	}
	return 0;
}

/* ---- connections ----------------------------------------------------------------------------- */

static int open_socket(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : 0, size = SEND_BUFFER;
	struct sockaddr_un a;

	err = err ?: unix_address(&a, path);
	if (!err && connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	if (!err) /* the kernel takes as much of it as it allows */
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return err ?: fd;
}

static void say_absent(struct collector *c, int err)
{
	const char *option = c->role == PUT_ROLE_SINK ? "--sink" : "--source";

	if (!c->said && err == -EACCES)
		log_line("--socket %s: this user may not use it; it must be in the group "
			 "saluki-kafka, or the one who started the collector (--user)",
			 c->path);
	else if (!c->said)
		log_line("--socket %s: %s; waiting for a collector with %s %s", c->path,
			 strerror(-err), option, c->path);
	c->said = true;
}

/* A second saluki-kafka waits in the queue of the collector's socket, and goes on when the first
 * one has ended. */
static void say_silent(struct collector *c)
{
	if (!c->said)
		log_line("--socket %s: the collector does not answer; it takes one saluki-kafka at "
			 "a time, and may have another one",
			 c->path);
	c->said = true;
}

bool collector_connect(struct collector *c, uint64_t now_ns)
{
	uint8_t hello[PUT_HELLO_LEN];
	int fd;

	if (c->fd >= 0 && !c->greeted && now_ns >= c->hello_ns)
		say_silent(c);
	if (c->fd >= 0 || now_ns < c->next_ns)
		return false;
	c->next_ns = now_ns + RETRY_NS;
	fd = open_socket(c->path);
	if (fd < 0) {
		say_absent(c, fd);
		return false;
	}
	c->fd = fd;
	c->hello_ns = now_ns + HELLO_NS;
	c->greeted = false;
	put_hello(hello, c->role);
	collector_send(c, hello, sizeof(hello));
	return true;
}

void collector_leave(struct collector *c, const char *why)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	if (!why && !c->said) {
		log_line("--socket %s: the collector has ended the connection; connecting again",
			 c->path);
		c->said = true;
	}
}

void collector_free(struct collector *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->packets);
	free(c->pieces);
	free(c->bytes);
}

/* ---- packets --------------------------------------------------------------------------------- */

const uint8_t *collector_packet(const struct collector *c, int n, size_t *len)
{
	*len = c->packets[n].msg_len;
	return c->pieces[n].iov_base;
}

/* The first packet. */
static int greet(struct collector *c)
{
	size_t len;
	const uint8_t *packet = collector_packet(c, 0, &len);
	int err = put_hello_read(packet, len, c->role);

	if (err && !c->said)
		log_line("--socket %s: %s", c->path,
			 err == -EPROTO ? "this collector has another version; install the same "
					  "version of both programs"
			 : err == -EPROTOTYPE
				 ? "this socket is of the collector's other direction: put needs "
				   "the one of --sink, get the one of --source"
				 : "this is no socket of saluki-collector");
	c->said = err || c->said;
	if (err)
		return err;
	c->greeted = true;
	c->connections++;
	c->said = false;
	log_info("connected to the collector at %s", c->path);
	return 0;
}

int collector_receive(struct collector *c)
{
	int n = recvmmsg(c->fd, c->packets, c->greeted ? COLLECTOR_BATCH : 1, MSG_DONTWAIT, NULL);
	int err;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0 || c->packets[0].msg_len == 0)
		return -EPIPE;
	for (int i = 1; i < n; i++)
		if (!c->packets[i].msg_len) /* the end comes as empty packets */
			n = i;
	if (c->greeted)
		return n;
	err = greet(c);
	return err;
}

int collector_send(struct collector *c, const void *packet, size_t len)
{
	ssize_t n = send(c->fd, packet, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0)
		return 0;
	return errno == EINTR || errno == ENOBUFS ? -EAGAIN : -errno;
}

int collector_send_batch(struct collector *c, struct mmsghdr *packets, unsigned int count)
{
	int n = sendmmsg(c->fd, packets, count, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -errno;
}
