// SPDX-License-Identifier: GPL-2.0
/* Sockets: see sockets.h. */
#include "sockets.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef IPV6_AUTOFLOWLABEL /* linux/in6.h, which conflicts with netinet/in.h */
#define IPV6_AUTOFLOWLABEL 70
#endif

static int sockets_socket(sa_family_t family)
{
	return socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int sockets_route(const struct sockets_address *a)
{
	int sock = sockets_socket(a->to.ss_family), err = 0;

	if (sock < 0)
		return -errno;
	if (connect(sock, (const struct sockaddr *)&a->to, a->len))
		err = -errno;
	close(sock);
	return err;
}

static void sockets_set(struct sockets_address *a, const struct addrinfo *i)
{
	memcpy(&a->to, i->ai_addr, i->ai_addrlen);
	a->len = i->ai_addrlen;
}

int sockets_numeric(struct sockets_address *a, const struct sockets_name *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST }, *list;

	memset(a, 0, sizeof(*a));
	if (!name->host) {
		snprintf(a->name, sizeof(a->name), "of this command");
		a->to.ss_family = AF_UNIX;
		a->len = sizeof(sa_family_t);
		return 0;
	}
	snprintf(a->name, sizeof(a->name), "%.250s:%.20s", name->host, name->port);
	if (getaddrinfo(name->host, name->port, &hints, &list))
		return -ENOENT;
	sockets_set(a, list);
	freeaddrinfo(list);
	return 0;
}

int sockets_look_up(struct sockets_address *a, const struct sockets_name *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG }, *list;
	int err = getaddrinfo(name->host, name->port, &hints, &list);

	if (err)
		return err;
	for (struct addrinfo *i = list; i; i = i->ai_next) {
		sockets_set(a, i);
		if (!sockets_route(a))
			break;
		sockets_set(a, list);
	}
	freeaddrinfo(list);
	return 0;
}

/* Datagrams are never fragmented. ICMP about the path MTU is ignored, as it can be forged and would
 * delay all datagrams for ten minutes; losses show a smaller MTU. No flow labels, as they would
 * link a sender's datagrams. */
static void sockets_plain(int sock, sa_family_t family)
{
	int probe = IP_PMTUDISC_PROBE, probe6 = IPV6_PMTUDISC_PROBE, off = 0;

	setsockopt(sock, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
	if (family != AF_INET6)
		return;
	setsockopt(sock, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe6, sizeof(probe6));
	setsockopt(sock, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, &off, sizeof(off));
}

/* Not on 32-bit machines. Their batches are small and most of their kernels old; and qemu's user
 * emulation, in which tests run big-endian builds, passes the segments' length on in the guest's
 * byte order: the kernel then sends a batch as one datagram. */
bool sockets_can_segment(int sock)
{
	int off = 0;

	return sizeof(void *) > 4 &&
	       setsockopt(sock, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof(off)) == 0;
}

void sockets_inherit(struct sockets *r, int fd)
{
	r->sockets[0].fd = fd;
	r->sockets[0].family = AF_UNIX;
	r->sockets[0].used = true;
}

int sockets_open(struct sockets *r, sa_family_t family)
{
	int i = 0;

	while (i < 2 * SOCKETS_MAX && r->sockets[i].family)
		if (r->sockets[i++].family == family)
			return 0;
	for (int end = i + SOCKETS_MAX; i < end && i < 2 * SOCKETS_MAX; i++) {
		r->sockets[i].fd = sockets_socket(family);
		if (r->sockets[i].fd < 0)
			return -errno;
		r->sockets[i].family = family;
		sockets_plain(r->sockets[i].fd, family);
		r->segments = sockets_can_segment(r->sockets[i].fd);
	}
	return 0;
}

void sockets_close(struct sockets *r)
{
	for (int i = 0; i < 2 * SOCKETS_MAX && r->sockets[i].family; i++)
		close(r->sockets[i].fd);
	memset(r, 0, sizeof(*r));
}

int sockets_take(struct sockets *r, const struct sockets_address *a)
{
	if (!a->len)
		return -EDESTADDRREQ;
	if (a->to.ss_family == AF_UNIX)
		return r->ended ? -ENOTCONN : r->sockets[0].fd;
	for (int i = 0; i < 2 * SOCKETS_MAX; i++) {
		if (r->sockets[i].family != a->to.ss_family || r->sockets[i].used)
			continue;
		if (connect(r->sockets[i].fd, (const struct sockaddr *)&a->to, a->len))
			return -errno;
		r->sockets[i].used = true;
		return r->sockets[i].fd;
	}
	return -EMFILE;
}

/* Discards datagrams and errors of the socket's old port. */
static void sockets_drain(int fd)
{
	char byte;

	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0 || errno == ECONNREFUSED)
		;
}

void sockets_give(struct sockets *r, int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	for (int i = 0; i < 2 * SOCKETS_MAX && fd >= 0; i++) {
		if (!r->sockets[i].family || r->sockets[i].fd != fd)
			continue;
		if (r->sockets[i].family == AF_UNIX)
			return;
		connect(fd, &none, sizeof(none)); /* it receives no more datagrams */
		sockets_drain(fd);
		r->sockets[i].used = false;
		return;
	}
}
