// SPDX-License-Identifier: GPL-2.0
/* Monitor interfaces: see monitor.h. */
#include "monitor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/linktype.h>

#include "common/log.h"
#include "monitor_parts.h"
#include "radio.h"
#include "agent/interface/interface_state.h"

#define RECORDS_MAX 64 /* records that are read at the start */
#define TRIES_APART 60 /* longest interval between tries to restore an interface */

struct monitors {
	struct nl80211 *nl;
	unsigned int count; /* number begun */
	struct monitor list[INTERFACES_MAX];
};

/* ---- what was changed ------------------------------------------------------------------------ */

/* Undoes the last change first. A change that cannot be undone stays in the record for the next
 * run. */
static void undo_all(struct nl80211 *nl, struct record *r)
{
	int err = r->count && !nl ? -ENOENT : 0;

	for (unsigned int i = r->count; nl && i-- > 0;)
		err = monitor_undo(nl, &r->changes[i]) ?: err;
	if (err)
		record_leave(r);
	else
		record_remove(r);
}

/* ---- what a run that was killed has left ----------------------------------------------------- */

/* Whether the made or changed interface is still a monitor interface, and so ours. */
static bool is_there(struct monitor *m, struct nl80211 *nl, const struct record_change *c)
{
	struct nl80211_interface i;

	if (c->what == RECORD_DOWN || !c->ifindex || nl80211_interface(nl, c->ifindex, &i) ||
	    i.wiphy != c->wiphy || i.type != NL80211_IFTYPE_MONITOR)
		return false;
	m->wiphy = i.wiphy;
	snprintf(m->name, sizeof(m->name), "%s", i.name);
	return true;
}

/* Returns whether this run continues to use it. Its flags may differ now. */
static bool go_on(struct monitor *m, struct nl80211 *nl)
{
	for (unsigned int i = m->record.count; i-- > 0;) {
		const struct record_change *c = &m->record.changes[i];

		if (!is_there(m, nl, c) || monitor_flags(m, nl, c->ifindex) ||
		    interface_state_set_up(m->name, true))
			continue;
		log_info("%s: goes on with the monitor interface %s of a run that was killed",
			 m->asked, m->name);
		return true;
	}
	return false;
}

/* Whether this run uses the interface in the record of `interface`: it requests the same, or
 * captures the made interface itself. */
static bool is_used(const struct capture_options *o, const char *interface, const struct record *r)
{
	for (unsigned int i = 0; i < o->count; i++) {
		if (o->monitors[i] && !strcmp(o->interfaces[i], interface))
			return true;
		for (unsigned int k = 0; k < r->count; k++)
			if (r->changes[k].what != RECORD_DOWN &&
			    !strcmp(o->interfaces[i], r->changes[k].name))
				return true;
	}
	return false;
}

/* Undoes changes that no run uses. */
static void undo_left(struct monitors *m, const struct capture_options *o)
{
	static char names[RECORDS_MAX][RECORD_NAME_LEN];
	unsigned int count = record_list(names, RECORDS_MAX);

	for (unsigned int i = 0; i < count; i++) {
		struct record r;

		if (record_take(&r, names[i]))
			continue; /* its run is alive */
		if (is_used(o, names[i], &r) || (!m->nl && nl80211_open(&m->nl))) {
			record_leave(&r);
			continue;
		}
		log_line("%s: a run that was killed has left it changed", names[i]);
		undo_all(m->nl, &r);
	}
}

/* ---- one interface --------------------------------------------------------------------------- */

static int say_no_wifi(const char *interface, int err)
{
	if (err == -ENODEV || err == -ENOENT)
		log_line("%s: --monitor is for Wi-Fi interfaces, and this is none%s", interface,
			 err == -ENOENT ? ": the kernel has no nl80211" : " ('iw dev' lists them)");
	else
		log_line("%s: cannot ask nl80211 of it: %s", interface, monitor_reason(err));
	return err;
}

/* Looks up the interface, and checks whether it can become a monitor. */
static int look(struct monitors *all, struct monitor *m, struct nl80211_interface *i)
{
	struct nl80211_card card;
	struct interface_state link;
	int err = interface_state_query(m->asked, &link);

	err = err ?: all->nl ? 0 : nl80211_open(&all->nl);
	err = err ?: nl80211_interface(all->nl, link.ifindex, i);
	err = err ?: nl80211_card(all->nl, i->wiphy, &card);
	if (err)
		return say_no_wifi(m->asked, err);
	m->wiphy = i->wiphy;
	snprintf(m->card, sizeof(m->card), "%s", card.name);
	if (!(card.types & 1u << NL80211_IFTYPE_MONITOR)) {
		log_line("%s: its driver has no monitor mode ('iw phy %s info' lists what it has); "
			 "take another card",
			 m->asked, card.name);
		return -EOPNOTSUPP;
	}
	monitor_name(m);
	if (interface_state_query(m->name, &link) == 0 && link.ifindex) {
		log_line("%s: %s is there already, and not of ours; capture there with '-i %s', or "
			 "remove it with 'iw dev %s del'",
			 m->asked, m->name, m->name, m->name);
		return -EEXIST;
	}
	return 0;
}

static int take_record(struct monitor *m)
{
	int err = record_take(&m->record, m->asked);

	if (err == -EWOULDBLOCK) {
		log_line("%s: another saluki has it by --monitor; stop that first", m->asked);
		return err;
	}
	if (err)
		log_line("%s: %s cannot be made (%s): if this run is killed, nobody undoes what "
			 "--monitor changes",
			 m->asked, m->record.path, strerror(-err));
	return 0;
}

