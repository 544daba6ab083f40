// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces the files that need libnl (NEEDS_nl80211 in the Makefile): only wireless extensions tune
 * radios, no monitor interfaces are made, and it is not known which interfaces share a radio.
 */
#include <errno.h>

#include "agent/radio/radio_lock.h"
#include "agent/radio/monitor.h"
#include "agent/radio/nl80211.h"
#include "common/log.h"

int nl80211_open(struct nl80211 **out)
{
	*out = NULL;
	return -ENOSYS;
}

void nl80211_close(struct nl80211 *n)
{
}

int nl80211_interface(struct nl80211 *n, int ifindex, struct nl80211_interface *out)
{
	return -ENOSYS;
}

int nl80211_channels(struct nl80211 *n, uint32_t wiphy, struct radio_channel *out, unsigned int max)
{
	return -ENOSYS;
}

int nl80211_tune(struct nl80211 *n, int ifindex, const struct radio_channel *to)
{
	return -ENOSYS;
}

int radio_lock(const struct capture_options *o, const struct interface_state *links,
	       struct lock *locks)
{
	return 0;
}

int monitors_start(struct monitors **m, struct capture_options *o, bool any_channel)
{
	*m = NULL;
	for (unsigned int i = 0; i < o->count; i++) {
		if (!o->monitors[i])
			continue;
		log_line("%s: --monitor refused: this saluki is built without libnl; make it a "
			 "monitor interface first ('iw dev %s set type monitor')",
			 o->interfaces[i], o->interfaces[i]);
		return -EOPNOTSUPP;
	}
	return 0;
}

bool monitors_again(struct monitors *m, const char *name)
{
	return false;
}

void monitors_end(struct monitors *m)
{
}
