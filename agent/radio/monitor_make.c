// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a monitor interface. In: the requested interface and its radio. Out: a second interface, or
 * the requested one if its driver supports no second one, that can be tuned. Always holds: each
 * change is in the record before it is made.
 */
#include "monitor_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "monitor.h"
#include "agent/interface/interface_state.h"

#define ON_RADIO_MAX 16

/* ---- what was changed ------------------------------------------------------------------------ */

static int add(struct monitor *m, enum record_what what, const char *name, int ifindex,
	       uint32_t type)
{
	struct record_change c = {
		.what = what, .ifindex = ifindex, .wiphy = m->wiphy, .type = type
	};
	int err;

	snprintf(c.name, sizeof(c.name), "%s", name);
	err = record_add(&m->record, &c);
	if (err)
		log_line("%s: cannot write %s, which is to tell how it was: %s", m->asked,
			 m->record.path, strerror(-err));
	return err;
}

/* Takes an interface down, and records that it was up. */
static int take_down(struct monitor *m, const char *name, int ifindex)
{
	struct interface_state link;
	int err = interface_state_query(name, &link);

	if (err || !link.up)
		return err;
	return add(m, RECORD_DOWN, name, ifindex, 0) ?: interface_state_set_up(name, false);
}

/* ---- a second interface ---------------------------------------------------------------------- */

/* Keeps the end of a long name: names made of addresses differ at the end. */
void monitor_name(struct monitor *m)
{
	size_t len = strlen(m->asked), room = sizeof(m->name) - 1 - strlen("mon");

	snprintf(m->name, sizeof(m->name), "%smon", m->asked + (len > room ? len - room : 0));
}

/* A driver that refuses some flags may accept fewer. */
int monitor_flags(struct monitor *m, struct nl80211 *nl, int ifindex)
{
	static const uint32_t lesser[] = { FLAG(FCSFAIL) | FLAG(CONTROL) | FLAG(OTHER_BSS),
					   FLAG(CONTROL) | FLAG(OTHER_BSS), FLAG(CONTROL), 0 };
	uint32_t wanted = m->flags;
	int err = 0;

	for (size_t i = 0; i < sizeof(lesser) / sizeof(lesser[0]); i++) {
		if (i && (wanted & lesser[i]) == m->flags)
			continue;
		m->flags = wanted & lesser[i];
		err = ifindex ? nl80211_set_type(nl, ifindex, NL80211_IFTYPE_MONITOR, m->flags)
			      : nl80211_make(nl, m->wiphy, m->name, NL80211_IFTYPE_MONITOR,
					     m->flags);
		if (err != -EINVAL && err != -EOPNOTSUPP)
			break;
	}
	if (!err && m->flags != wanted)
		log_line("%s: its driver refuses monitor flags:%s%s%s; such frames may be missing",
			 m->asked, wanted & ~m->flags & FLAG(FCSFAIL) ? " fcsfail" : "",
			 wanted & ~m->flags & FLAG(CONTROL) ? " control" : "",
			 wanted & ~m->flags & FLAG(OTHER_BSS) ? " otherbss" : "");
	if (err)
		m->flags = wanted;
	return err;
}

int monitor_make(struct monitor *m, struct nl80211 *nl)
{
	struct interface_state link;
	int err = add(m, RECORD_MADE, m->name, 0, 0);

	err = err ?: monitor_flags(m, nl, 0);
	err = err ?: interface_state_query(m->name, &link);
	err = err ?: add(m, RECORD_MADE, m->name, link.ifindex, 0);
	if (err)
		return err;
	err = interface_state_set_up(m->name, true);
	if (err)
		nl80211_delete(nl, link.ifindex);
	else
		log_info("%s: made the monitor interface %s on the same radio, %s", m->asked,
			 m->name, m->card);
	return err;
}

/* ---- the interface itself -------------------------------------------------------------------- */

int monitor_change(struct monitor *m, struct nl80211 *nl, const struct nl80211_interface *i)
{
	int err = take_down(m, m->asked, i->ifindex);

	snprintf(m->name, sizeof(m->name), "%s", m->asked);
	err = err ?: add(m, RECORD_TYPE, m->name, i->ifindex, i->type);
	err = err ?: monitor_flags(m, nl, i->ifindex);
	err = err ?: interface_state_set_up(m->name, true);
	if (err)
		log_line("%s: cannot be made a monitor interface: %s", m->asked,
			 monitor_reason(err));
	else
		log_line("%s: is a monitor interface itself until the end: %s takes no second one "
			 "beside it (%s)",
			 m->asked, m->card, strerror(-m->no_second));
	return err;
}

/* ---- the channel's sake ---------------------------------------------------------------------- */

/* Other interfaces of the radio that are up fix its channel, stations even without a network.
 * Stations are taken down. Access points are left alone. */
static int free_channel(struct monitor *m, struct nl80211 *nl)
{
	struct nl80211_interface all[ON_RADIO_MAX];
	int count = nl80211_interfaces(nl, m->wiphy, all, ON_RADIO_MAX), err = 0;

	for (int i = 0; !err && i < count; i++) {
		struct interface_state link;

		if (all[i].type == NL80211_IFTYPE_MONITOR ||
		    interface_state_query(all[i].name, &link) || !link.up)
			continue;
		if (all[i].type != NL80211_IFTYPE_STATION) {
			log_line("%s: its radio's channel is held by %s, which is no station: an "
				 "access point? Stop that, or give no channel",
				 m->asked, all[i].name);
			return -EBUSY;
		}
		err = take_down(m, all[i].name, all[i].ifindex);
		log_line(err ? "%s: cannot be taken down, and holds the channel of %s"
			     : "%s: is down until the end, for it holds the channel of %s",
			 all[i].name, m->name);
	}
	return count < 0 ? count : err;
}

/* Tries to tune it to the requested channel, or to the first one. */
int monitor_try_channel(struct monitor *m, struct nl80211 *nl, const struct radio_channel *wanted)
{
	struct radio_channel first;
	struct interface_state link;
	int err = interface_state_query(m->name, &link);

	if (!wanted->mhz && nl80211_channels(nl, m->wiphy, &first, 1) == 1)
		wanted = &first;
	err = err ?: nl80211_tune(nl, link.ifindex, wanted);
	/* The code that tunes it reports other errors. */
	return err == -EBUSY ? free_channel(m, nl) : 0;
}
