/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Proof: who has proved that a module leaks no address and reads no stack that was not written. The
 * kernel's verifier proves both for programs that are loaded without CAP_PERFMON. For these it also
 * guards against speculation (Spectre), and by that refuses many modules, unless it was booted with
 * mitigations=off (from Linux 6.7 on). Where the verifier does not prove it, flow.h does.
 *
 * In: a program as it is about to be loaded. Out: whether the verifier takes it so.
 */
#ifndef AGENT_MODULE_PROOF_H
#define AGENT_MODULE_PROOF_H

#include <bpf/bpf.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>

enum proof { PROOF_SALUKI, PROOF_KERNEL };

const char *proof_name(enum proof proof);

/* Effective capabilities of this thread, before CAP_PERFMON was taken out of them. */
struct proof_rights {
	struct __user_cap_data_struct sets[2];
	bool dropped;
};

/* Takes CAP_PERFMON out, and CAP_SYS_ADMIN, which stands for it. Both stay permitted. Returns 0 or
 * -errno. */
int proof_drop(struct proof_rights *r);
/* Puts back what was taken out, if anything was. */
void proof_restore(struct proof_rights *r);

/* Loads a program without CAP_PERFMON. Returns its descriptor or -errno. */
int proof_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count,
	       struct bpf_prog_load_opts *opts);
/* Whether this kernel proves without guarding: asked by a tiny program that it takes then only. */
bool proof_is_unguarded(void);

#endif
