/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fields of a captured frame that a table of frames needs. dissect.h fills them.
 *
 * Always holds: a field comes from bytes of the frame, or is absent. An address or SSID that is
 * absent is NULL. A number is absent if its bit in `has` is clear; its value is then 0. A field
 * is absent if this kind of frame lacks it, if the frame was cut before or inside it, or if the
 * header before it is malformed.
 *
 * Sources: IEEE 802.11-2020 clause 9, IEEE 802.11ax-2021, radiotap.org; dissect/radio.h for the
 * other capture headers.
 */
#ifndef DISSECT_DISSECTION_H
#define DISSECT_DISSECTION_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of `has`. */
enum {
	DISSECT_FREQUENCY = 1 << 0,
	DISSECT_SIGNAL = 1 << 1,
	DISSECT_NOISE = 1 << 2,
	DISSECT_RATE = 1 << 3,
	DISSECT_MCS = 1 << 4,
	DISSECT_STREAMS = 1 << 5,
	DISSECT_AIRTIME = 1 << 6,
	DISSECT_FCS = 1 << 7,  /* has_fcs, bad_fcs */
	DISSECT_TYPE = 1 << 8, /* type, subtype, flags */
	DISSECT_DURATION = 1 << 9,
	DISSECT_SEQUENCE = 1 << 10, /* sequence, fragment */
	DISSECT_ETHERTYPE = 1 << 11,
};

/* How a frame was sent. The numbers are those of VIEW_PHY_ (saluki/module.h). */
enum dissect_phy {
	DISSECT_PHY_UNKNOWN,
	DISSECT_PHY_DSSS, /* and CCK: 802.11b */
	DISSECT_PHY_OFDM, /* 802.11a and g */
	DISSECT_PHY_HT,	  /* 802.11n */
	DISSECT_PHY_VHT,  /* 802.11ac */
	DISSECT_PHY_HE,	  /* 802.11ax */
};

struct dissection {
	uint32_t has; /* DISSECT_ bits */

	/* From the capture header. The first value counts: later ones are of single antennas. */
	uint32_t rate_kbps;   /* HT, VHT, HE: computed. If the header lacks the guard interval, or
			       * with HT and VHT the bandwidth: 800 ns, 20 MHz */
	uint32_t airtime_ns;  /* preamble and headers of the PHY, then the frame with its FCS, as if
			       * it were sent alone: not in an A-MPDU with others (bpf/view_phy.h) */
	uint16_t frequency;   /* MHz: middle of the primary channel */
	int8_t signal, noise; /* dBm */
	uint8_t phy;	      /* enum dissect_phy */
	uint8_t mcs;	      /* HT: 0 to 76, with the number of streams; VHT, HE and at 60 GHz:
			       * without */
	uint8_t streams;      /* spatial streams; VHT: of the first user */
	bool has_fcs, bad_fcs; /* the frame ends with its FCS; the FCS was wrong */

	/* From the 802.11 header. Frames of a later protocol version have none of these fields. */
	uint8_t type;	     /* 0 management, 1 control, 2 data, 3 extension */
	uint8_t subtype;     /* 4 bits */
	uint8_t flags;	     /* second byte of frame control */
	uint8_t fragment;    /* 4 bits */
	uint16_t sequence;   /* 12 bits; absent in control and extension frames */
	uint16_t duration;   /* us, 15 bits; absent in a PS-Poll, which has an AID in its place.
			      * If bit 15 is set, the value is reserved, and no time */
	uint16_t mac_offset; /* of the 802.11 header */

	/* Of the innermost header with one, as modules see it: after VLAN tags, MPLS labels, LLC
	 * with SNAP (of the first subframe of an A-MSDU). MPLS has none: IP by its first nibble, or
	 * MPLS's own. */
	uint16_t ethertype;

	/* Pointers to 6 bytes in the frame. Ethernet: source and destination alone. An A-MSDU's
	 * source and destination are those of its first subframe, where the header lacks them. */
	const uint8_t *receiver, *transmitter, *bssid, *source, *destination;
	const uint8_t *second_bssid; /* of an A-MSDU with four addresses: address 4 */

	/* From the first SSID element of a beacon, probe or association request. `ssid_len` bytes,
	 * at most 32, of any values. A hidden SSID is present, with length 0. */
	const uint8_t *ssid;
	uint8_t ssid_len;

	/* Offset after the last header that `--keep headers` keeps, at most the bytes kept
	 * (bpf/parse.h). Where the whole frame is kept: all bytes. */
	uint32_t headers_end;
};

#endif
