/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the programs that run after the capture. The first runs the modules, the others are the
 * modules (saluki/slots.h). Without modules the table is empty, and the tail call costs a jump.
 */
#ifndef SALUKI_BPF_SLOTS_H
#define SALUKI_BPF_SLOTS_H

#include <saluki/slots.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, SALUKI_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} saluki_slots SEC(".maps");

#endif
