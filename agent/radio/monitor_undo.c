// SPDX-License-Identifier: GPL-2.0
/*
 * Undoes a change of --monitor (monitor.h). In: one change of a record. Out: the interface as
 * before. Interfaces are identified by number, as names may have changed. A number is trusted only
 * on the same radio, as kernels never reuse a radio's number.
 */
#include <errno.h>
#include <linux/nl80211.h>
#include <net/if.h>
#include <string.h>

#include "common/log.h"
#include "monitor.h"
#include "nl80211.h"
#include "record.h"
#include "agent/interface/interface_state.h"

const char *monitor_reason(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
		return "its driver cannot do that";
	case EBUSY:
		return "the radio is busy: stop what else uses it (hostapd, wpa_supplicant)";
	case ERFKILL:
		return "the radio is switched off ('rfkill unblock wifi', or a key of the machine)";
	case EPERM:
		return "not permitted; run as root, or with CAP_NET_ADMIN";
	default:
		return strerror(-err);
	}
}

static int say(const char *name, const char *what, int err)
{
	if (err == -ENODEV) /* it disappeared between two requests */
		return 0;
	log_line("%s: cannot be %s again: %s", name, what, monitor_reason(err));
	return err;
}

static int undo_made(struct nl80211 *nl, const struct nl80211_interface *i)
{
	int err = nl80211_delete(nl, i->ifindex);

	if (err)
		return say(i->name, "removed", err);
	log_info("%s: removed", i->name);
	return 0;
}

static int undo_type(struct nl80211 *nl, const struct nl80211_interface *i, uint32_t type)
{
	int err = interface_state_set_up(i->name, false);

	err = err ?: nl80211_set_type(nl, i->ifindex, type, 0);
	if (err)
		return say(i->name, "what it was", err);
	log_info("%s: is no monitor interface any more", i->name);
	return 0;
}

static int undo_down(const struct nl80211_interface *i)
{
	struct interface_state link;
	int err;

	if (interface_state_query(i->name, &link) == 0 && link.up)
		return 0;
	err = interface_state_set_up(i->name, true);
	if (err)
		return say(i->name, "brought up", err);
	log_info("%s: is up again", i->name);
	return 0;
}

int monitor_undo(struct nl80211 *nl, const struct record_change *c)
{
	int ifindex = c->ifindex ?: (int)if_nametoindex(c->name), err;
	struct nl80211_interface i;

	err = ifindex ? nl80211_interface(nl, ifindex, &i) : -ENODEV;
	if (err == -ENODEV || (!err && i.wiphy != c->wiphy))
		return 0;
	if (err)
		return say(c->name, "what it was", err);
	switch (c->what) {
	case RECORD_MADE:
		return i.type == NL80211_IFTYPE_MONITOR ? undo_made(nl, &i) : 0;
	case RECORD_TYPE:
		return i.type == NL80211_IFTYPE_MONITOR ? undo_type(nl, &i, c->type) : 0;
	default:
		return undo_down(&i);
	}
}
