// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for saluki-kafka put (wire/put.h), for the bench: takes a collector's messages and
 * confirms them at once, as brokers without delay would. Ends with the connection, and prints one
 * line of JSON: messages and bytes of combos.
 *
 *     kafka_confirm SOCKET
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/unix_address.h"
#include "wire/bytes.h"
#include "wire/put.h"

#define BATCH 64

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int join(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	uint8_t hello[PUT_HELLO_LEN];
	struct sockaddr_un a;

	if (fd < 0 || unix_address(&a, path) || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		fail(path);
	put_hello(hello, PUT_ROLE_SINK);
	if (send(fd, hello, sizeof(hello), 0) < 0 || recv(fd, hello, sizeof(hello), 0) < 0 ||
	    put_hello_read(hello, sizeof(hello), PUT_ROLE_SINK))
		fail("HELLO");
	return fd;
}

struct confirm {
	int fd;
	unsigned long messages, combos, bytes;
	uint8_t in[BATCH][PUT_MAX], out[PUT_DONE_BYTES];
	struct mmsghdr packets[BATCH];
	struct iovec pieces[BATCH];
};

static void confirm(struct confirm *c, int count)
{
	size_t at = 1;

	c->out[0] = PUT_DONE;
	for (int i = 0; i < count; i++) {
		struct put p;

		if (put_read(&p, c->in[i], c->packets[i].msg_len))
			fail("PUT");
		c->messages++;
		c->combos += p.topic == PUT_COMBOS;
		c->bytes += p.topic == PUT_COMBOS ? p.value_len : 0;
		store_be(c->out + at, p.number, 8);
		at += 8;
	}
	send(c->fd, c->out, at, MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
	static struct confirm c;
	int n;

	if (argc != 2) {
		fprintf(stderr, "Usage: kafka_confirm SOCKET\n");
		return 2;
	}
	c.fd = join(argv[1]);
	for (int i = 0; i < BATCH; i++) {
		c.pieces[i] = (struct iovec){ c.in[i], PUT_MAX };
		c.packets[i].msg_hdr = (struct msghdr){ .msg_iov = &c.pieces[i], .msg_iovlen = 1 };
	}
	while ((n = recvmmsg(c.fd, c.packets, BATCH, MSG_WAITFORONE, NULL)) > 0 &&
	       c.packets[0].msg_len) {
		while (n > 1 && !c.packets[n - 1].msg_len)
			n--;
		confirm(&c, n);
	}
	printf("{\"messages\": %lu, \"combos\": %lu, \"bytes\": %lu}\n", c.messages, c.combos,
	       c.bytes);
	return 0;
}
