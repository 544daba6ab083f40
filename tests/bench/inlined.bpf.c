// SPDX-License-Identifier: GPL-2.0
/*
 * Inlined: bpf/modules.bpf.c with a module (MODULE_SOURCE) itself in place of the slots: on the
 * same view, but without mask, tail call, timing and limits. The cost of a trusted module that is
 * part of the capture.
 */
#define RUN_HEADER "tests/bench/inlined.h"
#include "bpf/modules.bpf.c"
