/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LRD: shared by the module (lrd.bpf.c) and its consumer (lrd.c). Numbers have the sensor's byte
 * order.
 *
 * A link's traffic is a series: bytes, or packets, in successive intervals of LRD_INTERVAL_NS. At
 * octave j a wavelet 2^j intervals wide gives the series' details. The module keeps their number
 * and the sum of their squares. The consumer computes the Hurst parameter from the growth of these
 * energies from octave to octave (lrd_estimate.h).
 */
#ifndef BPF_MODULES_LRD_LRD_H
#define BPF_MODULES_LRD_LRD_H

#include <linux/types.h>

#ifndef LRD_INTERVAL_NS
#define LRD_INTERVAL_NS 1000000ULL
#endif
#define LRD_OCTAVES 20 /* 2^20 ms are 17 minutes */

enum lrd_what { LRD_BYTES, LRD_PACKETS, LRD_WHATS };
#define LRD_DIRECTIONS 2 /* in, out */
#define LRD_SERIES (LRD_DIRECTIONS * LRD_WHATS)

/* An octave's energy: `sum` * 4^shift is the sum of the squares of `count` details. A detail has
 * the series' unit and is not normalised: see lrd.bpf.c. */
struct lrd_energy {
	__u64 count;
	__u64 sum;
	__u32 shift;
	__u32 pad;
};
_Static_assert(sizeof(struct lrd_energy) == 24, "no holes");

/* One event per LRD_SAY intervals with frames, for one octave of one series, in turn. Values count
 * from the module's load, so the next event for the same octave makes up for a lost one. */
#define LRD_SAY 32
struct lrd_event {
	__u64 interval_ns;
	__u64 intervals; /* so far */
	__u64 begin_ns;	 /* CLOCK_MONOTONIC, first interval; identifies the series */
	__u8 direction;	 /* 1 in, 2 out */
	__u8 what;	 /* LRD_BYTES, LRD_PACKETS */
	__u8 octave;	 /* 1 to LRD_OCTAVES */
	__u8 pad[5];
	struct lrd_energy energy;
};
_Static_assert(sizeof(struct lrd_event) == 56, "events are at most 64 bytes");

/* ---- the map, for readers ---------------------------------------- */

/* An octave's state: the unpaired sum of the octave below, and the last two pairs. */
struct lrd_octave {
	struct lrd_energy energy;
	__u64 left; /* the first of a pair */
	__u64 sum_before;
	__u64 sum_last;
	__s64 difference_last;
	__u64 pairs;
	__u64 has_left;
};

/* The map `series`: one direction, with the octaves of both series. */
struct lrd_series {
	__u64 begin_ns, end_ns; /* of the first and the current interval; 0: none yet */
	__u64 intervals;	/* finished intervals */
	__u64 now;		/* current interval: packets in the high bits, bytes in the low */
	__u32 busy;		/* locked by a CPU */
	__u32 said;		/* octave and series of the last event */
	__u64 unsaid;		/* intervals since that event */
	struct lrd_octave octaves[LRD_WHATS * LRD_OCTAVES]; /* first series, then second */
};

/* `now` has 24 bits of packets and 40 bits of bytes. No interval has more than 16 M packets or 1
 * TB. */
#define LRD_NOW_PACKET (1ULL << 40)

#endif
