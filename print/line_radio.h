/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channel, signal and flags from a capture header: radiotap, Prism, AVS or PPI. Sources:
 * radiotap.org, linux-wlan-ng's p80211metadef.h, the AVS capture frame format 2.1, PPI 1.0.10.
 */
#ifndef PRINT_LINE_RADIO_H
#define PRINT_LINE_RADIO_H

#include <stdbool.h>

#include "bpf/parse_frame.h"
#include "text.h"

struct radio {
	unsigned int len;   /* bytes of the header */
	unsigned int mhz;   /* 0: not said */
	int signal_dbm;	    /* 0: not said */
	unsigned int flags; /* RADIOTAP_FCS, RADIOTAP_BAD_FCS, RADIOTAP_DATAPAD */
};

/* Reads the header of a frame of an 802.11 link type. Returns false if it is truncated or
 * malformed. */
bool radio_read(struct radio *r, struct frame *f, int linktype);
/* Appends channel and signal, each with a blank. */
void radio_line(struct text *t, const struct radio *r);

#endif
