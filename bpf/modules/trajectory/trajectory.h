/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trajectory: what its two halves have in common. Numbers are of the sensor's byte order, addresses
 * as the sensor's policy shows them.
 *
 * After Duffield and Grossglauser, "Trajectory Sampling for Direct Traffic Observation" (IEEE/ACM
 * Transactions on Networking 9(3), 2001), and FLAME's module of that name: every sensor looks at
 * the same packets, for it chooses them by what does not change of them on the way.
 */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_H

#include <linux/types.h>

/* h(x) = label mod 2^32 is less than this for a packet that is looked at: one in 100. What a lower
 * rate chooses, a higher one does, too. */
#define TRAJECTORY_BELOW 42949673U

/* The one entry of the map `settings`: saluki module fill. */
struct trajectory_settings {
	__u32 below; /* 0: TRAJECTORY_BELOW */
	__u32 pad;
};

/* An event ends in front of `saddr` but for a flow's first packet, and now and then another of a
 * long one: events may be lost. */
#define TRAJECTORY_SHORT 32
#define TRAJECTORY_ADDRESSES_EACH 64 /* packets of a flow, a power of two */

struct trajectory_event {
	__u64 label; /* of the packet */
	__u64 flow;  /* of its addresses, ports and protocol */
	__u32 below; /* the sensor's rate: what it does not say of others it did not look for */
	__u32 len;   /* bytes of the IP packet */
	__u16 sport, dport;
	__u8 ip_version, ip_protocol, ttl, tos;
	__u8 saddr[16], daddr[16];
};
_Static_assert(__builtin_offsetof(struct trajectory_event, saddr) == TRAJECTORY_SHORT, "an event");
_Static_assert(sizeof(struct trajectory_event) == 64, "an event");

#endif
