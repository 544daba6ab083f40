/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Air time: how long each station was on the air, and how often it had to send again. What the
 * module (airtime.bpf.c) and its consumer (airtime.c) have in common. Host byte order, fixed
 * widths, explicit padding.
 *
 * A frame's time is that of IEEE 802.11-2020, TXTIME: the preamble and headers of its PHY, then
 * whole symbols; where frames are sent as one (A-MPDU) the first has the preamble. No gap between
 * frames and no acknowledgement is in it; those are frames of their own. Where the header does not
 * say how a frame was sent, it is counted as of unknown time, and has none here.
 */
#ifndef BPF_MODULES_AIRTIME_AIRTIME_H
#define BPF_MODULES_AIRTIME_AIRTIME_H

#include <linux/types.h>

#include <saluki/module.h>

#ifndef AIRTIME_TELL_MS
#define AIRTIME_TELL_MS 10000 /* of a station that sends it is told so often, */
#endif
#define AIRTIME_FIRST_MS 1000 /* first so soon */
#define AIRTIME_STATIONS 4096
#define AIRTIME_CHANNELS 256
#define AIRTIME_AMPDU_MS 6 /* no A-MPDU is longer (aPPDUMaxTime: 5.484 ms) */

/* Of a transmitter (map `stations`) or a frequency (map `channels`), since begin_ns. */
struct airtime {
	__u64 begin_ns, last_ns; /* CLOCK_MONOTONIC: its first and last frame */
	__u64 told_ns;
	__u64 frames;
	__u64 unicast; /* management and data to one station: those that are sent again */
	__u64 retries; /* of these, with the retry bit */
	__u64 bytes;   /* on the air, FCS included */
	__u64 unknown; /* frames of unknown time */
	__u64 air_ns;  /* of all others */
	__u16 mhz;     /* where it was last; 0: not known */
	__s8 signal_dbm;
	__u8 pad[5];
};
_Static_assert(sizeof(struct airtime) == 80, "of module and consumer alike");

/* All zero: frames without a transmitter, acknowledgements and clear to send. */
struct airtime_station {
	__u8 addr[6];
	__u16 pad;
};

/* What it says of a station: since its first frame. */
struct airtime_event {
	__u8 addr[6];
	__u16 mhz;
	__u32 began; /* of which time it is: another number, and all is counted anew */
	__u32 lasted_ms;
	__u64 frames, unicast, retries, bytes, air_ns;
	__u32 unknown;
	__s8 signal_dbm;
	__u8 pad[3];
};
_Static_assert(sizeof(struct airtime_event) == 64, "no event is longer");

/* Nanoseconds that `bits` of frames take, behind the preamble. A rate is there. */
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

/* Bits of a frame that comes in an A-MPDU, as those of VHT and HE do even alone. */
static inline __u64 airtime_bits(const struct frame_view *v)
{
	if (v->is_ampdu)
		return (((__u64)v->mpdu_len + 3) / 4 * 4 + AIRTIME_DELIMITER) * 8;
	return ((__u64)v->mpdu_len + (v->phy >= VIEW_PHY_VHT ? AIRTIME_DELIMITER : 0)) * 8;
}

#endif
