/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wireless extensions: the ioctls by which Linux has tuned radios since long before nl80211, and
 * still does (CONFIG_CFG80211_WEXT). They know channels of 20 MHz alone. As in radio.h; nothing is
 * remembered here. `sock` is any socket.
 */
#ifndef AGENT_RADIO_WEXT_H
#define AGENT_RADIO_WEXT_H

#include "wire/channel.h"

/* -EPROTONOSUPPORT: the channel is not one of 20 MHz. */
int wext_tune(int sock, const char *interface, const struct radio_channel *to);
int wext_where(int sock, const char *interface, struct radio_channel *now);
int wext_channels(int sock, const char *interface, struct radio_channel *out, unsigned int max);

#endif
