/* SPDX-License-Identifier: GPL-2.0 */
/* The way to the far end, which drops all datagrams. */
#ifndef TESTS_BENCH_CONNECT_H
#define TESTS_BENCH_CONNECT_H

#include <netdb.h>
#include <stddef.h>
#include <sys/socket.h>

/* Returns a UDP socket that is connected to HOST:PORT, or -1. */
static inline int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *a;
	int sock;

	if (getaddrinfo(host, port, &hints, &a))
		return -1;
	sock = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
	if (sock >= 0 && connect(sock, a->ai_addr, a->ai_addrlen))
		sock = -1; /* the program ends */
	freeaddrinfo(a);
	return sock;
}

#endif
