// SPDX-License-Identifier: GPL-2.0
/* Session: see session.h. */
#include "session.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "wire/tryst.h"

int session_make(struct session *s, struct table *t, uint8_t k2[KEY_LEN], uint32_t owner,
		 uint32_t window, uint64_t now_ns)
{
	struct shroud_keys up, down;
	int err;

	memset(s, 0, sizeof(*s));
	tryst_session(k2, &up, &down, s->chain);
	shroud_tx_init(&s->tx, &down);
	s->made_ns = now_ns;
	err = shroud_rx_init(&s->rx, t, &up, owner, window);
	sodium_memzero(&up, sizeof(up));
	sodium_memzero(&down, sizeof(down));
	if (err)
		session_end(s, t);
	return err;
}

void session_end(struct session *s, struct table *t)
{
	shroud_rx_free(&s->rx, t);
	free(s->info.text);
	sodium_memzero(s, sizeof(*s));
}

/* ---- address --------------------------------------------------------------------------------- */

void session_address(struct session_address *a, const struct sockaddr *from, socklen_t len)
{
	memset(a, 0, sizeof(*a));
	if (len > sizeof(a->in6))
		len = sizeof(a->in6);
	memcpy(&a->any, from, len);
	a->len = len;
}

/* Compares without IPv6's flow label and scope, which may vary. */
static bool same(const struct session_address *a, const struct session_address *b)
{
	if (a->len != b->len || a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET6)
		return a->in6.sin6_port == b->in6.sin6_port &&
		       !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
	return a->in.sin_port == b->in.sin_port && a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

bool session_follow(struct session *s, const struct session_address *from, size_t len)
{
	bool moved = s->address.len && !same(&s->address, from);

	if (moved || !s->address.len) {
		s->address = *from;
		s->confirmed = false;
		s->credit = s->challenged_ns = 0;
		randombytes_buf(&s->cookie, sizeof(s->cookie));
	}
	if (!s->confirmed)
		s->credit += len;
	return moved;
}

void session_echo(struct session *s, uint64_t cookie)
{
	if (s->challenged_ns && cookie == s->cookie)
		s->confirmed = true;
}

/* ---- sending --------------------------------------------------------------------------------- */

size_t session_seal(struct session *s, uint8_t *out, const uint8_t *message, size_t len)
{
	size_t padded_len = s->padded ? SHROUD_DATAGRAM_PADDED : 0;
	size_t out_len = padded_len ? padded_len : len + SHROUD_OVERHEAD;

	if (!s->address.len || s->tx.next > s->heard + shroud_room(s->heard, SHROUD_WINDOW_DOWN))
		return 0;
	if (!s->confirmed && s->credit < out_len)
		return 0;
	out_len = shroud_seal(&s->tx, out, message, len, padded_len);
	if (!s->confirmed)
		s->credit -= out_len;
	return out_len;
}
