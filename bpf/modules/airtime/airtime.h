/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Airtime: how long each station used the air, and how often it retransmitted. Shared by the module
 * (airtime.bpf.c) and its consumer (airtime.c). Host byte order, fixed widths, explicit padding.
 *
 * A frame's airtime is TXTIME of IEEE 802.11-2020: the PHY's preamble and headers, then whole
 * symbols. In an A-MPDU, the first frame has the preamble. Gaps between frames are not counted, and
 * an acknowledgement is a frame of its own. If the header lacks the rate, the frame counts as
 * `unknown`, with no airtime.
 */
#ifndef BPF_MODULES_AIRTIME_AIRTIME_H
#define BPF_MODULES_AIRTIME_AIRTIME_H

#include <linux/types.h>

#include <saluki/module.h>

#ifndef AIRTIME_TELL_MS
#define AIRTIME_TELL_MS 10000 /* interval of an active station's events */
#endif
#define AIRTIME_FIRST_MS 1000 /* until its first event */
#define AIRTIME_STATIONS 4096
#define AIRTIME_CHANNELS 256
#define AIRTIME_AMPDU_MS 6 /* no A-MPDU is longer (aPPDUMaxTime: 5.484 ms) */

/* The value of a transmitter (map `stations`) or a frequency (map `channels`), since begin_ns. */
struct airtime {
	__u64 begin_ns, last_ns; /* CLOCK_MONOTONIC: its first and last frame */
	__u64 told_ns;
	__u64 frames;
	__u64 unicast; /* management and data to one station, which can be retransmitted */
	__u64 retries; /* of these, with the retry bit */
	__u64 bytes;   /* on the air, FCS included */
	__u64 unknown; /* frames of unknown time */
	__u64 air_ns;  /* of all other frames */
	__u16 mhz;     /* its last frequency; 0: not known */
	__s8 signal_dbm;
	__u8 pad[5];
};
_Static_assert(sizeof(struct airtime) == 80, "of module and consumer alike");

/* The key of all zeros counts frames without a transmitter: ACK and CTS. */
struct airtime_station {
	__u8 addr[6];
	__u16 pad;
};

/* The event: a station's counts since its first frame. */
struct airtime_event {
	__u8 addr[6];
	__u16 mhz;
	__u32 began; /* changes when the counts start again at 0 */
	__u32 lasted_ms;
	__u64 frames, unicast, retries, bytes, air_ns;
	__u32 unknown;
	__s8 signal_dbm;
	__u8 pad[3];
};
_Static_assert(sizeof(struct airtime_event) == 64, "no event is longer");

/* Returns the ns that `bits` take after the preamble. The rate is known. */
static inline __u64 airtime_data_ns(const struct frame_view *v, __u64 bits)
{
	__u64 each, ns;

	if (!v->symbol_ns) /* 16.3.4: whole microseconds */
		return (bits * 1000 + v->rate_kbps - 1) / v->rate_kbps * 1000;
	each = ((__u64)v->rate_kbps * v->symbol_ns + 500000) / 1000000;
	if (!each)
		return 0;
	ns = (bits + v->tail_bits + each - 1) / each * v->symbol_ns;
	/* 19.4.3, 21.4.3: short guard intervals end with a long symbol's. */
	return v->phy == VIEW_PHY_HT || v->phy == VIEW_PHY_VHT ? (ns + 3999) / 4000 * 4000 : ns;
}

#define AIRTIME_DELIMITER 4

/* Bits of a frame in an A-MPDU. VHT and HE send even single frames as A-MPDUs. */
static inline __u64 airtime_bits(const struct frame_view *v)
{
	if (v->is_ampdu)
		return (((__u64)v->mpdu_len + 3) / 4 * 4 + AIRTIME_DELIMITER) * 8;
	return ((__u64)v->mpdu_len + (v->phy >= VIEW_PHY_VHT ? AIRTIME_DELIMITER : 0)) * 8;
}

#endif
