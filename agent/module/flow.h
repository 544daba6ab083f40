/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow: where the addresses go that a module has, and what is on its stack when it reads that. In:
 * a module's program, as it is about to be loaded. Out: whether it keeps to its view, its maps and
 * what it has written itself.
 *
 * The kernel's verifier lets root's programs do more than that: say addresses of the kernel's
 * memory; from Linux 5.9 on follow the address of a map into the kernel's structures; from 6.3 on
 * read the stack where they have written nothing, and find what others left there. It refuses all
 * of that to programs that are loaded without CAP_PERFMON, but mostly guards these against
 * speculation, too, and by that refuses the plainest of loops over a payload (proof.h). So it is
 * proved here:
 *
 * - an address is moved, kept on the stack, arithmetic on to another place, given to helpers, and
 *   compared with 0; it never becomes data (to be said, stored, arithmetic with, compared). It is
 * not compared with 0, either, where data has moved it, which may be a guess, or where it was moved
 *   and may have become data for the verifier (overwritten in part, of a record that was given
 *   back, or where another way leaves data); nor is it moved far at once;
 * - through the address of a map itself nothing is read;
 * - what is read of the stack, by an instruction or a helper, was written before on each way that
 *   leads there. Where it may not have been, it is told in whose stack that is, and which 8 bytes,
 *   so that zeros are put there (zeros.h).
 *
 * Each branch is taken to go either way. The rest (that accesses are within bounds, that it ends,
 * that registers are set) is the verifier's, which goes through the same instructions.
 */
#ifndef AGENT_MODULE_FLOW_H
#define AGENT_MODULE_FLOW_H

#include "flow_step.h"

#define FLOW_WHY_LEN 256

/* A program of `count` instructions, in which maps are descriptors; the module begins behind `shim`
 * of them. In `zeros`, as many, 0 before: at each function's first instruction the slots of
 * its stack that need zeros, a bit each, those of its lowest bytes first. Returns 0, or -EPERM with
 * `why`. */
int flow_check(const struct bpf_insn *insns, size_t count, size_t shim,
	       const struct flow_maps *maps, uint64_t *zeros, char why[FLOW_WHY_LEN]);

#endif
