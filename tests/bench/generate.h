/* SPDX-License-Identifier: GPL-2.0 */
/* What the generator's BPF program and its loader share. */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

#define GENERATE_FRAME_MAX 1514
#define GENERATE_DIRECT_MAX 256
#define GENERATE_NUMBER_AT 6 /* 4 bytes, this machine's order */
#define GENERATE_BATCH                                                                             \
	64 /* frames from one look at the clock to the next, and the kernel's batch */

/* One frame to send. They lie one behind the other, each filled up to 8 bytes, so that the
 * processor sees ahead what will be read. */
struct generate_frame {
	__u32 len;
	__u32 pad;
	__u8 bytes[];
};
#define GENERATE_STRIDE(len) ((sizeof(struct generate_frame) + (len) + 7) & ~7U)

#endif
