// SPDX-License-Identifier: GPL-2.0
/* Seal and send: see session_send.h. */
#include "session_send.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define SEND_WAIT_MS 20

void session_send_seal(struct session_send *p, struct shroud_tx *tx, const uint8_t *message,
		       size_t len, size_t padded_len)
{
	unsigned int i = p->count++;

	p->iovecs[i].iov_base = p->datagrams[i];
	p->iovecs[i].iov_len = shroud_seal(tx, p->datagrams[i], message, len, padded_len);
	memset(&p->messages[i], 0, sizeof(p->messages[i]));
	p->messages[i].msg_hdr.msg_iov = &p->iovecs[i];
	p->messages[i].msg_hdr.msg_iovlen = 1;
}

/* Sends some of `n` messages, at least one. Returns their number, or -errno.
 *
 * One datagram each, not one buffer for the kernel to segment (UDP_SEGMENT). On a veth, which never
 * segments, UDP_SEGMENT takes a third of the time (11 ns instead of 31 per frame). But a card
 * without this offload leaves the segmenting to the kernel, and an error would affect all the
 * datagrams. */
static int send_some(struct session_send *p, int sock, struct mmsghdr *messages, unsigned int n)
{
	int sent;

	if (!p->one_by_one) {
		sent = sendmmsg(sock, messages, n, MSG_NOSIGNAL);
		if (sent >= 0 || errno != ENOSYS)
			return sent < 0 ? -errno : sent;
		p->one_by_one = true;
	}
	return sendmsg(sock, &messages->msg_hdr, MSG_NOSIGNAL) < 0 ? -errno : 1;
}

/* Returns whether to try the same datagram again. */
static bool try_again(int sock, int err, bool tried)
{
	struct pollfd f = { .fd = sock, .events = POLLOUT };

	if (err == -EINTR)
		return true;
	if (tried)
		return false;
	if (err == -EAGAIN || err == -ENOBUFS)
		poll(&f, err == -EAGAIN ? 1 : 0, SEND_WAIT_MS);
	/* "Refused" is about an earlier datagram, and "too long" may be, by ICMP; this one was not
	 * sent. A second "too long" is by our own interface. */
	return err == -EAGAIN || err == -ENOBUFS || err == -ECONNREFUSED || err == -EMSGSIZE;
}

struct session_sent_counts session_send(struct session_send *p, int sock)
{
	struct session_sent_counts s = { 0 };
	unsigned int done = 0;
	bool tried = false;

	while (done < p->count) {
		int sent = send_some(p, sock, p->messages + done, p->count - done);

		if (sent < 0) {
			s.refused = sent;
			s.too_big |= sent == -EMSGSIZE && tried;
			if (!try_again(sock, sent, tried))
				done++; /* as if lost in the network */
			tried = !tried;
			continue;
		}
		tried = false;
		s.datagrams += sent;
		for (; sent > 0; sent--, done++)
			s.bytes += p->iovecs[done].iov_len;
	}
	p->count = 0;
	return s;
}
