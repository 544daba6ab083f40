/* SPDX-License-Identifier: GPL-2.0 */
/* What monitor.c, which keeps track of what is changed, has of monitor_make.c, which changes it. */
#ifndef AGENT_RADIO_MONITOR_PARTS_H
#define AGENT_RADIO_MONITOR_PARTS_H

#include <linux/nl80211.h>

#include "nl80211.h"
#include "record.h"
#include "wire/channel.h"

#define FLAG(name) (1u << NL80211_MNTR_FLAG_##name)

/* Of one -i. */
struct monitor {
	const char *asked;	     /* as it was given: wlan0 */
	char name[NL80211_NAME_LEN]; /* that is captured: wlan0mon, or wlan0 */
	int ifindex;		     /* of the asked one, when this was done; 0: it was not */
	const struct radio_channel *wanted; /* NULL: it stays where it is */
	uint32_t wiphy;
	char card[32];	    /* phy0 */
	uint32_t flags;	    /* FLAG */
	int no_second;	    /* why its driver took none */
	int tried;	    /* ifindex of the card that is back, */
	unsigned int tries; /* and how often it was called to make its monitor interface again */
	struct record record;
};

/* The name of a second interface of m->asked. */
void monitor_name(struct monitor *m);
/* Gives m->flags, or as many of them as its driver takes, to interface `ifindex`; 0: makes m->name
 * with them. All of these return 0 or -errno, and write down first what they change. */
int monitor_flags(struct monitor *m, struct nl80211 *nl, int ifindex);
/* Makes m->name, a second interface, up. */
int monitor_make(struct monitor *m, struct nl80211 *nl);
/* Makes a monitor interface of the one that was asked for. */
int monitor_change(struct monitor *m, struct nl80211 *nl, const struct nl80211_interface *i);
/* Sees to it that the radio can be tuned: takes stations' interfaces down that hold its channel. */
int monitor_try_channel(struct monitor *m, struct nl80211 *nl, const struct radio_channel *wanted);

#endif
