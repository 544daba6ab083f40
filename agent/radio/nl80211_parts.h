/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of nl80211.h share: requests, and how they are answered. */
#ifndef AGENT_RADIO_NL80211_PARTS_H
#define AGENT_RADIO_NL80211_PARTS_H

#include <linux/nl80211.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdint.h>

struct nl80211;

/* A new request; NULL: no memory. */
struct nl_msg *nl80211_request(struct nl80211 *n, uint8_t command, int flags);
/* Sends it and waits for the end of the answer; the message is freed. What is answered is given to
 * `each`, a message at a time. NULL for `m` is the request that there was no memory for. Returns 0,
 * or -errno. */
int nl80211_do(struct nl80211 *n, struct nl_msg *m, void (*each)(struct nlattr **, void *),
	       void *arg);

#endif
