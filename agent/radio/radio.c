// SPDX-License-Identifier: GPL-2.0
/* Radios: see radio.h. */
#include "radio.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl80211.h"
#include "wext.h"

struct radio {
	const char *interface;
	int sock; /* for ioctls: any kind of socket works, this one has no peer (sandbox.c) */
	struct nl80211 *nl; /* NULL: the kernel has none, or not yet */
	int ifindex;	    /* the interface's number at the last query, */
	bool is_nl;	    /* whether nl80211 knows it, */
	uint32_t wiphy;	    /* and its radio */
};

struct radio *radio_open(const char *interface)
{
	struct radio *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->interface = interface;
	r->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->sock >= 0) {
		nl80211_open(&r->nl);
		return r;
	}
	free(r);
	return NULL;
}

/* Whether nl80211 knows the interface. Asks again if the interface was replaced, or if a driver may
 * have been loaded since the start. */
static bool by_nl80211(struct radio *r)
{
	struct nl80211_interface i;
	struct ifreq q = { 0 };

	strncpy(q.ifr_name, r->interface, IFNAMSIZ - 1);
	if (ioctl(r->sock, SIOCGIFINDEX, &q))
		return false;
	if (q.ifr_ifindex == r->ifindex)
		return r->is_nl;
	if (!r->nl && nl80211_open(&r->nl))
		return false;
	r->is_nl = nl80211_interface(r->nl, q.ifr_ifindex, &i) == 0;
	r->ifindex = q.ifr_ifindex;
	r->wiphy = i.wiphy;
	return r->is_nl;
}

int radio_tune(struct radio *r, const struct radio_channel *to)
{
	/* A switch is one request. */
	int err = r->ifindex && r->is_nl ? nl80211_tune(r->nl, r->ifindex, to) : -ENODEV;

	if (err != -ENODEV)
		return err;
	return by_nl80211(r) ? nl80211_tune(r->nl, r->ifindex, to)
			     : wext_tune(r->sock, r->interface, to);
}

void radio_forget(struct radio *r)
{
	if (r)
		r->ifindex = 0;
}

int radio_where(struct radio *r, struct radio_channel *now)
{
	struct nl80211_interface i;
	int err;

	if (!by_nl80211(r))
		return wext_where(r->sock, r->interface, now);
	err = nl80211_interface(r->nl, r->ifindex, &i);
	*now = i.channel;
	return err ?: now->mhz ? 0 : -EOPNOTSUPP;
}

int radio_channels(struct radio *r, struct radio_channel *out, unsigned int max)
{
	int n = by_nl80211(r) ? nl80211_channels(r->nl, r->wiphy, out, max)
			      : wext_channels(r->sock, r->interface, out, max);
	int sound = 0;

	/* Cards of other bands (802.11ah, 60 GHz) report channels that wire/channel.h lacks. */
	for (int i = 0; i < n; i++)
		if (channel_is_sound(&out[i]))
			out[sound++] = out[i];
	return n < 0 ? n : sound;
}

void radio_close(struct radio *r)
{
	if (!r)
		return;
	nl80211_close(r->nl);
	close(r->sock);
	free(r);
}

const char *radio_reason(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
	case ENOTTY: /* the kernel has no wireless extensions */
		return "nothing here can tune it: its driver has neither nl80211 nor wireless "
		       "extensions for that";
	case EPROTONOSUPPORT:
		return "its driver has wireless extensions alone, which know channels of 20 MHz";
	case EBUSY:
		return "the radio is busy: the interface must be up, and no station or access "
		       "point on the same radio";
	case EINVAL:
		return "the card does not have this channel, or the country's rules forbid it "
		       "('iw phy' lists them)";
	case ENETDOWN:
		return "the interface is down; 'ip link set IF up'";
	case ENODEV:
		return "there is no such interface any more, or it is not Wi-Fi";
	case ERFKILL:
		return "the radio is switched off ('rfkill unblock wifi', or a key of the machine)";
	case EPERM:
		return "not permitted; run as root, or with CAP_NET_ADMIN";
	default:
		return strerror(-err);
	}
}
