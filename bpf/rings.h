/* SPDX-License-Identifier: GPL-2.0 */
/* Rings: the maps that records go into, shared by the capture and the program that runs modules. */
#ifndef SALUKI_BPF_RINGS_H
#define SALUKI_BPF_RINGS_H

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024); /* set by the loader */
} saluki_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: CPUs with a ring */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, SALUKI_MAPPED_EXTRA); /* and `mapped_size`, added by the loader */
} saluki_mapped SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct saluki_wakeup);
} saluki_wakeup SEC(".maps");

#endif
