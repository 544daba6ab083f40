/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Radio: tunes the radio of an interface. In: an interface and a channel. Out: the radio listens
 * there. Uses nl80211, or if it is missing wireless extensions, which have only 20 MHz channels.
 * All interfaces of a radio share the channel set last, so after setting several, callers query
 * them again. Always holds: only the privileged process uses this, as it needs CAP_NET_ADMIN. All
 * descriptors are opened at the start (sandbox.c), and a switch is one request.
 */
#ifndef AGENT_RADIO_RADIO_H
#define AGENT_RADIO_RADIO_H

#include "wire/channel.h"

#define RADIO_CHANNELS_MAX 160 /* 20 MHz channels of all bands: 14, 28, 4.9 GHz, 60 */

struct radio; /* of one interface */

/* Returns the radio, also if the interface has none or does not exist yet: then calls fail. NULL:
 * no memory, or no socket. `interface` must outlive it. */
struct radio *radio_open(const char *interface);
/* Tunes. Returns 0, or -errno: then the radio keeps its channel. */
int radio_tune(struct radio *r, const struct radio_channel *to);
/* The interface may have been replaced by another one of its name. Accepts NULL. */
void radio_forget(struct radio *r);
/* Queries the current channel. Returns 0, or -errno: -EOPNOTSUPP if the driver does not report
 * it. */
int radio_where(struct radio *r, struct radio_channel *now);
/* Lists the 20 MHz channels on which it may listen, at most `max`. Returns their number, or
 * -errno. */
int radio_channels(struct radio *r, struct radio_channel *out, unsigned int max);
/* Explains such an error, with the remedy. */
const char *radio_reason(int err);
void radio_close(struct radio *r); /* accepts NULL */

#endif
