/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The radio behind an interface: in: an interface and a channel; out: it listens there. By wireless
 * extensions (linux/wireless.h), which kernels have from long before nl80211 until now. Always
 * holds: a radio is tuned by the privileged process alone, with CAP_NET_ADMIN; nothing is
 * remembered here.
 */
#ifndef AGENT_TAP_WIRELESS_H
#define AGENT_TAP_WIRELESS_H

#include <stddef.h>

/* IEEE 802.11's numbers: 1 to 14 at 2.4 GHz, the others at 5 GHz (from 183 on, 4.9 GHz). */
#define CHANNEL_MIN 1
#define CHANNEL_MAX 196

/* The only one; sandbox.c allows it by its number. */
#define WIRELESS_SET_CHANNEL 0x8b04 /* SIOCSIWFREQ */

/* Returns 0, or -errno; then the radio is where it was. */
int wireless_set_channel(const char *interface, int channel);
/* What such an error means, and what helps. */
const char *wireless_reason(int err);

#endif
