// SPDX-License-Identifier: GPL-2.0
/* Receive: see receive.h. */
#include "receive.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

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

int receive_init(struct receive *r, const char *host, const char *port)
{
	int err, buffer;

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
	for (int i = 0; i < RECEIVE_BATCH; i++) {
		r->iovecs[i].iov_base = r->datagrams[i];
		r->iovecs[i].iov_len = RECEIVE_DATAGRAM_MAX;
		r->messages[i].msg_hdr.msg_iov = &r->iovecs[i];
		r->messages[i].msg_hdr.msg_iovlen = 1;
		r->messages[i].msg_hdr.msg_name = &r->from[i];
	}
	return 0;
}

int receive_batch(struct receive *r)
{
	int n;

	for (int i = 0; i < RECEIVE_BATCH; i++)
		r->messages[i].msg_hdr.msg_namelen = sizeof(r->from[i]);
	n = recvmmsg(r->sock, r->messages, RECEIVE_BATCH, MSG_DONTWAIT, NULL);
	return n < 0 ? 0 : n; /* errors of earlier sends do not concern received datagrams */
}

uint64_t receive_dropped(const struct receive *r)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	getsockopt(r->sock, SOL_SOCKET, SO_MEMINFO, info, &len);
	return info[SK_MEMINFO_DROPS];
}
