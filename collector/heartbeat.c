// SPDX-License-Identifier: GPL-2.0
/* Heartbeat: see heartbeat.h. */
#include "heartbeat.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"

struct heartbeat_message {
	uint32_t up, listed;
	bool reloaded, no_room, broken;
};

/* Never waits: the privileged process may be stopped, and datagrams come. */
static void heartbeat_send(const struct heartbeat *h, const struct heartbeat_message *m)
{
	if (send(h->sock, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* a sign of life comes again in a second */
}

int heartbeat_tick(struct heartbeat *h, const struct presence *p, const struct output *out,
		   uint64_t now_ns)
{
	if (h->sock < 0)
		return -1;
	if (now_ns >= h->next_ns) {
		h->next_ns = now_ns + NOTIFY_INTERVAL_NS;
		heartbeat_send(h, &(struct heartbeat_message){ .up = p->up,
							       .listed = p->listed,
							       .no_room = out->hold.on,
							       .broken = out->broken });
	}
	return monotonic_timeout(h->next_ns, now_ns);
}

void heartbeat_reloaded(struct heartbeat *h)
{
	if (h->sock >= 0)
		heartbeat_send(h, &(struct heartbeat_message){ .reloaded = true });
}

int heartbeat_take(int sock, struct notify *n)
{
	struct heartbeat_message m;
	char status[128];
	int err = privsep_recv(sock, &m, sizeof(m), NULL);

	if (err)
		return err;
	if (m.reloaded) {
		notify_reloaded(n);
		return 0;
	}
	snprintf(status, sizeof(status), "%u of %u sensor%s up%s", m.up, m.listed, PLURAL(m.listed),
		 m.no_room  ? "; waiting for disk space"
		 : m.broken ? "; cannot write"
			    : "");
	notify_alive(n, status);
	return 0;
}
