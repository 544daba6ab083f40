// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/wireless.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "agent/interface/lock.h"
#include "common/log.h"
#include "common/privsep.h"
#include "common/sandbox.h"

#define SOCKET_IOCTLS 0x8900 /* SIOC*: linux/sockios.h */

/* ---- the unprivileged process ---------------------------------------------------------------- */

int sandbox_sensor(void)
{
	static const struct sandbox_check checks[] = {
		SANDBOX_THREADS_CHECK,
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = "epoll_create1 epoll_ctl epoll_wait epoll_pwait " SANDBOX_THREADS
			   " eventfd2 recv recvfrom recvmmsg recvmmsg_time64 send sendto sendmmsg "
			   "connect " /* for a new port: sockets.h */
			   "pread64 pwrite64 ftruncate ftruncate64 fallocate " /* --spool */
			   "fdatasync", /* --collector-keys */
		.checked = checks,
		.refused = SANDBOX_OPENING,
		.never = SANDBOX_MAKING,
	};

	/* Other processes of the user must not read the keys, not even in a core dump. */
	prctl(PR_SET_DUMPABLE, 0);
	return sandbox_calls(&policy);
}

/* ---- the process that compiles filters ------------------------------------------------------- */

#define COMPILER_MEMORY (256 << 20) /* bytes of address space, and */
#define COMPILER_CPU_S 3	    /* seconds for each process that it forks */

int sandbox_compiler(void)
{
	static const struct sandbox_check checks[] = {
		/* Processes, but no new namespaces. */
		{ "clone", 0,
		  CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			  CLONE_NEWPID | CLONE_NEWNET,
		  0 },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = "set_robust_list rseq wait4 waitid waitpid",
		.checked = checks,
		/* libpcap tries to resolve hosts and ports, which fails. */
		.refused = SANDBOX_OPENING " " SANDBOX_REACHING,
	};
	const struct rlimit memory = { COMPILER_MEMORY, COMPILER_MEMORY };
	const struct rlimit cpu = { COMPILER_CPU_S, COMPILER_CPU_S };

	prctl(PR_SET_DUMPABLE, 0);
	if (setrlimit(RLIMIT_CPU, &cpu) || (SANDBOX_ON && setrlimit(RLIMIT_AS, &memory))) {
		log_line("cannot limit what compiles filters: %s", strerror(errno));
		return -errno;
	}
	return sandbox_calls(&policy);
}

/* ---- the process that looks names up --------------------------------------------------------- */

/* The C library reads its settings, loads the libraries of nsswitch.conf(5), queries the kernel's
 * address families, and then asks a name server or a local daemon. */
int sandbox_resolver(void)
{
	static const struct sandbox_path reads[] = { { "/", SANDBOX_READ }, { 0 } };
	static const struct sandbox_check checks[] = {
		{ "socket", 0, SANDBOX_INT, AF_INET }, { "socket", 0, SANDBOX_INT, AF_INET6 },
		{ "socket", 0, SANDBOX_INT, AF_UNIX }, { "socket", 0, SANDBOX_INT, AF_NETLINK },
		{ "ioctl", 1, SANDBOX_INT, FIONREAD }, { 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = SANDBOX_OPENING
		" connect bind send sendto sendmmsg recv recvfrom getsockname "
		"getpeername setsockopt stat stat64 lstat newfstatat fstatat64 statx "
		"access faccessat readlink readlinkat getdents64 fcntl fcntl64 "
		"pread64 mmap mmap2 mprotect getgid getegid",
		.checked = checks,
	};
	int err;

	prctl(PR_SET_DUMPABLE, 0);
	err = sandbox_paths(reads);
	return err ?: sandbox_calls(&policy);
}

/* ---- the process that links modules ---------------------------------------------------------- */

int sandbox_linker(void)
{
	/* A file in memory (memfd) is in no folder, so Landlock allows opening it. */
	static const struct sandbox_path no_paths[] = { { 0 } };
	static const struct sandbox_check checks[] = {
		{ "fcntl", 1, SANDBOX_INT, F_DUPFD_CLOEXEC }, /* libbpf's dup() */
		{ "fcntl", 1, SANDBOX_INT, F_GETFD },	      /* libelf checks whether it is open */
		{ "fcntl64", 1, SANDBOX_INT, F_DUPFD_CLOEXEC },
		{ "fcntl64", 1, SANDBOX_INT, F_GETFD },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = SANDBOX_OPENING " pread64 pwrite64 ftruncate ftruncate64 msync",
		.checked = checks,
		.refused = SANDBOX_REACHING,
	};
	const struct rlimit memory = { COMPILER_MEMORY, COMPILER_MEMORY };
	const struct rlimit cpu = { COMPILER_CPU_S, COMPILER_CPU_S };
	int err;

	prctl(PR_SET_DUMPABLE, 0);
	if (setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_FSIZE, &memory) ||
	    (SANDBOX_ON && setrlimit(RLIMIT_AS, &memory))) {
		log_line("cannot limit what links modules: %s", strerror(errno));
		return -errno;
	}
	err = sandbox_paths(no_paths);
	return err ?: sandbox_calls(&policy);
}

