// SPDX-License-Identifier: GPL-2.0
/* Proof: see proof.h. */
#include "proof.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

const char *proof_name(enum proof proof)
{
	return proof == PROOF_KERNEL ? "kernel" : "saluki";
}

static int capabilities(int call, struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(call, &head, sets) ? -errno : 0;
}

int proof_drop(struct proof_rights *r)
{
	struct __user_cap_data_struct few[2];
	int err = capabilities(SYS_capget, r->sets);

	if (err)
		return err;
	memcpy(few, r->sets, sizeof(few));
	few[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
	few[CAP_TO_INDEX(CAP_PERFMON)].effective &= ~CAP_TO_MASK(CAP_PERFMON);
	err = capabilities(SYS_capset, few);
	r->dropped = !err;
	return err;
}

void proof_restore(struct proof_rights *r)
{
	int err = r->dropped ? capabilities(SYS_capset, r->sets) : 0;

	r->dropped = false;
	if (err)
		log_line("cannot take capabilities back: %s", strerror(-err));
}

int proof_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count,
	       struct bpf_prog_load_opts *opts)
{
	struct proof_rights r = { 0 };
	int fd = proof_drop(&r);

	if (!fd)
		fd = bpf_prog_load(type, NULL, "GPL", insns, count, opts);
	proof_restore(&r);
	return fd;
}

/* Reads written stack at a variable index. check_stack_read() in kernel/bpf/verifier.c refuses this
 * only with guards against speculation. */
bool proof_is_unguarded(void)
{
	static const struct bpf_insn insns[] = {
		{ BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0 },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32 },
		{ BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, 7 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8 },
		{ BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0 },
		{ BPF_LDX | BPF_MEM | BPF_B, BPF_REG_0, BPF_REG_1, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	int fd = proof_load(BPF_PROG_TYPE_XDP, insns, sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}
