/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow: proves that a module leaks no kernel address and reads no uninitialised stack. In: a
 * module's program, just before it is loaded. Out: whether it keeps to its view, its maps and its
 * own stack.
 *
 * The kernel's verifier allows root's programs more than that. They may output kernel addresses.
 * From Linux 5.9 on they may follow a map's address into the kernel's structures. From 6.3 on they
 * may read stack that they have not written, with other programs' data. The verifier denies this to
 * programs loaded without CAP_PERFMON. But for these it usually also guards against speculation,
 * and then refuses even simple loops over a payload (proof.h). So this code proves:
 *
 * - An address may be copied, saved on the stack, moved by arithmetic, passed to helpers, and
 *   compared with 0. It never becomes data that is output, stored, computed with or compared. It
 *   may not be compared with 0 if data has moved it, as this would be a guess of its value. It may
 *   not be compared either if it was moved and the verifier may take it for data: partly
 *   overwritten, of a released record, or joined with data of another path. One instruction may not
 *   move it far.
 * - The address of a map itself is never read through.
 * - Stack that an instruction or a helper reads was written before on every path. If this is not
 *   certain, the result names the function and the 8-byte slot, which zeros.h then initialises.
 *
 * Each branch is assumed to go both ways. The verifier checks the rest on the same instructions:
 * bounds, termination, initialised registers.
 */
#ifndef AGENT_MODULE_FLOW_H
#define AGENT_MODULE_FLOW_H

#include "flow_step.h"

#define FLOW_WHY_LEN 256

/* Checks a program of `count` instructions, in which maps are descriptors. The module begins after
 * `shim` instructions. `zeros` has `count` entries, all 0. At a function's first instruction it is
 * set to the stack slots that need zeros, one bit each, lowest bytes first. Returns 0, or -EPERM
 * with `why`. */
int flow_check(const struct bpf_insn *insns, size_t count, size_t shim,
	       const struct flow_maps *maps, uint64_t *zeros, char why[FLOW_WHY_LEN]);

#endif
