/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hook: attaches BPF programs to an interface: XDP, and tc in both directions, by links (tcx since
 * Linux 6.6) or, before, as filters of a clsact qdisc. Attached programs are pinned (pin.h), and
 * replacing one leaves no gap.
 */
#ifndef AGENT_HOOK_H
#define AGENT_HOOK_H

#include <stdbool.h>

#include "pin.h"

enum hook_point { HOOK_XDP, HOOK_INGRESS, HOOK_EGRESS, HOOK_POINTS };

struct hooks {
	int ifindex;
	int links[HOOK_POINTS];	   /* -1 */
	bool filters[HOOK_POINTS]; /* attached by netlink */
	bool qdisc;		   /* we made the clsact qdisc */
};

void hooks_zero(struct hooks *h);
/* Finds the interface's attached programs by its pins. */
void hooks_adopt(struct hooks *h, int ifindex, const struct pin *p);
bool hooks_attached(const struct hooks *h, enum hook_point point);
/* Attaches the program, or replaces the current one. `flags`: XDP_FLAGS_ of linux/if_link.h.
 * Returns 0 or -errno. */
int hook_attach(struct hooks *h, enum hook_point point, int prog_fd, unsigned int flags,
		const struct pin *p);
/* Detaches all programs except those in `keep` (a bit per point). */
void hooks_detach(struct hooks *h, unsigned int keep, const struct pin *p);
/* Whether a pinned link has an existing interface, in any namespace. */
bool hooks_alive(const struct pin *p);
/* Closes all descriptors. Pinned programs stay attached. */
void hooks_close(struct hooks *h);

#endif
