// SPDX-License-Identifier: GPL-2.0
/* Slotless: the capture program as it would be if there were no modules: without the tail call into
 * the table of slots. What that costs is `slot_ns`. */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define bpf_tail_call_static(ctx, map, slot) ((void)(ctx))
#include "bpf/capture.bpf.c"
