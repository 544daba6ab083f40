// SPDX-License-Identifier: GPL-2.0
/* The radio behind an interface: see wireless.h. */
#include "wireless.h"

#include <errno.h>
#include <linux/wireless.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int wireless_set_channel(const char *interface, int channel)
{
	/* With exponent 0, below 1000, it is a channel's number. */
	struct iwreq r = { .u.freq = { .m = channel, .e = 0, .flags = IW_FREQ_FIXED } };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err; /* as in link_query */

	if (sock < 0)
		return -errno;
	strncpy(r.ifr_name, interface, IFNAMSIZ - 1);
	err = ioctl(sock, SIOCSIWFREQ, &r) ? -errno : 0;
	close(sock);
	return err;
}

const char *wireless_reason(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
	case ENOTTY: /* the kernel has none at all */
		return "it has no wireless extensions: it is wired, or its driver has nl80211 "
		       "alone ('iw dev IF set channel N')";
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
