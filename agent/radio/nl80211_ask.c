// SPDX-License-Identifier: GPL-2.0
/* nl80211, the queries: see nl80211.h. */
#include "nl80211.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nl80211_parts.h"

#define CHAN_WIDTH_320 13 /* as in nl80211.c */
#define MHZ_MAX 7250	  /* channel.h has no higher channels */

/* ---- interfaces ------------------------------------------------------------------------------ */

static uint16_t width_of(uint32_t width)
{
	switch (width) {
	case NL80211_CHAN_WIDTH_5:
		return 5;
	case NL80211_CHAN_WIDTH_10:
		return 10;
	case NL80211_CHAN_WIDTH_20_NOHT:
	case NL80211_CHAN_WIDTH_20:
		return 20;
	case NL80211_CHAN_WIDTH_40:
		return 40;
	case NL80211_CHAN_WIDTH_80:
		return 80;
	case NL80211_CHAN_WIDTH_160:
		return 160;
	case CHAN_WIDTH_320:
		return 320;
	default: /* 80+80, and other bands' widths */
		return 0;
	}
}

static uint32_t u32(struct nlattr *a, uint32_t otherwise)
{
	return a && nla_len(a) >= 4 ? nla_get_u32(a) : otherwise;
}

static void copy_name(char *out, size_t size, struct nlattr *a)
{
	snprintf(out, size, "%.*s", a ? (int)strnlen(nla_data(a), nla_len(a)) : 0,
		 a ? (const char *)nla_data(a) : "");
}

static struct nl80211_interface interface_of(struct nlattr **a)
{
	struct nl80211_interface i = {
		.ifindex = u32(a[NL80211_ATTR_IFINDEX], 0),
		.wiphy = u32(a[NL80211_ATTR_WIPHY], UINT32_MAX),
		.type = u32(a[NL80211_ATTR_IFTYPE], NL80211_IFTYPE_UNSPECIFIED),
	};
	uint32_t mhz = u32(a[NL80211_ATTR_WIPHY_FREQ], 0);

	copy_name(i.name, sizeof(i.name), a[NL80211_ATTR_IFNAME]);
	if (!mhz || mhz > MHZ_MAX)
		return i;
	/* Linux before 3.8 reports no width. */
	i.channel.mhz = mhz;
	i.channel.width = width_of(u32(a[NL80211_ATTR_CHANNEL_WIDTH], NL80211_CHAN_WIDTH_20));
	i.channel.center = i.channel.width <= 20 ? mhz : u32(a[NL80211_ATTR_CENTER_FREQ1], mhz);
	return i;
}

static void take_interface(struct nlattr **a, void *arg)
{
	*(struct nl80211_interface *)arg = interface_of(a);
}

int nl80211_interface(struct nl80211 *n, int ifindex, struct nl80211_interface *out)
{
	struct nl_msg *m = nl80211_request(n, NL80211_CMD_GET_INTERFACE, 0);
	int err;

	memset(out, 0, sizeof(*out));
	if (m && nla_put_u32(m, NL80211_ATTR_IFINDEX, ifindex))
		nlmsg_free(m), m = NULL;
	err = nl80211_do(n, m, take_interface, out);
	/* For other interfaces, kernels return different errors. */
	if (err == -EINVAL || err == -EOPNOTSUPP || (!err && out->ifindex != ifindex))
		err = -ENODEV;
	return err;
}

struct interfaces {
	struct nl80211_interface *out;
	uint32_t wiphy;
	unsigned int count, max;
};

static void add_interface(struct nlattr **a, void *arg)
{
	struct interfaces *all = arg;
	struct nl80211_interface i = interface_of(a);

	/* An interface without a number is no network device: P2P. */
	if (i.wiphy == all->wiphy && i.ifindex && all->count < all->max)
		all->out[all->count++] = i;
}

int nl80211_interfaces(struct nl80211 *n, uint32_t wiphy, struct nl80211_interface *out,
		       unsigned int max)
{
	struct interfaces all = { .out = out, .wiphy = wiphy, .max = max };
	int err = nl80211_do(n, nl80211_request(n, NL80211_CMD_GET_INTERFACE, NLM_F_DUMP),
			     add_interface, &all);

	return err ?: (int)all.count;
}

