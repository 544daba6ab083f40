/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the generator's BPF program and its loader. */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

#define GENERATE_FRAME_MAX 1514
#define GENERATE_DIRECT_MAX 256
#define GENERATE_NUMBER_AT 6 /* 4 bytes, host byte order */
#define GENERATE_BATCH 64    /* frames between two reads of the clock; the kernel's batch */

/* One frame to send. Frames are contiguous and padded to 8 bytes, so that the processor
 * prefetches. */
struct generate_frame {
	__u32 len;
	__u32 pad;
	__u8 bytes[];
};
#define GENERATE_STRIDE(len) ((sizeof(struct generate_frame) + (len) + 7) & ~7U)

#endif
