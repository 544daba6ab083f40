// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h. In: lists of calls and paths. Out: a filter and a Landlock domain. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

/* ---- system calls (seccomp) ------------------------------------------------------------------ */

/* System calls by name, separated by blanks. Some machines lack some of them. Every process needs
 * these for its memory, time, threads, signals and open files. */
#define SANDBOX_BASE                                                                               \
	"read readv write writev close lseek _llseek fstat fstat64 poll ppoll ppoll_time64 "       \
	"recvmsg sendmsg getsockopt "                                                              \
	"brk munmap mremap madvise membarrier futex futex_time64 sched_yield sched_getaffinity "   \
	"clock_gettime clock_gettime64 clock_getres clock_getres_time64 gettimeofday time "        \
	"nanosleep clock_nanosleep clock_nanosleep_time64 getrandom sysinfo uname "                \
	"rt_sigaction rt_sigprocmask rt_sigreturn sigreturn sigaltstack restart_syscall "          \
	"getpid gettid getuid geteuid exit exit_group"

/* These end the process: see sandbox.h. */
#define SANDBOX_NEVER                                                                              \
	"execve execveat fork vfork ptrace process_vm_readv process_vm_writev "                    \
	"init_module finit_module kexec_load"

static const struct sandbox_check sandbox_base_checks[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mmap2", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	/* newer C libraries call it for fstat() */
	{ "newfstatat", 3, AT_EMPTY_PATH, AT_EMPTY_PATH },
	{ "fstatat64", 3, AT_EMPTY_PATH, AT_EMPTY_PATH },
	{ "statx", 2, AT_EMPTY_PATH, AT_EMPTY_PATH },
	{ "fcntl", 1, SANDBOX_INT, F_GETFL },
	{ "fcntl64", 1, SANDBOX_INT, F_GETFL },
	{ "prctl", 0, SANDBOX_INT, PR_SET_NAME },
	{ "prctl", 0, SANDBOX_INT, PR_GET_NAME },
	{ 0 },
};

static int sandbox_number(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (nr == __NR_SCMP_ERROR)
		log_line("libseccomp does not know the system call %s", name);
	return nr;
}

static int sandbox_add(scmp_filter_ctx c, uint32_t action, const char *names)
{
	int err = 0;

	while (names && *names && !err) {
		size_t len = strcspn(names, " ");
		char name[32];
		int nr;

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		nr = sandbox_number(name);
		err = nr == __NR_SCMP_ERROR ? -EINVAL : seccomp_rule_add(c, action, nr, 0);
		names += len + (names[len] == ' ');
	}
	return err;
}

static int sandbox_add_checks(scmp_filter_ctx c, const struct sandbox_check *k)
{
	int err = 0;

	for (; k && k->name && !err; k++) {
		int nr = sandbox_number(k->name);

		err = nr == __NR_SCMP_ERROR
			      ? -EINVAL
			      : seccomp_rule_add(c, SCMP_ACT_ALLOW, nr, 1,
						 SCMP_CMP64(k->arg, SCMP_CMP_MASKED_EQ, k->mask,
							    k->value));
	}
	return err;
}

static int sandbox_build(scmp_filter_ctx c, const struct sandbox_policy *p)
{
	struct sandbox_check signals[SANDBOX_SIGNALLED + 2] = {
		{ "tgkill", 0, SANDBOX_INT, (uint32_t)getpid() }, /* abort() */
	};
	int err = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	for (int i = 0; i < SANDBOX_SIGNALLED && p->signalled[i]; i++)
		signals[i + 1] =
			(struct sandbox_check){ "kill", 0, SANDBOX_INT, (uint32_t)p->signalled[i] };
	/* Only our own code runs in this process, so it needs no mitigation of speculative store
	 * bypass. Kernels before 5.16 would switch it on. Some kernels lack this setting, so errors
	 * are ignored. */
	seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);
	err = err ?: sandbox_add(c, SCMP_ACT_ALLOW, SANDBOX_BASE);
	err = err ?: sandbox_add_checks(c, sandbox_base_checks);
	err = err ?: sandbox_add_checks(c, signals);
	err = err ?: sandbox_add(c, SCMP_ACT_ALLOW, p->allowed);
	err = err ?: sandbox_add_checks(c, p->checked);
	err = err ?: sandbox_add(c, SCMP_ACT_ERRNO(EACCES), p->refused);
	err = err ?: sandbox_add(c, SCMP_ACT_KILL_PROCESS, SANDBOX_NEVER);
	err = err ?: sandbox_add(c, SCMP_ACT_KILL_PROCESS, p->never);
	return err ?: seccomp_load(c);
}

int sandbox_calls(const struct sandbox_policy *p)
{
	scmp_filter_ctx c;
	int err = -ENOMEM;

	if (!SANDBOX_ON)
		return 0;
	/* With a NULL filter, kernels with seccomp filters (Linux 3.5) return EFAULT or EACCES. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno == EINVAL) {
		log_line("this kernel has no seccomp: system calls are not limited");
		return 0;
	}
	c = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (c)
		err = sandbox_build(c, p);
	if (err)
		log_line("cannot limit system calls: %s", strerror(-err));
	seccomp_release(c);
	return err;
}

/* ---- files (Landlock) ------------------------------------------------------------------------ */

/* Returns all rights that this kernel's Landlock can restrict. `abi` is as in the kernel's
 * userspace-api/landlock. */
static uint64_t sandbox_handled(int abi)
{
	uint64_t last = abi >= 5   ? LANDLOCK_ACCESS_FS_IOCTL_DEV
			: abi >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE
			: abi == 2 ? LANDLOCK_ACCESS_FS_REFER
				   : LANDLOCK_ACCESS_FS_MAKE_SYM;

	return last | (last - 1);
}

static int sandbox_permit(int ruleset, const struct sandbox_path *p, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = p->access & handled };
	struct stat st;
	int err = 0;

	rule.parent_fd = open(p->path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT ? 0 : -errno; /* what is not there stays forbidden */
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed_access &= SANDBOX_WRITE;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) &&
	    errno != EBADFD) /* a pipe behind /dev/stdout: Landlock never forbids those */
		err = -errno;
	close(rule.parent_fd);
	return err;
}

int sandbox_paths(const struct sandbox_path *paths)
{
	int abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = { .handled_access_fs = sandbox_handled(abi) };
	int ruleset, err = 0;

	if (!SANDBOX_ON)
		return 0;
	if (abi < 0) {
		log_line("this kernel has no Landlock (Linux 5.13): which files may be opened is "
			 "not limited");
		return 0;
	}
	ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		err = -errno;
	for (; !err && paths->path; paths++)
		err = sandbox_permit(ruleset, paths, attr.handled_access_fs);
	if (!err && syscall(SYS_landlock_restrict_self, ruleset, 0))
		err = -errno;
	if (err)
		log_line("cannot limit which files may be opened: %s", strerror(-err));
	if (ruleset >= 0)
		close(ruleset);
	return err;
}
