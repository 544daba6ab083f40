/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Proof: lets the kernel prove that a module leaks no address and reads no unwritten stack. The
 * kernel's verifier proves both for programs that are loaded without CAP_PERFMON. For these it also
 * guards against speculation (Spectre), and then refuses many modules, unless booted with
 * mitigations=off (from Linux 6.7 on). If the verifier does not prove it, flow.h does.
 *
 * In: a program just before it is loaded. Out: whether the verifier accepts it without CAP_PERFMON.
 */
#ifndef AGENT_MODULE_PROOF_H
#define AGENT_MODULE_PROOF_H

#include <bpf/bpf.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>

enum proof { PROOF_SALUKI, PROOF_KERNEL };

const char *proof_name(enum proof proof);

/* This thread's effective capabilities before CAP_PERFMON was dropped. */
struct proof_rights {
	struct __user_cap_data_struct sets[2];
	bool dropped;
};

/* Drops CAP_PERFMON, and CAP_SYS_ADMIN, which implies it, from the effective set. Both stay
 * permitted. Returns 0 or -errno. */
int proof_drop(struct proof_rights *r);
/* Restores the dropped capabilities. */
void proof_restore(struct proof_rights *r);

/* Loads a program without CAP_PERFMON. Returns its descriptor or -errno. */
int proof_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count,
	       struct bpf_prog_load_opts *opts);
/* Whether this kernel proves without guards: tries a tiny program that it accepts only then. */
bool proof_is_unguarded(void);

#endif