/* ---- the privileged process ------------------------------------------------------------------ */

/* For signals and the end of the other process. It already has its descriptors. */
#define WATCHING "wait4 waitid waitpid rt_sigtimedwait rt_sigtimedwait_time64"

/* For attaching: libbpf, rtnetlink, packet and XDP sockets, and, within Landlock's rules, pins,
 * locks, the status socket and kernel information in /sys. */
#define ATTACHING                                                                                  \
	"bpf bind accept accept4 getsockname setsockopt send sendto recv recvfrom "                \
	"memfd_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 timerfd_create "     \
	"timerfd_settime timerfd_settime64 dup dup3 ftruncate ftruncate64 pread64 "                \
	"open openat stat stat64 newfstatat fstatat64 statx statfs statfs64 fstatfs access "       \
	"faccessat faccessat2 readlink readlinkat getdents64 flock "                               \
	"mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 chmod fchmod fchmodat"

static const struct sandbox_check attach_checks[] = {
	{ "socket", 0, SANDBOX_INT, AF_NETLINK },
	{ "socket", 0, SANDBOX_INT, AF_PACKET },
	{ "socket", 0, SANDBOX_INT, AF_XDP },
	{ "socket", 0, SANDBOX_INT, AF_UNIX },
	{ "ioctl", 1, 0xff00, SOCKET_IOCTLS },
	{ "ioctl", 1, SANDBOX_INT, SIOCSIWFREQ }, /* the channel: wext.c */
	{ "ioctl", 1, SANDBOX_INT, SIOCGIWFREQ },
	{ "ioctl", 1, SANDBOX_INT, SIOCGIWRANGE },
	{ "fcntl", 1, SANDBOX_INT, F_DUPFD_CLOEXEC }, /* libbpf's dup() */
	{ "fcntl64", 1, SANDBOX_INT, F_DUPFD_CLOEXEC },
	SANDBOX_TERMINAL_CHECKS,
	{ 0 },
};

static const struct sandbox_path attach_paths[] = {
	{ "/sys/fs/bpf", SANDBOX_MAKE | SANDBOX_READ | LANDLOCK_ACCESS_FS_MAKE_DIR |
				 LANDLOCK_ACCESS_FS_REMOVE_DIR },
	{ LOCK_ROOT, SANDBOX_MAKE | SANDBOX_READ | LANDLOCK_ACCESS_FS_MAKE_SOCK },
	{ "/sys", SANDBOX_READ },
	/* libbpf opens it to reserve a descriptor's number (bpf_map__reuse_fd). It gives access to
	 * no file. */
	{ "/", LANDLOCK_ACCESS_FS_READ_DIR },
	{ 0 },
};

int sandbox_privileged(bool attaches, pid_t child, pid_t helper)
{
	static const struct sandbox_path no_paths[] = { { 0 } };
	static const struct sandbox_check watch_checks[] = { SANDBOX_TERMINAL_CHECKS, { 0 } };
	const struct sandbox_policy policy = {
		.allowed = attaches ? WATCHING " " ATTACHING : WATCHING,
		.checked = attaches ? attach_checks : watch_checks,
		.refused = attaches ? NULL : SANDBOX_OPENING,
		.never = attaches ? NULL : SANDBOX_REACHING,
		.signalled = { child, helper },
	};
	/* The other process runs as another user. */
	uint64_t caps = PRIVSEP_CAP(CAP_KILL) | (attaches ? sandbox_attach_capabilities() : 0);
	int err = privsep_keep(caps);

	err = err ?: sandbox_paths(attaches ? attach_paths : no_paths);
	return err ?: sandbox_calls(&policy);
}
