// SPDX-License-Identifier: GPL-2.0
/* Programs, between opening and loading: see program.h. */
#include "program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool is_exchange(const struct bpf_insn *i)
{
	return i->code == (BPF_STX | BPF_ATOMIC | BPF_DW) && i->imm == BPF_XCHG;
}

static int drop_exchange(struct bpf_program *prog)
{
	static const struct bpf_insn nothing = { .code = BPF_JMP | BPF_JA };
	size_t count = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = malloc(count * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), count * sizeof(*insns));
	for (size_t i = 0; i < count; i++) {
		if (is_exchange(&insns[i]))
			insns[i] = nothing;
	}
	/* The number of instructions stays, so libbpf's offsets stay right. */
	err = bpf_program__set_insns(prog, insns, count);
	free(insns);
	return err;
}

int program_drop_exchange(struct bpf_object *obj)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj) err = err ?: drop_exchange(prog);
	return err;
}

bool program_exchange_works(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .off = -8,
		  .imm = BPF_XCHG },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "saluki_probe", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool kernel_is_before(unsigned int major, unsigned int minor)
{
	unsigned int is_major = 0, is_minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &is_major, &is_minor);
	return is_major < major || (is_major == major && is_minor < minor);
}

void program_functions(struct bpf_object *obj)
{
	struct btf *btf = bpf_object__btf(obj);

	if (!btf || !kernel_is_before(5, 12))
		return;
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *type = (struct btf_type *)btf__type_by_id(btf, id);

		if (btf_is_func(type)) /* with the linkage in place of a length */
			type->info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC;
	}
}

const char *program_reason(int err)
{
	switch (-err) {
	case EACCES:
		return "this kernel's verifier does not take the program";
	case EPERM:
		return "not permitted; run as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON";
	case ENOSYS:
		return "this kernel has no bpf()";
	case EOPNOTSUPP:
		return "the driver does not support it";
	case EBUSY:
	case EEXIST:
		return "another program is attached there; 'bpftool net' shows it";
	case ENOENT:
		return "the kernel lacks what it takes (for tc: sch_ingress and cls_bpf)";
	case EINVAL:
		return "refused by the kernel (a BPF feature it lacks)";
	case ESTALE: /* ours: module_slots_run */
		return "its capture changed meanwhile; try again";
	case EXDEV: /* ours: probe.c */
		return "the card takes VLAN tags off in front of it; 'ethtool -K IF rxvlan off', "
		       "or --source xdp where there are none";
	case ERANGE:
		return "the interface's MTU is too large for it";
	case E2BIG:
		return "this kernel makes no map that large";
	default:
		return strerror(-err);
	}
}