/* ---- cards ----------------------------------------------------------------------------------- */

/* A wiphy's description may exceed a message, so it is requested in parts. Older kernels ignore
 * this flag and the number, and send each wiphy in one message. */
static int ask_wiphy(struct nl80211 *n, uint32_t wiphy, void (*each)(struct nlattr **, void *),
		     void *arg)
{
	struct nl_msg *m = nl80211_request(n, NL80211_CMD_GET_WIPHY, NLM_F_DUMP);

	if (m && (nla_put_flag(m, NL80211_ATTR_SPLIT_WIPHY_DUMP) ||
		  nla_put_u32(m, NL80211_ATTR_WIPHY, wiphy)))
		nlmsg_free(m), m = NULL;
	return nl80211_do(n, m, each, arg);
}

struct card {
	struct nl80211_card *out;
	uint32_t wiphy;
};

static void take_card(struct nlattr **a, void *arg)
{
	struct card *c = arg;
	struct nlattr *type;
	int rest;

	if (u32(a[NL80211_ATTR_WIPHY], UINT32_MAX) != c->wiphy)
		return;
	if (a[NL80211_ATTR_WIPHY_NAME])
		copy_name(c->out->name, sizeof(c->out->name), a[NL80211_ATTR_WIPHY_NAME]);
	if (a[NL80211_ATTR_SUPPORTED_IFTYPES])
		nla_for_each_nested(type, a[NL80211_ATTR_SUPPORTED_IFTYPES],
				    rest) if (nla_type(type) < 32)
			c->out->types |= 1u << nla_type(type);
}

int nl80211_card(struct nl80211 *n, uint32_t wiphy, struct nl80211_card *out)
{
	struct card c = { .out = out, .wiphy = wiphy };

	memset(out, 0, sizeof(*out));
	return ask_wiphy(n, wiphy, take_card, &c);
}

struct channels {
	struct radio_channel *out;
	uint32_t wiphy;
	unsigned int count, max;
};

static void add_channel(struct channels *all, struct nlattr *frequency)
{
	struct nlattr *f[NL80211_FREQUENCY_ATTR_MAX + 1];
	uint32_t mhz;

	if (nla_parse_nested(f, NL80211_FREQUENCY_ATTR_MAX, frequency, NULL))
		return;
	mhz = u32(f[NL80211_FREQUENCY_ATTR_FREQ], 0);
	if (!mhz || mhz > MHZ_MAX || f[NL80211_FREQUENCY_ATTR_DISABLED] ||
	    f[NL80211_FREQUENCY_ATTR_NO_20MHZ] || all->count == all->max)
		return;
	all->out[all->count++] = (struct radio_channel){ mhz, 20, mhz };
}

static void add_channels(struct nlattr **a, void *arg)
{
	struct channels *all = arg;
	struct nlattr *band, *frequency;
	int bands, frequencies;

	if (!a[NL80211_ATTR_WIPHY_BANDS] || u32(a[NL80211_ATTR_WIPHY], UINT32_MAX) != all->wiphy)
		return;
	nla_for_each_nested(band, a[NL80211_ATTR_WIPHY_BANDS], bands)
	{
		struct nlattr *b[NL80211_BAND_ATTR_MAX + 1];

		/* A part about a band has its frequencies, or other attributes. */
		if (nla_parse_nested(b, NL80211_BAND_ATTR_MAX, band, NULL) ||
		    !b[NL80211_BAND_ATTR_FREQS])
			continue;
		nla_for_each_nested(frequency, b[NL80211_BAND_ATTR_FREQS], frequencies)
			add_channel(all, frequency);
	}
}

int nl80211_channels(struct nl80211 *n, uint32_t wiphy, struct radio_channel *out, unsigned int max)
{
	struct channels all = { .out = out, .wiphy = wiphy, .max = max };
	int err = ask_wiphy(n, wiphy, add_channels, &all);

	return err ?: (int)all.count;
}
