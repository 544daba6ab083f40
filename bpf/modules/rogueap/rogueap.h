/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rogue access points: new ones, new ones with a known name, and two that share one address. Shared
 * by the module (rogueap.bpf.c) and its consumer (rogueap.c). Host byte order, fixed widths,
 * explicit padding.
 *
 * Access points heard during the first ROGUEAP_LEARN_S seconds are taken as legitimate, and not
 * reported as new. Two access points with one address show in three ways. Their beacons alternate
 * between two channels, intervals, privacy settings or names. The clock (TSF) goes back. Sequence
 * numbers go back while the clock goes on. An access point that restarts or changes its channel
 * does so once, so a report needs ROGUEAP_TURNS changes within ROGUEAP_WINDOW_S. A clone that
 * matches the original in all of this is not found.
 *
 * Names are compared as the policy shows them, hashed or not. A hidden name is unknown until a
 * probe response contains it.
 */
#ifndef BPF_MODULES_ROGUEAP_ROGUEAP_H
#define BPF_MODULES_ROGUEAP_ROGUEAP_H

#include <linux/types.h>

#ifndef ROGUEAP_LEARN_S
#define ROGUEAP_LEARN_S 60
#endif
#define ROGUEAP_WINDOW_S 30
#define ROGUEAP_TURNS 3	    /* changes back to an earlier value, */
#define ROGUEAP_BACK 4	    /* or clock steps back, */
#define ROGUEAP_BACKWARDS 6 /* or sequence numbers back */
#define ROGUEAP_AGAIN_S 60  /* interval of reports while it lasts */
#define ROGUEAP_NAMES 4	    /* an access point with so many names answers to any */
/* With more new addresses per second, they are not reported one by one. */
#define ROGUEAP_FLOOD 20
#define ROGUEAP_BSSIDS 2048
#define ROGUEAP_NETWORKS 1024

enum {
	ROGUEAP_NEW = 1,     /* new address; new or hidden name */
	ROGUEAP_KNOWN_NAME,  /* new address with a known name */
	ROGUEAP_TWO,	     /* two share one address: see `differs` */
	ROGUEAP_REVEALED,    /* name of a hidden network */
	ROGUEAP_ANY_NAME,    /* answers to any name in a probe request */
	ROGUEAP_BEACON_FLOOD /* more new ones in a second than the limit */
};

/* Fields in which two differ. */
enum {
	ROGUEAP_CHANNEL = 1 << 0,
	ROGUEAP_INTERVAL = 1 << 1,
	ROGUEAP_PRIVACY = 1 << 2, /* or type: capability bits below */
	ROGUEAP_SSID = 1 << 3,
	ROGUEAP_TSF = 1 << 4,	  /* clock goes back */
	ROGUEAP_SEQUENCE = 1 << 5 /* numbers go back */
};

#define ROGUEAP_CAPABILITY 0x0013 /* ESS, IBSS, privacy: the constant bits */

struct rogueap_event {
	__u8 kind, differs; /* ROGUEAP_ */
	__u8 bssid[6];
	__u16 mhz; /* frequency; 0: not known */
	__u8 channel, other_channel;
	__u16 interval, other_interval;
	__u8 privacy, other_privacy; /* 1: encrypted; KNOWN_NAME: the other is the network's */
	__s8 signal_dbm;
	__u8 ssid_len; /* 0: hidden */
	__u32 count;   /* TWO: changes; ANY_NAME: names; BEACON_FLOOD: new ones in the second */
	__u8 ssid[32];
};
_Static_assert(sizeof(struct rogueap_event) == 56, "of module and consumer alike");

/* Map `totals`, one entry. */
struct rogueap_totals {
	__u64 begin_ns; /* CLOCK_MONOTONIC: the first frame */
	__u64 beacons, responses;
	__u64 malformed;	 /* too short or wrong FCS: in no other counter */
	__u64 bssids, networks;	 /* seen, including the learning time */
	__u64 hidden;		 /* of the bssids */
	__u64 flooded;		 /* new ones not reported */
	__u64 second, in_second; /* current second since begin_ns, and new ones in it */
};

#endif
