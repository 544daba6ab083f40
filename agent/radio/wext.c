// SPDX-License-Identifier: GPL-2.0
/* Wireless extensions: see wext.h. */
#include "wext.h"

#include <errno.h>
#include <linux/wireless.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

static int ask(int sock, const char *interface, unsigned int request, struct iwreq *r)
{
	strncpy(r->ifr_name, interface, IFNAMSIZ - 1);
	return ioctl(sock, request, r) ? -errno : 0;
}

int wext_tune(int sock, const char *interface, const struct radio_channel *to)
{
	struct iwreq r = { .u.freq = { .m = to->mhz, .e = 6, .flags = IW_FREQ_FIXED } };
	unsigned int number = channel_number(to->mhz);

	if (to->width != 20)
		return -EPROTONOSUPPORT;
	/* Exponent 0 and a value below 1000 mean a channel's number, which all drivers accept.
	 * Numbers at 6 GHz are ambiguous. */
	if (number && channel_mhz(number) == to->mhz)
		r.u.freq = (struct iw_freq){ .m = number, .flags = IW_FREQ_FIXED };
	return ask(sock, interface, SIOCSIWFREQ, &r);
}

/* Reads a channel's number, or a frequency: m * 10^e Hz. */
static unsigned int mhz_of(const struct iw_freq *f)
{
	int mhz = f->m;

	if (f->e == 0 && f->m >= 0 && f->m < 1000)
		return channel_mhz(f->m);
	for (int e = f->e; e < 6 && mhz; e++)
		mhz /= 10;
	for (int e = 6; e < f->e && mhz <= UINT16_MAX; e++)
		mhz *= 10;
	return mhz > 0 && mhz <= UINT16_MAX ? mhz : 0;
}

static struct radio_channel of_20(unsigned int mhz)
{
	return (struct radio_channel){ mhz, 20, mhz };
}

int wext_where(int sock, const char *interface, struct radio_channel *now)
{
	struct iwreq r = { 0 };
	int err = ask(sock, interface, SIOCGIWFREQ, &r);

	*now = of_20(err ? 0 : mhz_of(&r.u.freq));
	return err;
}

int wext_channels(int sock, const char *interface, struct radio_channel *out, unsigned int max)
{
	struct iw_range range = { 0 };
	struct iwreq r = { .u.data = { .pointer = &range, .length = sizeof(range) } };
	int err = ask(sock, interface, SIOCGIWRANGE, &r);
	unsigned int count = 0;

	for (unsigned int i = 0; !err && i < range.num_frequency && i < IW_MAX_FREQUENCIES; i++)
		if (count < max && mhz_of(&range.freq[i]))
			out[count++] = of_20(mhz_of(&range.freq[i]));
	return err ?: (int)count;
}
