// SPDX-License-Identifier: GPL-2.0
/* Receive: see receive.h. */
#include "receive.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"

static int receive_buffer(int sock)
{
	int want = RECEIVE_BUFFER, got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &want, sizeof(want)))
		setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &want, sizeof(want));
	getsockopt(sock, SOL_SOCKET, SO_RCVBUF, &got, &len);
	return got / 2; /* the kernel includes its own overhead */
}

/* Binds to an address of one family. Returns 0, -errno, or -ENXIO after a line. */
static int receive_bind(struct receive *r, const char *host, const char *port, int family)
{
	struct addrinfo hints = { .ai_family = family,
				  .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_PASSIVE },
			*list;
	int err = getaddrinfo(host, port, &hints, &list), off = 0;

	if (err) {
		log_line("--listen %s:%s: %s", host ? host : "", port, gai_strerror(err));
		return -ENXIO;
	}
	r->sock = socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->sock >= 0 && list->ai_family == AF_INET6) /* [::] receives IPv4 too */
		setsockopt(r->sock, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	err = r->sock < 0 || bind(r->sock, list->ai_addr, list->ai_addrlen) ? -errno : 0;
	freeaddrinfo(list);
	if (err && r->sock >= 0)
		close(r->sock);
	return err;
}

static void receive_messages(struct receive *r)
{
	for (int i = 0; i < RECEIVE_MESSAGES; i++) {
		r->iovecs[i].iov_base = r->buffers[i];
		r->iovecs[i].iov_len = RECEIVE_MESSAGE_MAX;
		r->messages[i].msg_hdr.msg_iov = &r->iovecs[i];
		r->messages[i].msg_hdr.msg_iovlen = 1;
		r->messages[i].msg_hdr.msg_name = r->inherited ? NULL : &r->from[i];
		r->messages[i].msg_hdr.msg_control = r->control[i].bytes;
	}
}

int receive_init(struct receive *r, const char *host, const char *port)
{
	int err, buffer, on = 1;

	memset(r, 0, sizeof(*r));
	err = receive_bind(r, host, port, host ? AF_UNSPEC : AF_INET6);
	if (!host && (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL))
		err = receive_bind(r, host, port, AF_INET); /* a kernel without IPv6 */
	if (err == -ENXIO)
		return err;
	if (err) {
		log_line("--listen %s:%s: %s%s", host ? host : "", port, strerror(-err),
			 err == -EADDRINUSE ? "; is another saluki-collector running there? "
					      "Stop it or choose another port"
					    : "");
		return err;
	}
	buffer = receive_buffer(r->sock);
	if (buffer < RECEIVE_BUFFER)
		log_line("warning: the receive buffer is %d KiB instead of %d; start as root or "
			 "raise net.core.rmem_max",
			 buffer / 1024, RECEIVE_BUFFER / 1024);
	/* Kernels before 5.0 do not have it. */
	setsockopt(r->sock, SOL_UDP, UDP_GRO, &on, sizeof(on));
	receive_messages(r);
	return 0;
}

int receive_inherit(struct receive *r, int fd)
{
	int type = 0, domain = 0;
	socklen_t len = sizeof(int);

	memset(r, 0, sizeof(*r));
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) || type != SOCK_SEQPACKET ||
	    domain != AF_UNIX) {
		log_line("--listen fd:%d: is no connected socket of the type SOCK_SEQPACKET; this "
			 "form is for programs that start a collector",
			 fd);
		return -ENOTSOCK;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	r->sock = fd;
	r->inherited = true;
	receive_messages(r);
	/* Its sender has no address. Any will do, as the kernel ignores it in sendto(). */
	for (int i = 0; i < RECEIVE_MESSAGES; i++)
		r->from[i].ss_family = AF_UNIX;
	return 0;
}

/* Returns the length of a message's datagrams except the last one, or of its only one. */
static uint32_t segment_len(const struct mmsghdr *m)
{
	struct msghdr *h = (struct msghdr *)&m->msg_hdr;
	int len;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO)
			continue;
		memcpy(&len, CMSG_DATA(c), sizeof(len));
		return len > 0 ? (uint32_t)len : m->msg_len;
	}
	return m->msg_len;
}

/* Cuts a message into its datagrams. An empty message is one datagram. */
static void receive_cut(struct receive *r, int i, uint64_t now_ns)
{
	const struct mmsghdr *m = &r->messages[i];
	uint32_t segment = segment_len(m), at = 0, most = r->count + RECEIVE_SEGMENTS_MAX;

	do {
		uint32_t left = m->msg_len - at;

		r->datagrams[r->count++] =
			(struct datagram){ .bytes = r->buffers[i] + at,
					   .len = left < segment ? left : segment,
					   .from = (const struct sockaddr *)&r->from[i],
					   .from_len = r->inherited ? sizeof(sa_family_t)
								    : m->msg_hdr.msg_namelen,
					   .now_ns = now_ns };
		at += segment;
	} while (at < m->msg_len && r->count < most);
}

void receive_batch(struct receive *r)
{
	uint64_t now_ns;
	int n;

	for (int i = 0; i < RECEIVE_MESSAGES; i++) {
		r->messages[i].msg_hdr.msg_namelen = r->inherited ? 0 : sizeof(r->from[i]);
		r->messages[i].msg_hdr.msg_controllen = sizeof(r->control[i]);
	}
	n = recvmmsg(r->sock, r->messages, RECEIVE_MESSAGES, MSG_DONTWAIT, NULL);
	r->count = 0;
	r->full = n == RECEIVE_MESSAGES;
	now_ns = monotonic_ns();
	/* Errors of earlier sends do not concern received datagrams. */
	for (int i = 0; i < n && !r->ended; i++) {
		/* A sensor sends no empty ones: the kernel returns 0 bytes behind the last. */
		r->ended = r->inherited && !r->messages[i].msg_len;
		if (!r->ended)
			receive_cut(r, i, now_ns);
	}
	r->full &= !r->ended;
}

uint64_t receive_dropped(const struct receive *r)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	getsockopt(r->sock, SOL_SOCKET, SO_MEMINFO, info, &len);
	return info[SK_MEMINFO_DROPS];
}
