/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the two files of nl80211.h: requests and their answers. */
#ifndef AGENT_RADIO_NL80211_PARTS_H
#define AGENT_RADIO_NL80211_PARTS_H

#include <linux/nl80211.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdint.h>

struct nl80211;

/* Returns a new request, or NULL without memory. */
struct nl_msg *nl80211_request(struct nl80211 *n, uint8_t command, int flags);
/* Sends the request, frees it, and waits for the end of the answer. Calls `each` for each message
 * of the answer. `m` NULL: no memory for the request. Returns 0, or -errno. */
int nl80211_do(struct nl80211 *n, struct nl_msg *m, void (*each)(struct nlattr **, void *),
	       void *arg);

#endif
