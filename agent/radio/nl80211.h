/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl80211: the requests by which Linux tells of radios, tunes them, and makes their interfaces. In:
 * numbers of interfaces and radios (wiphys). Out: what the kernel answered, 0 or its -errno. Always
 * holds: each call waits for its answer, so none is left behind for the next. nl80211.c and
 * nl80211_ask.c are the only files that use libnl. Constants: linux/nl80211.h.
 */
#ifndef AGENT_RADIO_NL80211_H
#define AGENT_RADIO_NL80211_H

#include <stdint.h>

#include "wire/channel.h"

#define NL80211_NAME_LEN 16 /* IFNAMSIZ */

struct nl80211; /* a socket */

struct nl80211_interface {
	char name[NL80211_NAME_LEN];
	int ifindex;
	uint32_t wiphy;
	uint32_t type;		      /* NL80211_IFTYPE_ */
	struct radio_channel channel; /* of 0 MHz: it is not told */
};

struct nl80211_card {
	char name[32];	/* of the wiphy: phy0 */
	uint32_t types; /* bits of NL80211_IFTYPE_ that an interface may have */
};

/* -ENOENT: the kernel has no nl80211, or none yet; -ENOSYS: this saluki. */
int nl80211_open(struct nl80211 **out);
void nl80211_close(struct nl80211 *n); /* takes NULL too */

/* nl80211_ask.c: -ENODEV: no such interface, or it is not Wi-Fi. */
int nl80211_interface(struct nl80211 *n, int ifindex, struct nl80211_interface *out);
/* Interfaces of one radio, at most `max`. Returns how many, or -errno. */
int nl80211_interfaces(struct nl80211 *n, uint32_t wiphy, struct nl80211_interface *out,
		       unsigned int max);
int nl80211_card(struct nl80211 *n, uint32_t wiphy, struct nl80211_card *out);
/* Channels of 20 MHz on which the rules let it listen, at most `max`. Returns how many, or -errno.
 */
int nl80211_channels(struct nl80211 *n, uint32_t wiphy, struct radio_channel *out,
		     unsigned int max);

int nl80211_tune(struct nl80211 *n, int ifindex, const struct radio_channel *to);
/* An interface of type `type`. `flags`: bits of NL80211_MNTR_FLAG_, for a monitor. */
int nl80211_make(struct nl80211 *n, uint32_t wiphy, const char *name, uint32_t type,
		 uint32_t flags);
/* Most drivers take that only while the interface is down. */
int nl80211_set_type(struct nl80211 *n, int ifindex, uint32_t type, uint32_t flags);
int nl80211_delete(struct nl80211 *n, int ifindex);

#endif
