/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by monitor.c, which tracks the changes, and monitor_make.c, which makes them. */
#ifndef AGENT_RADIO_MONITOR_PARTS_H
#define AGENT_RADIO_MONITOR_PARTS_H

#include <linux/nl80211.h>

#include "nl80211.h"
#include "record.h"
#include "wire/channel.h"

#define FLAG(name) (1u << NL80211_MNTR_FLAG_##name)

/* The state for one -i. */
struct monitor {
	const char *asked;		    /* as given: wlan0 */
	char name[NL80211_NAME_LEN];	    /* captured: wlan0mon, or wlan0 */
	int ifindex;			    /* of `asked` at the change; 0: not changed */
	const struct radio_channel *wanted; /* NULL: keeps its channel */
	uint32_t wiphy;
	char card[32];	    /* phy0 */
	uint32_t flags;	    /* FLAG */
	int no_second;	    /* errno of the driver's refusal */
	int tried;	    /* ifindex of the returned card, */
	unsigned int tries; /* and how often its restore was tried */
	struct record record;
};

/* Makes the name of a second interface for m->asked. */
void monitor_name(struct monitor *m);
/* Sets m->flags, or those that the driver accepts, on interface `ifindex`; 0: makes m->name with
 * them. All of these functions record a change before they make it, and return 0 or -errno. */
int monitor_flags(struct monitor *m, struct nl80211 *nl, int ifindex);
/* Makes m->name, a second interface, and brings it up. */
int monitor_make(struct monitor *m, struct nl80211 *nl);
/* Changes the requested interface to a monitor interface. */
int monitor_change(struct monitor *m, struct nl80211 *nl, const struct nl80211_interface *i);
/* Makes the radio tunable: takes down stations' interfaces that fix its channel. */
int monitor_try_channel(struct monitor *m, struct nl80211 *nl, const struct radio_channel *wanted);

#endif
