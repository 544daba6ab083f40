/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trajectory: shared by the module and its consumer. Numbers have the sensor's byte order.
 * Addresses are as the sensor's policy shows them.
 *
 * After Duffield and Grossglauser, "Trajectory Sampling for Direct Traffic Observation" (IEEE/ACM
 * Transactions on Networking 9(3), 2001), and FLAME's module of that name. All sensors sample the
 * same packets, since they choose by fields that do not change on the way.
 */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_H

#include <linux/types.h>

/* A packet is sampled if h(x) = label mod 2^32 is below this: one in 100. A higher rate includes
 * all packets of a lower rate. */
#define TRAJECTORY_BELOW 42949673U

/* The one entry of the map `settings`: saluki module fill. */
struct trajectory_settings {
	__u32 below; /* 0: TRAJECTORY_BELOW */
	__u32 pad;
};

/* An event ends before `saddr`, except for a flow's first packet and every
 * TRAJECTORY_ADDRESSES_EACH-th one, since events may be lost. */
#define TRAJECTORY_SHORT 32
#define TRAJECTORY_ADDRESSES_EACH 64 /* packets of a flow, a power of two */

struct trajectory_event {
	__u64 label; /* the packet's label */
	__u64 flow;  /* hash of addresses, ports and protocol */
	__u32 below; /* the sensor's rate: labels from here on are not sampled */
	__u32 len;   /* length of the IP packet in bytes */
	__u16 sport, dport;
	__u8 ip_version, ip_protocol, ttl, tos;
	__u8 saddr[16], daddr[16];
};
_Static_assert(__builtin_offsetof(struct trajectory_event, saddr) == TRAJECTORY_SHORT, "an event");
_Static_assert(sizeof(struct trajectory_event) == 64, "an event");

#endif
