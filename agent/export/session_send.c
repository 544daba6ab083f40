// SPDX-License-Identifier: GPL-2.0
/* Seal and send: see session_send.h. */
#include "session_send.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "sockets.h"

#define SEND_WAIT_MS 20

_Static_assert(SESSION_SEND_MAX *SHROUD_DATAGRAM_MAX <= 65507, "a UDP payload that is too long");

void session_send_seal(struct session_send *p, struct shroud_tx *tx, const uint8_t *message,
		       size_t len, size_t padded_len)
{
	unsigned int i = p->count++;

	p->iovecs[i].iov_base = p->datagrams[i];
	p->iovecs[i].iov_len = shroud_seal(tx, p->datagrams[i], message, len, padded_len);
}

/* ---- UDP segmentation ------------------------------------------------------------------------ */

/* How many datagrams from `first` on the kernel can cut from one buffer: all but the last have the
 * same length, and the last is not longer. */
static unsigned int segments_from(const struct session_send *p, unsigned int first)
{
	size_t len = p->iovecs[first].iov_len;
	unsigned int n = 1;

	while (first + n < p->count && p->iovecs[first + n].iov_len == len)
		n++;
	return n + (first + n < p->count && p->iovecs[first + n].iov_len < len);
}

static void set_message(struct session_send *p, unsigned int i, unsigned int first, unsigned int n)
{
	struct msghdr *m = &p->messages[i].msg_hdr;
	uint16_t len = p->iovecs[first].iov_len;
	struct cmsghdr *c;

	memset(m, 0, sizeof(*m));
	m->msg_iov = &p->iovecs[first];
	m->msg_iovlen = n;
	if (n == 1)
		return;
	m->msg_control = &p->controls[i];
	m->msg_controllen = sizeof(p->controls[i]);
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = IPPROTO_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(len));
	memcpy(CMSG_DATA(c), &len, sizeof(len));
}

/* Lays out the datagrams from `first` on as messages. Returns their number. */
static unsigned int set_messages(struct session_send *p, unsigned int first, bool segments)
{
	unsigned int n = 0;

	while (first < p->count) {
		unsigned int len = segments ? segments_from(p, first) : 1;

		set_message(p, n++, first, len);
		first += len;
	}
	return n;
}

/* ---- send ------------------------------------------------------------------------------------ */

/* Sends some of `n` messages, at least one. Returns their number, or -errno. */
static int send_some(struct session_send *p, int sock, unsigned int n)
{
	int sent;

	if (!p->one_by_one) {
		sent = sendmmsg(sock, p->messages, n, MSG_NOSIGNAL);
		if (sent >= 0 || errno != ENOSYS)
			return sent < 0 ? -errno : sent;
		p->one_by_one = true;
	}
	return sendmsg(sock, &p->messages->msg_hdr, MSG_NOSIGNAL) < 0 ? -errno : 1;
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

/* Counts `n` messages that were sent. Returns the number of their datagrams. */
static unsigned int count_sent(const struct session_send *p, unsigned int first, int n,
			       struct session_sent_counts *s)
{
	unsigned int end = first;

	for (int i = 0; i < n; i++)
		end += p->messages[i].msg_hdr.msg_iovlen;
	for (unsigned int i = first; i < end; i++)
		s->bytes += p->iovecs[i].iov_len;
	s->datagrams += end - first;
	return end - first;
}

/* An error is about all datagrams of a message. They are then sent one by one, as some of them may
 * be small enough, or have room. An error that will come again ends the use of segments: a path
 * that encrypts (IPsec) cannot segment, and older kernels need a card that computes checksums. */
struct session_sent_counts session_send(struct session_send *p, int sock)
{
	struct session_sent_counts s = { 0 };
	bool tried = false, segments = p->segments;
	unsigned int done = 0;

	while (done < p->count) {
		int sent = send_some(p, sock, set_messages(p, done, segments));

		if (sent >= 0) {
			done += count_sent(p, done, sent, &s);
			tried = false;
			continue;
		}
		s.refused = sent;
		if (try_again(sock, sent, tried)) {
			tried = !tried;
			continue;
		}
		if (p->messages->msg_hdr.msg_iovlen > 1) {
			segments = false;
			p->segments = sent != -EIO;
		} else {
			s.too_big |= sent == -EMSGSIZE && tried;
			done++; /* as if lost in the network */
		}
		tried = false;
	}
	p->count = 0;
	return s;
}
