/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LRD: what the module (lrd.bpf.c) and its consumer (lrd.c) have in common. Numbers have the byte
 * order of the sensor.
 *
 * The traffic of a link is a series: bytes, or packets, in intervals of LRD_INTERVAL_NS, one behind
 * the other. At octave j that series is looked at through a wavelet 2^j intervals wide, and
 * what the module remembers is how many of its details there were and the sum of their squares; how
 * these grow from octave to octave is what the consumer makes the Hurst parameter of
 * (lrd_estimate.h).
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

/* Of an octave: `sum` * 4^shift is the sum of the squares of `count` details. A detail is of the
 * series' own unit, not divided by anything: see lrd.bpf.c. */
struct lrd_energy {
	__u64 count;
	__u64 sum;
	__u32 shift;
	__u32 pad;
};
_Static_assert(sizeof(struct lrd_energy) == 24, "no holes");

/* One each LRD_SAY intervals in which there was a frame, an octave of a series after the other. All
 * is of since the module was loaded: one that is lost is made good by the next of its kind. */
#define LRD_SAY 32
struct lrd_event {
	__u64 interval_ns;
	__u64 intervals; /* so far */
	__u64 begin_ns;	 /* CLOCK_MONOTONIC, of the first: series of another beginning are others */
	__u8 direction;	 /* 1 in, 2 out */
	__u8 what;	 /* LRD_BYTES, LRD_PACKETS */
	__u8 octave;	 /* 1 to LRD_OCTAVES */
	__u8 pad[5];
	struct lrd_energy energy;
};
_Static_assert(sizeof(struct lrd_event) == 56, "events are at most 64 bytes");

/* ---- what the module remembers, for who reads its map ---------------------------------------- */

/* Of an octave: what of the octave below is not a pair yet, and the last two pairs. */
struct lrd_octave {
	struct lrd_energy energy;
	__u64 left; /* the first of a pair */
	__u64 sum_before;
	__u64 sum_last;
	__s64 difference_last;
	__u64 pairs;
	__u64 has_left;
};

/* The map `series`: of a direction, the octaves of both series. */
struct lrd_series {
	__u64 begin_ns, end_ns; /* of the first interval, and of the present one; 0: none yet */
	__u64 intervals;	/* that have ended */
	__u64 now;		/* of the present one: packets, and below them bytes */
	__u32 busy;		/* a CPU is at it */
	__u32 said;		/* which octave of which series was said last */
	__u64 unsaid;		/* intervals since */
	struct lrd_octave octaves[LRD_WHATS * LRD_OCTAVES]; /* those of one, then the other's */
};

/* In `now`: 24 bits of packets, 40 bits of bytes. More than 16 M packets or 1 TB in an interval
 * there are not. */
#define LRD_NOW_PACKET (1ULL << 40)

#endif
