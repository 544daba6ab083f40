// SPDX-License-Identifier: GPL-2.0
/* The radio behind an interface: see wireless.h. */
#include "wireless.h"

#include <errno.h>
#include <linux/wireless.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(const char *interface, unsigned int request, struct iwreq *r)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err; /* as in link_query */

	if (sock < 0)
		return -errno;
	strncpy(r->ifr_name, interface, IFNAMSIZ - 1);
	err = ioctl(sock, request, r) ? -errno : 0;
	close(sock);
	return err;
}

int wireless_set_channel(const char *interface, int channel)
{
	/* With exponent 0, below 1000, it is a channel's number. */
	struct iwreq r = { .u.freq = { .m = channel, .e = 0, .flags = IW_FREQ_FIXED } };

	return ask(interface, SIOCSIWFREQ, &r);
}

/* A channel's number, or a frequency: m * 10^e Hz. */
static int channel_of(const struct iw_freq *f)
{
	int64_t hz = f->m;
	int mhz;

	if (f->e == 0 && f->m >= 0 && f->m < 1000)
		return f->m;
	for (int i = 0; i < f->e && hz < INT32_MAX * 1000LL; i++)
		hz *= 10;
	mhz = hz / 1000000;
	if (mhz == 2484)
		return 14;
	if (mhz > 2407 && mhz < 2484)
		return (mhz - 2407) / 5;
	if (mhz > 4900 && mhz < 5000)
		return (mhz - 4000) / 5;
	return mhz > 5000 && mhz <= 5000 + 5 * CHANNEL_MAX ? (mhz - 5000) / 5 : 0;
}

int wireless_channel(const char *interface)
{
	struct iwreq r = { 0 };
	int err = ask(interface, SIOCGIWFREQ, &r);

	return err ?: channel_of(&r.u.freq);
}

const char *wireless_reason(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
	case ENOTTY: /* the kernel has none at all */
		return "it has no wireless extensions: its driver has nl80211 alone ('iw dev IF "
		       "set channel N')";
	case EBUSY:
		return "the radio is busy: the interface must be up, and no station or access "
		       "point on the same radio";
	case EINVAL:
		return "the card does not have this channel, or the country's rules forbid it "
		       "('iw phy' lists them)";
	case EPERM:
		return "not permitted; run as root, or with CAP_NET_ADMIN";
	default:
		return strerror(-err);
	}
}
