// SPDX-License-Identifier: GPL-2.0
/*
 * Inlined: bpf/modules.bpf.c with a module (MODULE_SOURCE) itself in the place of the slots: on the
 * same view, but without a mask, a tail call, timing and limits. What a module would cost if it
 * were trusted, and part of the capture.
 */
#define RUN_HEADER "tests/bench/inlined.h"
#include "bpf/modules.bpf.c"
