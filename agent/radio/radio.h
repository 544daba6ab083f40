/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The radio behind an interface. In: an interface and a channel. Out: it listens there. By nl80211,
 * or where that is missing by wireless extensions, which know channels of 20 MHz alone. Interfaces
 * of one radio are on one channel, that which was set last: so who has set all of them asks again.
 * Always holds: only the privileged process gets here, for it takes CAP_NET_ADMIN; what a radio
 * needs to tune is open from the start (sandbox.c), and a switch takes one request.
 */
#ifndef AGENT_RADIO_RADIO_H
#define AGENT_RADIO_RADIO_H

#include "wire/channel.h"

#define RADIO_CHANNELS_MAX 160 /* 20 MHz channels of all bands: 14, 28, 4.9 GHz, 60 */

struct radio; /* of one interface */

/* Returns the radio, also where the interface has none or is not there yet: then asking it fails.
 * NULL: no memory, or no socket. `interface` must last as long. */
struct radio *radio_open(const char *interface);
/* Returns 0, or -errno; then the radio is where it was. */
int radio_tune(struct radio *r, const struct radio_channel *to);
/* The interface may be another one of its name. Takes NULL too. */
void radio_forget(struct radio *r);
/* Where it is now. Returns 0, or -errno: -EOPNOTSUPP where the driver does not tell. */
int radio_where(struct radio *r, struct radio_channel *now);
/* The channels of 20 MHz on which it may listen, at most `max`. Returns how many, or -errno. */
int radio_channels(struct radio *r, struct radio_channel *out, unsigned int max);
/* What such an error means, and what helps. */
const char *radio_reason(int err);
void radio_close(struct radio *r); /* takes NULL too */

#endif
