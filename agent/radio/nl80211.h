/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl80211: queries and tunes radios, and makes their interfaces. In: numbers of interfaces and
 * radios (wiphys). Out: the kernel's answers, 0 or -errno. Always holds: each call waits for its
 * complete answer. Only nl80211.c and nl80211_ask.c use libnl. Constants: linux/nl80211.h.
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
	struct radio_channel channel; /* 0 MHz: not reported */
};

struct nl80211_card {
	char name[32];	/* of the wiphy: phy0 */
	uint32_t types; /* supported types: bits of NL80211_IFTYPE_ */
};

/* Returns 0; -ENOENT: the kernel has no nl80211, or not yet; -ENOSYS: this build has none. */
int nl80211_open(struct nl80211 **out);
void nl80211_close(struct nl80211 *n); /* accepts NULL */

/* nl80211_ask.c: -ENODEV: no such interface, or it is not Wi-Fi. */
int nl80211_interface(struct nl80211 *n, int ifindex, struct nl80211_interface *out);
/* Lists a radio's interfaces, at most `max`. Returns their number, or -errno. */
int nl80211_interfaces(struct nl80211 *n, uint32_t wiphy, struct nl80211_interface *out,
		       unsigned int max);
int nl80211_card(struct nl80211 *n, uint32_t wiphy, struct nl80211_card *out);
/* Lists the 20 MHz channels on which regulations allow listening, at most `max`. Returns their
 * number, or -errno.
 */
int nl80211_channels(struct nl80211 *n, uint32_t wiphy, struct radio_channel *out,
		     unsigned int max);

int nl80211_tune(struct nl80211 *n, int ifindex, const struct radio_channel *to);
/* Makes an interface of type `type`. `flags`: bits of NL80211_MNTR_FLAG_, for a monitor. */
int nl80211_make(struct nl80211 *n, uint32_t wiphy, const char *name, uint32_t type,
		 uint32_t flags);
/* Changes the type. Most drivers allow this only while the interface is down. */
int nl80211_set_type(struct nl80211 *n, int ifindex, uint32_t type, uint32_t flags);
int nl80211_delete(struct nl80211 *n, int ifindex);

#endif