static int make_or_change(struct monitors *all, struct monitor *m)
{
	struct nl80211_interface i;
	int err = look(all, m, &i);

	if (err)
		return err;
	err = monitor_make(m, all->nl);
	switch (-err) {
	case 0:
		return 0;
	case EOPNOTSUPP:
	case EINVAL:
	case ENFILE:
	case ENOSPC:
	case EBUSY:
		/* look() has filled it.
		 * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
		if (i.type == NL80211_IFTYPE_STATION) {
			m->no_second = err;
			return monitor_change(m, all->nl, &i);
		}
		break;
	}
	log_line("%s: cannot make %s: %s", m->asked, m->name, monitor_reason(err));
	return err;
}

/* An existing monitor interface is captured unchanged. */
static bool is_monitor(const char *interface)
{
	struct interface_state link;

	return interface_state_query(interface, &link) == 0 && linktype_is_80211(link.linktype);
}

/* A new number shows that the card was removed and inserted again. */
static void remember(struct monitor *m)
{
	struct interface_state link;

	m->ifindex = interface_state_query(m->asked, &link) ? 0 : link.ifindex;
}

static int begin(struct monitors *all, struct monitor *m)
{
	int err;

	if (m->record.count && all->nl) {
		undo_all(all->nl, &m->record);
		err = take_record(m);
		if (err)
			return err;
	}
	if (!is_monitor(m->asked))
		return make_or_change(all, m);
	log_info("%s: is a monitor interface already: --monitor has nothing to do", m->asked);
	snprintf(m->name, sizeof(m->name), "%s", m->asked);
	return 0;
}

static int start(struct monitors *all, struct monitor *m)
{
	int err = take_record(m);

	if (err)
		return err;
	if (m->record.count && !all->nl)
		nl80211_open(&all->nl);
	if (!all->nl || !go_on(m, all->nl))
		err = begin(all, m);
	if (!err && m->record.count)
		remember(m);
	/* An interface that was a monitor before is captured unchanged. */
	return err || !all->nl || !m->wanted || !m->record.count
		       ? err
		       : monitor_try_channel(m, all->nl, m->wanted);
}

/* Restores it under its old name, by any way that the driver supports now. */
static int start_again(struct monitors *all, struct monitor *m, int ifindex)
{
	bool itself = !strcmp(m->asked, m->name);
	struct nl80211_interface i;
	struct nl80211_card card;
	int err = nl80211_interface(all->nl, ifindex, &i);

	err = err ?: nl80211_card(all->nl, i.wiphy, &card);
	undo_all(all->nl, &m->record); /* the radio is gone */
	err = err ?: take_record(m);
	if (err)
		return err;
	m->wiphy = i.wiphy;
	snprintf(m->card, sizeof(m->card), "%s", card.name);
	err = itself ? monitor_change(m, all->nl, &i) : monitor_make(m, all->nl);
	return err || !m->wanted ? err : monitor_try_channel(m, all->nl, m->wanted);
}

bool monitors_again(struct monitors *all, const char *name)
{
	struct interface_state link;
	struct monitor *m = NULL;
	int err;

	for (unsigned int i = 0; all && i < all->count; i++)
		if (all->list[i].ifindex && !strcmp(all->list[i].name, name))
			m = &all->list[i];
	if (!m || interface_state_query(m->asked, &link) || !link.ifindex ||
	    link.ifindex == m->ifindex)
		return false;
	/* Tries at growing intervals: each failed try logs a line. */
	m->tries = link.ifindex == m->tried ? m->tries + 1 : 1;
	m->tried = link.ifindex;
	if (m->tries % TRIES_APART && m->tries & (m->tries - 1))
		return false;
	err = start_again(all, m, link.ifindex);
	if (err) {
		log_line("%s: is back, but %s is not: %s", m->asked, name, monitor_reason(err));
		return false;
	}
	m->ifindex = link.ifindex;
	return true;
}

int monitors_start(struct monitors **out, struct capture_options *o, bool any_channel)
{
	struct monitors *all = calloc(1, sizeof(*all));
	int err = 0;

	*out = NULL;
	if (!all)
		return -ENOMEM;
	undo_left(all, o);
	for (unsigned int i = 0; !err && i < o->count; i++) {
		struct monitor *m = &all->list[all->count];

		if (!o->monitors[i])
			continue;
		m->asked = o->interfaces[i];
		m->record.fd = -1;
		m->flags = FLAG(CONTROL) | FLAG(OTHER_BSS) |
			   (o->bad_fcs == BAD_FCS_KEEP ? FLAG(FCSFAIL) : 0);
		all->count++;
		m->wanted = any_channel || o->plans[i].list ? &o->channels[i] : NULL;
		err = start(all, m);
	}
	/* The requested names are needed for comparison until all are made. */
	for (unsigned int i = 0, k = 0; !err && i < o->count; i++)
		if (o->monitors[i])
			o->interfaces[i] = all->list[k++].name;
	if (!err && all->count) {
		*out = all;
		return 0;
	}
	monitors_end(all);
	return err;
}

void monitors_end(struct monitors *m)
{
	if (!m)
		return;
	while (m->count-- > 0)
		undo_all(m->nl, &m->list[m->count].record);
	nl80211_close(m->nl);
	free(m);
}
