// SPDX-License-Identifier: GPL-2.0
/* Slotless: the capture program without modules: it has no tail call into the table of slots.
 * `slot_ns` is the cost of that call. */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define bpf_tail_call_static(ctx, map, slot) ((void)(ctx))
#include "bpf/capture.bpf.c"
