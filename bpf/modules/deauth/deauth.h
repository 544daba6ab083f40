/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deauth: floods of deauthentication and disassociation frames. Shared by the module (deauth.bpf.c)
 * and its consumer (deauth.c). Host byte order, fixed widths, explicit padding.
 *
 * Frames are counted by destination (broadcast included) and by BSSID, over the last
 * DEAUTH_WINDOW_MS. Two things are not floods: stations that roam, and an access point that shuts
 * down and sends a few frames to each station or to all. So a BSSID's count includes only frames to
 * destinations with DEAUTH_REPEATED frames already. Protected frames (802.11w) cannot be forged,
 * and are counted apart.
 */
#ifndef BPF_MODULES_DEAUTH_DEAUTH_H
#define BPF_MODULES_DEAUTH_DEAUTH_H

#include <linux/types.h>

#ifndef DEAUTH_WINDOW_MS
#define DEAUTH_WINDOW_MS 10000
#endif
#ifndef DEAUTH_TARGET
#define DEAUTH_TARGET 30 /* frames to one destination in the window are a flood, */
#endif
#ifndef DEAUTH_BSSID
#define DEAUTH_BSSID 60 /* and so many of one BSSID */
#endif
#define DEAUTH_REPEATED 8
/* A flood ends when its count stays below half of that for this long. */
#ifndef DEAUTH_QUIET_MS
#define DEAUTH_QUIET_MS 5000
#endif
#define DEAUTH_AGAIN_MS 10000 /* interval of events during a flood */
#define DEAUTH_FLOODS 16      /* at once */
#define DEAUTH_REASONS 68     /* IEEE 802.11-2020, table 9-49; the last: all others */

/* A sender numbers its frames in order. If a frame's number is this far from the sender's last one,
 * DEAUTH_JUMP_MS ago at most, another machine may have sent it. It is only a hint, since some cards
 * number beacons separately. */
#define DEAUTH_JUMP 256
#define DEAUTH_JUMP_MS 500

enum { DEAUTH_BEGINS = 1, DEAUTH_GOES_ON, DEAUTH_ENDS };
enum { DEAUTH_BY_TARGET = 1, DEAUTH_BY_BSSID };

/* The event. Addresses are those of the flood's last frame, as the policy shows them. */
struct deauth_event {
	__u8 kind, by; /* DEAUTH_ */
	__u16 reason;  /* of the last frame; 0: none */
	__u8 bssid[6], source[6], target[6];
	__s8 signal_dbm; /* 0: not known */
	__u8 pad;
	__u32 recent;	 /* frames in the window */
	__u32 total;	 /* frames of this flood, */
	__u32 broadcast; /* of these, broadcast, */
	__u32 jumps;	 /* of these, with a sequence number out of order */
	__u32 lasted_ms;
};
_Static_assert(sizeof(struct deauth_event) == 44, "of module and consumer alike");

/* The beginning of the one entry of map `state`. */
struct deauth_totals {
	__u64 deauthentications, disassociations;
	__u64 broadcast; /* of these */
	__u64 retries;	 /* retransmissions: in no other counter */
	__u64 jumps;
	__u64 protected;
	__u64 malformed; /* too short or wrong FCS: in no other counter */
	__u64 floods;	 /* begun */
	__u64 untold;	 /* frames of floods beyond DEAUTH_FLOODS */
	__u64 reasons[DEAUTH_REASONS];
};

#endif
