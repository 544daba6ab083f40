/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTT: what the module (rtt.bpf.c) and its consumer (rtt.c) have in common. Numbers have the byte
 * order of the sensor, addresses are as on the wire, or as the policy shows them.
 *
 * A tap somewhere on the way sees a round trip as two halves: from the SYN to the SYN/ACK that
 * answers it, which is the way from the tap to the server and back, and from the SYN/ACK to the
 * ACK, which is that to the client and back. The whole is their sum (H. Jiang, C. Dovrolis,
 * "Passive Estimation of TCP Round-Trip Times", 2002).
 */
#ifndef BPF_MODULES_RTT_RTT_H
#define BPF_MODULES_RTT_RTT_H

#include <linux/types.h>

/* Why a half is not measured, and what became of the connection. */
enum {
	RTT_SYN_AGAIN = 1 << 0,	    /* which SYN was answered is not known (Karn's rule) */
	RTT_SYN_ACK_AGAIN = 1 << 1, /* nor which SYN/ACK */
	RTT_REFUSED = 1 << 2,	    /* a RST was the answer to the SYN: the server's half counts */
	RTT_RESET = 1 << 3,	    /* it ended before the ACK */
	RTT_LATE_ACK = 1 << 4,	    /* the ACK came with data or further data's: time had passed */
	RTT_BOTH_OPEN = 1 << 5,	    /* a SYN from either side: nobody owes the other an ACK */
};

/* One a connection, when the ACK has come or it has ended before. */
struct rtt_event {
	__u8 client[16], server[16]; /* of IPv4 the first 4 bytes */
	__u16 client_port, server_port;
	__u8 ip_version; /* 4 or 6 */
	__u8 flags;	 /* RTT_ */
	__u16 pad;
	__u64 server_ns, client_ns; /* halves; 0: not measured */
};
_Static_assert(sizeof(struct rtt_event) == 56, "events are at most 64 bytes");

/* ---- histogram ------------------------------------------------------------------------------- */

enum rtt_kind { RTT_WHOLE, RTT_SERVER, RTT_CLIENT, RTT_KINDS };

/* Buckets of equal width on a scale of logarithms, eight an octave nearly so: the 3 bits behind the
 * first that is set. The first has all below 1 us, the last all from 68 s on. */
#define RTT_BUCKETS_OCTAVE 8
#define RTT_OCTAVE_FIRST 10 /* 2^10 ns */
#define RTT_OCTAVE_LAST 36
#define RTT_BUCKETS ((RTT_OCTAVE_LAST - RTT_OCTAVE_FIRST) * RTT_BUCKETS_OCTAVE + 2)

/* The map `histogram`, of each CPU: the count of bucket b of kind k is at k * RTT_BUCKETS + b. */
#define RTT_HISTOGRAM (RTT_KINDS * RTT_BUCKETS)

/* Without a branch: the verifier would follow each. */
static inline __u32 rtt_log2(__u64 n)
{
	n |= n >> 1;
	n |= n >> 2;
	n |= n >> 4;
	n |= n >> 8;
	n |= n >> 16;
	n |= n >> 32; /* and now how many are set below the highest */
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

/* Where a bucket begins. */
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
