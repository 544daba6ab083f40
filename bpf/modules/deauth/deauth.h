/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deauth: floods of deauthentication and disassociation frames. What the module (deauth.bpf.c) and
 * its consumer (deauth.c) have in common. Host byte order, fixed widths, explicit padding.
 *
 * Such frames are counted by whom they are for (all, too) and by the access point in whose name
 * they are, over the last DEAUTH_WINDOW_MS. What is no flood: stations that roam, an access point
 * that tells each of its stations, or all of them, a few times that it goes. So of those in an
 * access point's name only those count for whom there were DEAUTH_REPEATED already. Frames that are
 * protected (802.11w) nobody can forge: they are counted apart.
 */
#ifndef BPF_MODULES_DEAUTH_DEAUTH_H
#define BPF_MODULES_DEAUTH_DEAUTH_H

#include <linux/types.h>

#ifndef DEAUTH_WINDOW_MS
#define DEAUTH_WINDOW_MS 10000
#endif
#ifndef DEAUTH_TARGET
#define DEAUTH_TARGET 30 /* in the window for one of them, or for all, is a flood; */
#endif
#ifndef DEAUTH_BSSID
#define DEAUTH_BSSID 60 /* or in the name of one access point */
#endif
#define DEAUTH_REPEATED 8
/* It has ended when there was less than half of that for so long. */
#ifndef DEAUTH_QUIET_MS
#define DEAUTH_QUIET_MS 5000
#endif
#define DEAUTH_AGAIN_MS 10000 /* while it goes on it is told so often */
#define DEAUTH_FLOODS 16      /* at once */
#define DEAUTH_REASONS 68     /* IEEE 802.11-2020, table 9-49; the last: all others */

/* A sender's frames are numbered in their order. One that is so far from its last, DEAUTH_JUMP_MS
 * ago at most, may be somebody else's: a hint, for some cards number beacons by themselves. */
#define DEAUTH_JUMP 256
#define DEAUTH_JUMP_MS 500

enum { DEAUTH_BEGINS = 1, DEAUTH_GOES_ON, DEAUTH_ENDS };
enum { DEAUTH_BY_TARGET = 1, DEAUTH_BY_BSSID };

/* What it says. Addresses as the policy shows them, those of the flood's last frame. */
struct deauth_event {
	__u8 kind, by; /* DEAUTH_ */
	__u16 reason;  /* of the last frame; 0: none */
	__u8 bssid[6], source[6], target[6];
	__s8 signal_dbm; /* 0: not known */
	__u8 pad;
	__u32 recent;	 /* frames in the window */
	__u32 total;	 /* of this flood, */
	__u32 broadcast; /* of these to all, */
	__u32 jumps;	 /* and with a number that is not their sender's */
	__u32 lasted_ms;
};
_Static_assert(sizeof(struct deauth_event) == 44, "of module and consumer alike");

/* Map `state`, one entry, what is in front. */
struct deauth_totals {
	__u64 deauthentications, disassociations;
	__u64 broadcast; /* of these */
	__u64 retries;	 /* sent again by the card: in no other counter */
	__u64 jumps;
	__u64 protected;
	__u64 malformed; /* too short, or received wrong: in no other counter */
	__u64 floods;	 /* begun */
	__u64 untold;	 /* frames of floods beyond DEAUTH_FLOODS */
	__u64 reasons[DEAUTH_REASONS];
};

#endif
