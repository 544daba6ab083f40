// SPDX-License-Identifier: GPL-2.0
/* Busy: a module that spends about 1,700 ns per frame, and emits no events. */
#include <saluki/module.h>

#define TURNS 1000

int module(struct frame_view *v)
{
	__u64 hash = v->time_ns;

	for (__u32 i = 0; i < TURNS; i++) {
		hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL;
		asm volatile("" : "+r"(hash));
	}
	return hash;
}
