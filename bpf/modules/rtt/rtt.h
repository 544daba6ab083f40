/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTT: shared by the module (rtt.bpf.c) and its consumer (rtt.c). Numbers have the sensor's byte
 * order. Addresses are as on the wire, or as the policy shows them.
 *
 * A tap between client and server sees a round trip as two halves. From the SYN to the SYN/ACK is
 * the way to the server and back. From the SYN/ACK to the ACK is the way to the client and back.
 * The round trip is their sum (H. Jiang, C. Dovrolis, "Passive Estimation of TCP Round-Trip Times",
 * 2002).
 */
#ifndef BPF_MODULES_RTT_RTT_H
#define BPF_MODULES_RTT_RTT_H

#include <linux/types.h>

/* Why a half is not measured, and how the connection ended. */
enum {
	RTT_SYN_AGAIN = 1 << 0,	    /* repeated SYN: which one was answered? (Karn's rule) */
	RTT_SYN_ACK_AGAIN = 1 << 1, /* repeated SYN/ACK */
	RTT_REFUSED = 1 << 2,	    /* a RST answered the SYN: the server's half counts */
	RTT_RESET = 1 << 3,	    /* it ended before the ACK */
	RTT_LATE_ACK = 1 << 4,	    /* the ACK came with data, or acknowledged more: it waited */
	RTT_BOTH_OPEN = 1 << 5,	    /* simultaneous open: SYNs from both sides */
};

/* One event per connection, at the ACK or at an earlier end. */
struct rtt_event {
	__u8 client[16], server[16]; /* IPv4: the first 4 bytes */
	__u16 client_port, server_port;
	__u8 ip_version; /* 4 or 6 */
	__u8 flags;	 /* RTT_ */
	__u16 pad;
	__u64 server_ns, client_ns; /* halves; 0: not measured */
};
_Static_assert(sizeof(struct rtt_event) == 56, "events are at most 64 bytes");

/* ---- histogram ------------------------------------------------------------------------------- */

enum rtt_kind { RTT_WHOLE, RTT_SERVER, RTT_CLIENT, RTT_KINDS };

/* Buckets on a logarithmic scale, eight per octave: the 3 bits after the highest bit that is set.
 * The first bucket has all below 1 us, the last all from 68 s on. */
#define RTT_BUCKETS_OCTAVE 8
#define RTT_OCTAVE_FIRST 10 /* 2^10 ns */
#define RTT_OCTAVE_LAST 36
#define RTT_BUCKETS ((RTT_OCTAVE_LAST - RTT_OCTAVE_FIRST) * RTT_BUCKETS_OCTAVE + 2)

/* The map `histogram`, per CPU: the count of bucket b of kind k is at k * RTT_BUCKETS + b. */
#define RTT_HISTOGRAM (RTT_KINDS * RTT_BUCKETS)

/* Without branches, as the verifier would follow each. */
static inline __u32 rtt_log2(__u64 n)
{
	n |= n >> 1;
	n |= n >> 2;
	n |= n >> 4;
	n |= n >> 8;
	n |= n >> 16;
	n |= n >> 32; /* count the bits below the highest */
	n -= n >> 1 & 0x5555555555555555ULL;
	n = (n & 0x3333333333333333ULL) + (n >> 2 & 0x3333333333333333ULL);
	n = (n + (n >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (n * 0x0101010101010101ULL >> 56) - 1;
}

static inline __u32 rtt_bucket(__u64 ns)
{
	__u32 octave = rtt_log2(ns | 1);

	if (octave < RTT_OCTAVE_FIRST)
		return 0;
	if (octave >= RTT_OCTAVE_LAST)
		return RTT_BUCKETS - 1;
	return 1 + (octave - RTT_OCTAVE_FIRST) * RTT_BUCKETS_OCTAVE +
	       (ns >> (octave - 3) & (RTT_BUCKETS_OCTAVE - 1));
}

/* Returns a bucket's lower bound in ns. */
static inline __u64 rtt_bucket_ns(__u32 bucket)
{
	__u32 octave, part;

	if (!bucket)
		return 0;
	octave = (bucket - 1) / RTT_BUCKETS_OCTAVE + RTT_OCTAVE_FIRST;
	part = (bucket - 1) % RTT_BUCKETS_OCTAVE;
	return (__u64)(RTT_BUCKETS_OCTAVE + part) << (octave - 3);
}

#endif
