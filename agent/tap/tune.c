// SPDX-License-Identifier: GPL-2.0
/*
 * Tune: tunes the radios of a run's interfaces (--channel). In: interfaces and radios. Out: all
 * radios on their channels, or a line with the reason. Always holds: a failure at the start ends
 * the run; a later one is logged once.
 */
#include <errno.h>
#include <string.h>

#include <saluki/linktype.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "tap.h"
#include "agent/radio/plan.h"
#include "agent/radio/radio.h"

#define NO_MONITOR 1 /* set_channel: beside errno values */

/* On a station's interface, whose frames are Ethernet, the driver may ignore the request. */
static int set_channel(struct radio *r, const struct interface_state *link,
		       const struct radio_channel *channel)
{
	return linktype_is_80211(link->linktype) ? radio_tune(r, channel) : NO_MONITOR;
}

static void say_not_set(const char *interface, const struct radio_channel *channel, int err)
{
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, channel);
	log_line("%s: cannot set channel %s: %s", interface, text,
		 err == NO_MONITOR
			 ? "it is not an 802.11 monitor interface: it is wired, or a station "
			   "('iw dev IF set type monitor')"
			 : radio_reason(err));
}

/* If the driver cannot report the channel, success is assumed. */
static bool has_channel(struct radio *r, const struct radio_channel *channel)
{
	struct radio_channel now;
	int err = radio_where(r, &now);

	return err == -EOPNOTSUPP || (!err && channel_is(&now, channel));
}

static void say_elsewhere(const char *interface, struct radio *r,
			  const struct radio_channel *channel)
{
	char text[CHANNEL_TEXT_LEN], there[CHANNEL_TEXT_LEN];
	struct radio_channel now;
	int err = radio_where(r, &now);

	channel_text(text, channel);
	channel_text(there, &now);
	if (!err && now.mhz)
		log_line("%s: is on channel %s and not on %s: another interface shares its radio",
			 interface, there, text);
	else
		log_line("%s: is not on channel %s: %s", interface, text,
			 err ? radio_reason(err) : "where it is has no number");
}

void tap_tune(struct tap *t, unsigned int i, const struct interface_state *now)
{
	struct tap_interface *f = &t->interfaces[i];
	int err;

	if (!f->channel.mhz)
		return;
	radio_forget(t->radios[i]);
	err = set_channel(t->radios[i], now, &f->channel);
	f->tuned = !err && has_channel(t->radios[i], &f->channel);
	if (err && err != f->not_tuned)
		say_not_set(f->name, &f->channel, err);
	else if (!err && !f->tuned && f->not_tuned != -EXDEV)
		say_elsewhere(f->name, t->radios[i], &f->channel);
	f->not_tuned = err ?: f->tuned ? 0 : -EXDEV;
}

int tap_retune(struct tap *t, unsigned int i, const struct radio_channel *c,
	       struct radio_channel *was, uint64_t *begin_ns)
{
	struct tap_interface *f = &t->interfaces[i];
	int err;

	if (!f->source)
		return -ENODEV; /* another program may have its radio */
	if (radio_where(t->radios[i], was))
		was->mhz = 0;
	*begin_ns = monotonic_ns();
	/* Some drivers restart even if nothing changes, so the channel is compared first. */
	if (f->tuned && channel_is(&f->channel, c) && (!was->mhz || channel_is(was, c)))
		return 0;
	err = radio_tune(t->radios[i], c);
	if (err)
		return err;
	f->channel = *c;
	f->tuned = true;
	return 0;
}

int tap_card(struct tap *t, unsigned int i, uint16_t *mhz, uint32_t max, uint32_t *count)
{
	struct radio_channel channels[RADIO_CHANNELS_MAX];
	int n = radio_channels(t->radios[i], channels, max);

	*count = n > 0 ? n : 0;
	for (uint32_t k = 0; k < *count; k++)
		mhz[k] = channels[k].mhz;
	return n < 0 ? n : 0;
}

static int set_one(const char *interface, struct radio *r, const struct interface_state *link,
		   const struct radio_channel *channel)
{
	int err = set_channel(r, link, channel);

	if (err)
		say_not_set(interface, channel, err);
	return err;
}

/* Uses a plan's first channel that the card accepts. If it accepts none, the first channel's error
 * is the reason. */
static int set_first(const char *interface, struct radio *r, const struct interface_state *link,
		     const struct plan_asked *asked, struct radio_channel *out)
{
	struct radio_channel card[PLAN_MAX];
	char why[PLAN_WHY_LEN];
	struct plan p;
	int first = 0, n;

	plan_parse(&p, asked, asked->list, strlen(asked->list), why); /* checked before */
	n = p.all ? radio_channels(r, card, PLAN_MAX) : 0;
	if (n < 0) {
		log_line("%s: its channels cannot be asked for: %s", interface, radio_reason(n));
		return n;
	}
	if (plan_expand(&p, card, n, why)) {
		log_line("%s: --channels %.200s: %s", interface, asked->list, why);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < p.count; i++) {
		int err = set_channel(r, link, &p.entries[i].channel);

		*out = p.entries[i].channel;
		if (!err)
			return 0;
		first = first ?: err;
	}
	say_not_set(interface, &p.entries[0].channel, first);
	return first;
}

/* Checks all interfaces after all are set, as some may share a radio. */
int tap_tune_all(const struct capture_options *o, const struct interface_state *links,
		 struct radio **radios, struct radio_channel *channels)
{
	int err = 0;

	memcpy(channels, o->channels, sizeof(o->channels));
	for (unsigned int i = 0; !err && i < o->count; i++) {
		bool listed = o->plans[i].list;

		if (!listed && !(o->steered && linktype_is_80211(links[i].linktype)))
			continue;
		radios[i] = radio_open(o->interfaces[i]);
		if (!radios[i])
			err = -ENOMEM;
		else if (channels[i].mhz)
			err = set_one(o->interfaces[i], radios[i], &links[i], &channels[i]);
		else if (listed)
			err = set_first(o->interfaces[i], radios[i], &links[i], &o->plans[i],
					&channels[i]);
	}
	for (unsigned int i = 0; !err && i < o->count; i++) {
		if (!o->channels[i].mhz || has_channel(radios[i], &channels[i]))
			continue;
		say_elsewhere(o->interfaces[i], radios[i], &channels[i]);
		err = -EXDEV;
	}
	return err;
}
