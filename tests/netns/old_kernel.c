// SPDX-License-Identifier: GPL-2.0
/*
 * old_kernel [--packets v2|v1|recv] PROGRAM [ARG]...: runs a program and its child processes as on
 * Linux 2.6.27. In: a program for this machine, static or not. Out: its exit status. A seccomp
 * filter makes newer system calls fail with ENOSYS. For calls that 2.6.27 has without some option,
 * the running kernel asks a second process of ours, which reads the memory behind pointers
 * (old_answers.c). Always holds: the program has our process id, no child that it did not start,
 * and none of our descriptors.
 *
 * Features that old kernels ignore pass: unknown flags of mmap(), open(), clone() and sendmsg().
 * This needs Linux 5.5, on x86-64 or MIPS32, and works with the AP70's libraries too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/privsep.h"
#include "old_answers.h"

#define FAILED 125 /* as env(1): our own failure, not the program's */

/* The last number of 2.6.27: inotify_init1. The next was preadv, with 2.6.30; x32's numbers, 3.4,
 * are higher still. Numbers rise with age, with one exception: x86-64's 288 was paccept's, which
 * was disabled before 2.6.27, and is accept4's since 2.6.28. MIPS has 4334 for it. */
#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#define LAST 294
#define NOT_YET 288
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
#define MACHINE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? AUDIT_ARCH_MIPS : AUDIT_ARCH_MIPSEL)
#define LAST 4329
#define NOT_YET (-1)
#else
#error "which calls did 2.6.27 have on this machine?"
#endif

static void fail(const char *what)
{
	fprintf(stderr, "old_kernel: %s: %s\n", what, strerror(errno));
	_exit(FAILED);
}

/* ---- the filter ------------------------------------------------------------------------------ */

#define FILTER_MAX 80

static void put(struct sock_fprog *p, struct sock_filter i)
{
	p->filter[p->len++] = i;
}

/* The call ends with `action` if the loaded value compares to `value` by `jump`. */
static void decide(struct sock_fprog *p, uint16_t jump, uint32_t value, uint32_t action)
{
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | jump | BPF_K, value, 0, 1));
	put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void load(struct sock_fprog *p, uint32_t offset)
{
	put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

/* futex() with FUTEX_CLOCK_REALTIME: 2.6.28. glibc joins threads with it (and needs Linux 3.2). */
static void refuse_newer_waits(struct sock_fprog *p)
{
#ifndef __GLIBC__
	const uint32_t half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0;

	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 3));
	load(p, offsetof(struct seccomp_data, args[1]) + half);
	decide(p, BPF_JSET, FUTEX_CLOCK_REALTIME, SECCOMP_RET_ERRNO | ENOSYS);
#else
	(void)p;
#endif
}

static void write_filter(struct sock_fprog *p)
{
	const uint32_t no_such_call = SECCOMP_RET_ERRNO | ENOSYS;

	load(p, offsetof(struct seccomp_data, arch));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
	put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	load(p, offsetof(struct seccomp_data, nr));
	decide(p, BPF_JGT, LAST, no_such_call);
	decide(p, BPF_JEQ, NOT_YET, no_such_call);
	for (unsigned int i = 0; i < old_asked_count; i++)
		decide(p, BPF_JEQ, old_asked[i], SECCOMP_RET_USER_NOTIF);
	refuse_newer_waits(p);
	put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/* Returns the descriptor that delivers the questions. */
static int install(void)
{
	struct sock_filter code[FILTER_MAX];
	struct sock_fprog p = { .filter = code };
	int fd;

	write_filter(&p);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fail("no_new_privs");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
	if (fd < 0)
		fail("seccomp filter");
	return fd;
}

/* ---- the server ------------------------------------------------------------------------------ */

static void answer(int fd, enum old_packets packets)
{
	union { /* a newer kernel's are longer */
		struct seccomp_notif q;
		char room[256];
	} in = { .room = { 0 } };
	union {
		struct seccomp_notif_resp a;
		char room[256];
	} out = { .room = { 0 } };
	struct old_question q = { .packets = packets };
	int got;

	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &in))
		return; /* the caller was killed */
	q.nr = in.q.data.nr;
	q.args = (const uint64_t *)in.q.data.args;
	q.pid = in.q.pid;
	got = old_answer(&q);
	out.a.id = in.q.id;
	out.a.error = got < 0 ? got : 0;
	out.a.flags = got ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &out);
}

/* Serves until no process can ask any more. */
static void serve(int sock, enum old_packets packets)
{
	struct pollfd p = { .events = POLLIN };
	int fds[PRIVSEP_FDS_MAX];
	char byte;

	if (privsep_recv(sock, &byte, 1, fds))
		_exit(FAILED);
	close(sock);
	for (int i = 0; i <= 2; i++) /* a reader may wait for the end of the program's output */
		close(i);
	for (p.fd = fds[0]; poll(&p, 1, -1) < 0 || !(p.revents & POLLHUP);)
		if (p.revents & POLLIN)
			answer(p.fd, packets);
	_exit(0);
}

/* Returns the socket to send the descriptor to. The server's parent ends at once, so that it is not
 * a child of this process. */
static int start_server(enum old_packets packets)
{
	int socks[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		fail("socketpair");
	pid = fork();
	if (pid == 0) {
		close(socks[0]);
		pid = fork();
		if (pid == 0)
			serve(socks[1], packets);
		_exit(pid < 0 ? FAILED : 0);
	}
	close(socks[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("fork");
	return socks[0];
}

static int packets_named(const char *name)
{
	static const char *const names[] = { "recv", "v1", "v2" };

	for (int i = OLD_RECV; name && i <= OLD_V2; i++)
		if (!strcmp(name, names[i]))
			return i;
	fprintf(stderr, "Usage: old_kernel [--packets v2|v1|recv] PROGRAM [ARG]...\n");
	exit(FAILED);
}

int main(int argc, char **argv)
{
	enum old_packets packets = OLD_V2;
	int first = 1, sock, fd;

	if (argc > 1 && !strcmp(argv[1], "--packets")) {
		packets = packets_named(argv[2]);
		first = 3;
	}
	if (first >= argc)
		packets_named(NULL);
	sock = start_server(packets);
	fd = install();
	if (privsep_send(sock, "", 1, &fd, 1))
		fail("cannot hand the listener over");
	close(sock);
	close(fd); /* or the end of its last user would go unnoticed */
	execvp(argv[first], argv + first);
	fail(argv[first]);
}
