// SPDX-License-Identifier: GPL-2.0
/* Radio locks: see radio_lock.h. */
#include "radio_lock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "common/log.h"

#define CARD_LEN 64 /* NL80211_WIPHY_NAME_MAXLEN */

/* The request for one -i's radio. */
struct claim {
	char card[CARD_LEN]; /* phy0; "": no request, or unknown to the kernel */
	bool moves;	     /* its channel may change */
};

/* The last part of ../../ieee80211/phy0, which exists for every driver. */
static void find_card(const char *interface, char out[CARD_LEN])
{
	char path[64], to[256] = "/";

	snprintf(path, sizeof(path), "/sys/class/net/%s/phy80211", interface);
	if (readlink(path, to + 1, sizeof(to) - 2) < 0)
		to[1] = 0; /* else unwritten bytes remain */
	snprintf(out, CARD_LEN, "%.63s", strrchr(to, '/') + 1);
}

static struct claim claim_of(const struct capture_options *o, unsigned int i,
			     const struct interface_state *link)
{
	bool steered = o->steered && linktype_is_80211(link->linktype);
	bool listed = o->plans[i].list;
	struct claim c = { .moves = steered || (listed && !o->channels[i].mhz) };

	if (steered || listed)
		find_card(o->interfaces[i], c.card);
	return c;
}

int radio_lock(const struct capture_options *o, const struct interface_state *links,
	       struct lock *locks)
{
	struct claim claims[INTERFACES_MAX];
	int err = 0;

	for (unsigned int i = 0; i < o->count; i++) {
		claims[i] = claim_of(o, i, &links[i]);
		for (unsigned int k = 0; *claims[i].card && k < i; k++) {
			if (strcmp(claims[k].card, claims[i].card) ||
			    !(claims[k].moves || claims[i].moves))
				continue;
			log_line("%s and %s are interfaces of one radio, %s, which is on one "
				 "channel at a time: give channels to one of them",
				 o->interfaces[k], o->interfaces[i], claims[i].card);
			return -EBUSY;
		}
	}
	for (unsigned int i = 0; !err && i < o->count; i++)
		if (claims[i].moves && *claims[i].card)
			err = lock_take(&locks[i], claims[i].card, ".radio");
	return err;
}
