/* SPDX-License-Identifier: GPL-2.0 */
/* Inlined: see inlined.bpf.c. In place of bpf/run.h. */
#ifndef BENCH_INLINED_H
#define BENCH_INLINED_H

const volatile __u32 inlined_wanted = 0; /* VIEW_ bits */
const volatile __u32 inlined_payload = 0;

static const struct saluki_slot inlined_slot = { .name = "inlined", .serial = 1 };
static const __u64 inlined_trajectory[2] = { 1, 2 };

/* vmlinux.h has its content. */
#define _LINUX_TYPES_H
#define __LINUX_BPF_H__
#define module static __always_inline module_body
#include MODULE_SOURCE
#undef module

/* A function call: if clang inlined it, the verifier would go through some modules once for each
 * path of a frame. The check is in the form that the verifier needs. */
__noinline int inlined_module(struct frame_view *v)
{
	return v ? module_body(v) : 0;
}

static __always_inline void run_modules(struct hook *h, __u64 time_ns, __u32 cpu)
{
	__u32 zero = 0;
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);

	if (!v)
		return;
	(void)cpu;
	fill(h, v, time_ns, inlined_wanted, inlined_payload, inlined_trajectory);
	v->event_len = 0;
	inlined_module(v);
	if (v->event_len)
		event_ring(v, v->event_len & MODULE_EVENT_MAX * 2 - 1, &inlined_slot);
}

#endif
