/* SPDX-License-Identifier: GPL-2.0 */
/* What feed.bpf.c and the programs that it is run by share. */
#ifndef BENCH_MODULES_COST_H
#define BENCH_MODULES_COST_H

#define FEED_BYTES 256 /* of a frame: snaplen, headers and payload that views have */

struct feed_frame {
	__u32 len;
	__u32 pad;
	__u8 bytes[FEED_BYTES];
};

#endif
