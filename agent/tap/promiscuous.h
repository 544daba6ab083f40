/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promiscuous mode: a packet socket that receives no frames and requests the mode (packet(7)). The
 * kernel counts the requests, and leaves the mode when the last socket is closed, even if its
 * process was killed. The flag that ip(8) sets does not change.
 */
#ifndef AGENT_TAP_PROMISCUOUS_H
#define AGENT_TAP_PROMISCUOUS_H

/* Returns a socket, or -errno. Needs CAP_NET_RAW. */
int promiscuous_open(void);
/* Returns 0 or -errno. When an interface disappears, its mode is gone. */
int promiscuous_set(int sock, int ifindex);

#endif
