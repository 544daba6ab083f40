/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a BPF program is attached to an interface: XDP, and tc in both directions, by links (tcx
 * since Linux 6.6) or, before that, as filters of a clsact qdisc. What is attached is pinned
 * (pin.h), and replacing a program leaves no moment without one.
 */
#ifndef AGENT_HOOK_H
#define AGENT_HOOK_H

#include <stdbool.h>

#include "pin.h"

enum hook_point { HOOK_XDP, HOOK_INGRESS, HOOK_EGRESS, HOOK_POINTS };

struct hooks {
	int ifindex;
	int links[HOOK_POINTS];	   /* -1 */
	bool filters[HOOK_POINTS]; /* by netlink */
	bool qdisc;		   /* we made the clsact qdisc */
};

void hooks_zero(struct hooks *h);
/* Finds what is attached to the interface already, from its pins. */
void hooks_adopt(struct hooks *h, int ifindex, const struct pin *p);
bool hooks_attached(const struct hooks *h, enum hook_point point);
/* Attaches the program, or puts it in the place of the one that is. `flags`: XDP_FLAGS_ of
 * linux/if_link.h. Returns 0 or -errno. */
int hook_attach(struct hooks *h, enum hook_point point, int prog_fd, unsigned int flags,
		const struct pin *p);
/* Takes all programs off, but not those of `keep` (bits by point). */
void hooks_detach(struct hooks *h, unsigned int keep, const struct pin *p);
/* Whether a link that is pinned leads to an interface that is there, in whatever namespace. */
bool hooks_alive(const struct pin *p);
/* Closes; what is pinned stays attached. */
void hooks_close(struct hooks *h);

#endif
