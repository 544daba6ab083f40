// SPDX-License-Identifier: GPL-2.0
/* Heartbeat: see heartbeat.h. */
#include "heartbeat.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "collector/output/output_hold.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"

struct heartbeat_message {
	uint32_t up, listed, trouble;
	bool reloaded;
};

int heartbeat_tick(struct heartbeat *h, const struct presence *p, const struct output *out,
		   uint64_t now_ns)
{
	if (h->sock < 0)
		return -1;
	if (now_ns >= h->next_ns) {
		struct heartbeat_message m = {
			.up = p->up,
			.listed = p->listed,
			.trouble = output_trouble(out),
			.reloaded = h->reloaded,
		};

		h->next_ns = now_ns + NOTIFY_INTERVAL_NS;
		/* Never waits: the privileged process may be stopped, and datagrams come. */
		if (send(h->sock, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			h->reloaded = false;
	}
	return monotonic_timeout(h->next_ns, now_ns);
}

void heartbeat_reloaded(struct heartbeat *h)
{
	h->reloaded = true;
	h->next_ns = 0;
}

int heartbeat_take(int sock, struct notify *n)
{
	struct heartbeat_message m;
	const char *what;
	char status[128];
	int err = privsep_recv(sock, &m, sizeof(m), NULL);

	if (err)
		return err;
	if (m.reloaded)
		notify_reloaded(n);
	what = output_trouble_words(m.trouble);
	snprintf(status, sizeof(status), "%u of %u sensor%s up%s%s", m.up, m.listed,
		 PLURAL(m.listed), *what ? "; " : "", what);
	notify_alive(n, status);
	return 0;
}
