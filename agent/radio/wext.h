/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wireless extensions: ioctls for tuning radios, older than nl80211 and still in Linux
 * (CONFIG_CFG80211_WEXT). They have only 20 MHz channels. Functions as in radio.h, without state.
 * `sock` is any socket.
 */
#ifndef AGENT_RADIO_WEXT_H
#define AGENT_RADIO_WEXT_H

#include "wire/channel.h"

/* -EPROTONOSUPPORT: not a 20 MHz channel. */
int wext_tune(int sock, const char *interface, const struct radio_channel *to);
int wext_where(int sock, const char *interface, struct radio_channel *now);
int wext_channels(int sock, const char *interface, struct radio_channel *out, unsigned int max);

#endif
