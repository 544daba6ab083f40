/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rogue access points: new ones, new ones of a known name, and two that are one by their address.
 * What the module (rogueap.bpf.c) and its consumer (rogueap.c) have in common. Host byte order,
 * fixed widths, explicit padding.
 *
 * What is on the air during the first ROGUEAP_LEARN_S seconds is there by right, and nothing is
 * said of it but where two access points have one address. Two of them show by beacons that differ
 * and come by turns: in channel, interval, privacy or name; whose clock (TSF) goes back; whose
 * numbers go back while the clock goes on. An access point that starts again or takes another
 * channel does so once, so ROGUEAP_TURNS within ROGUEAP_WINDOW_S are asked for. Clone and original
 * may have all of this alike, and then look like one.
 *
 * A name is known by its bytes as the policy shows them, hashed or not, or, where it is hidden, not
 * at all, until a probe response has it.
 */
#ifndef BPF_MODULES_ROGUEAP_ROGUEAP_H
#define BPF_MODULES_ROGUEAP_ROGUEAP_H

#include <linux/types.h>

#ifndef ROGUEAP_LEARN_S
#define ROGUEAP_LEARN_S 60
#endif
#define ROGUEAP_WINDOW_S 30
#define ROGUEAP_TURNS 3	    /* back to what was before, */
#define ROGUEAP_BACK 4	    /* back in time, */
#define ROGUEAP_BACKWARDS 6 /* or in number */
#define ROGUEAP_AGAIN_S 60  /* while it goes on it is told so often */
#define ROGUEAP_NAMES 4	    /* probe responses with so many names have an answer to all */
/* With so many new addresses in a second they are not told one by one. */
#define ROGUEAP_FLOOD 20
#define ROGUEAP_BSSIDS 2048
#define ROGUEAP_NETWORKS 1024

enum {
	ROGUEAP_NEW = 1,     /* an address that was not there; its name neither, or it is hidden */
	ROGUEAP_KNOWN_NAME,  /* an address that was not there, with a name that was */
	ROGUEAP_TWO,	     /* two have one address: see `differs` */
	ROGUEAP_REVEALED,    /* the name of a hidden one */
	ROGUEAP_ANY_NAME,    /* one that answers to any name it is asked for */
	ROGUEAP_BEACON_FLOOD /* more new ones than are told of, in a second */
};

/* By what two differ. */
enum {
	ROGUEAP_CHANNEL = 1 << 0,
	ROGUEAP_INTERVAL = 1 << 1,
	ROGUEAP_PRIVACY = 1 << 2, /* or kind: capability bits below */
	ROGUEAP_SSID = 1 << 3,
	ROGUEAP_TSF = 1 << 4,	  /* the clock goes back */
	ROGUEAP_SEQUENCE = 1 << 5 /* numbers go back */
};

#define ROGUEAP_CAPABILITY 0x0013 /* ESS, IBSS, privacy: those that stay */

struct rogueap_event {
	__u8 kind, differs; /* ROGUEAP_ */
	__u8 bssid[6];
	__u16 mhz; /* where it was heard; 0: not known */
	__u8 channel, other_channel;
	__u16 interval, other_interval;
	__u8 privacy, other_privacy; /* 1: encrypted; the other's: of KNOWN_NAME the network's */
	__s8 signal_dbm;
	__u8 ssid_len; /* 0: hidden */
	__u32 count;   /* TWO: turns; ANY_NAME: names; BEACON_FLOOD: new ones in that second */
	__u8 ssid[32];
};
_Static_assert(sizeof(struct rogueap_event) == 56, "of module and consumer alike");

/* Map `totals`, one entry. */
struct rogueap_totals {
	__u64 begin_ns; /* CLOCK_MONOTONIC: the first frame of all */
	__u64 beacons, responses;
	__u64 malformed; /* without the fixed fields, or received wrong: in no other counter */
	__u64 bssids, networks;	 /* ever seen new, those of the learning time included */
	__u64 hidden;		 /* of the addresses */
	__u64 flooded;		 /* new ones not told of */
	__u64 second, in_second; /* the present one, since begin_ns, and new ones in it */
};

#endif
