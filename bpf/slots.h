/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the programs behind the capture: first that which runs modules, then they
 * (saluki/slots.h). Empty until the first is loaded: a tail call leads nowhere then, and costs a
 * jump.
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
