/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by feed.bpf.c and the programs that run it. */
#ifndef BENCH_MODULES_COST_H
#define BENCH_MODULES_COST_H

#define FEED_BYTES 256 /* per frame: snaplen, headers and payload in views */

struct feed_frame {
	__u32 len;
	__u32 pad;
	__u8 bytes[FEED_BYTES];
};

#endif
