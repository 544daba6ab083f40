// SPDX-License-Identifier: GPL-2.0
/* Radios: see radio.h. */
#include "radio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wext.h"

struct radio {
	const char *interface;
	int sock; /* for ioctls: of any kind, this one leads nowhere (sandbox.c) */
};

struct radio *radio_open(const char *interface)
{
	struct radio *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->interface = interface;
	r->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->sock >= 0)
		return r;
	free(r);
	return NULL;
}

int radio_tune(struct radio *r, const struct radio_channel *to)
{
	return wext_tune(r->sock, r->interface, to);
}

int radio_where(struct radio *r, struct radio_channel *now)
{
	return wext_where(r->sock, r->interface, now);
}

int radio_channels(struct radio *r, struct radio_channel *out, unsigned int max)
{
	return wext_channels(r->sock, r->interface, out, max);
}

void radio_close(struct radio *r)
{
	if (!r)
		return;
	close(r->sock);
	free(r);
}

const char *radio_reason(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
	case ENOTTY: /* the kernel has none at all */
		return "it has no wireless extensions: its driver has nl80211 alone ('iw dev IF "
		       "set channel N')";
	case EPROTONOSUPPORT:
		return "wireless extensions know channels of 20 MHz alone";
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
