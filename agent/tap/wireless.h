/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The radio behind an interface. In: an interface and a channel. Out: it listens there. By wireless
 * extensions, which kernels have had since long before nl80211, and have now. Interfaces of one
 * radio are on one channel, that which was set last: so who has set all of them asks again. Always
 * holds: only the privileged process gets here, for it takes CAP_NET_ADMIN; nothing is remembered
 * here.
 */
#ifndef AGENT_TAP_WIRELESS_H
#define AGENT_TAP_WIRELESS_H

/* IEEE 802.11's numbers: 1 to 14 at 2.4 GHz, the others at 5 GHz (from 183 on, 4.9 GHz). */
#define CHANNEL_MIN 1
#define CHANNEL_MAX 196

/* Returns 0, or -errno; then the radio is where it was. */
int wireless_set_channel(const char *interface, int channel);
/* Returns the channel on which it is, 0 where that has no number, or -errno. */
int wireless_channel(const char *interface);
/* What such an error means, and what helps. */
const char *wireless_reason(int err);

#endif
