// SPDX-License-Identifier: GPL-2.0
/* Two processes: see privsep.h. */
#include "privsep.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log.h"
#include "monotonic.h"

#define PRIVSEP_INSIST_NS 1000000000ULL

void privsep_block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, NULL);
	/* If the reader of our messages ends, write() fails, and this process continues. */
	signal(SIGPIPE, SIG_IGN);
}

pid_t privsep_fork(int *sock)
{
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		log_line("cannot make a socket pair: %s", strerror(errno));
		return -1;
	}
	child = fork();
	if (child < 0)
		log_line("cannot start a second process: %s", strerror(errno));
	*sock = child < 0 ? -1 : pair[child ? 0 : 1];
	close(pair[child ? 1 : 0]);
	if (child < 0)
		close(pair[0]);
	return child;
}

int privsep_send(int sock, const void *msg, size_t len, const int *fds, int fd_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PRIVSEP_FDS_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)msg, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd_count) {
		struct cmsghdr *c;

		mh.msg_control = control;
		mh.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
	}
	while (sendmsg(sock, &mh, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

ssize_t privsep_receive(int sock, void *msg, size_t len, int *fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PRIVSEP_FDS_MAX * sizeof(int))];
	struct iovec iov = { msg, len };
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = fds ? control : NULL, /* or what comes along stays open */
		/* CMSG_SPACE is padded, and the kernel would use the padding for one more
		 * descriptor. */
		.msg_controllen = fds ? CMSG_LEN(PRIVSEP_FDS_MAX * sizeof(int)) : 0,
	};
	ssize_t n;

	for (int i = 0; fds && i < PRIVSEP_FDS_MAX; i++)
		fds[i] = -1;
	do {
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return -EPIPE;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&mh); c; c = CMSG_NXTHDR(&mh, c))
		if (fds && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n;
}

int privsep_recv(int sock, void *msg, size_t len, int *fds)
{
	ssize_t n = privsep_receive(sock, msg, len, fds);

	return n < 0 ? (int)n : (size_t)n == len ? 0 : -EPROTO;
}

bool privsep_insists(uint64_t *first_ns)
{
	uint64_t now = monotonic_ns();

	if (!*first_ns)
		*first_ns = now;
	return now - *first_ns >= PRIVSEP_INSIST_NS;
}

/* Limits all capabilities, also of later programs, to those in `keep`. It fails without the right
 * to do so; then there are none to remove. */
static void privsep_bound(uint64_t keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep & PRIVSEP_CAP(cap)) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return;
}

/* A service without capabilities may be forbidden to call capset(). */
static int privsep_limit(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[2];
	uint32_t any = 0;

	if (syscall(SYS_capget, &head, have))
		return -1;
	for (int i = 0; i < 2; i++) {
		any |= have[i].permitted | have[i].inheritable;
		have[i].permitted &= keep >> (32 * i);
		have[i].effective = have[i].permitted;
		have[i].inheritable = 0;
	}
	return any ? syscall(SYS_capset, &head, have) : 0;
}

int privsep_keep(uint64_t keep)
{
	privsep_bound(keep);
	if (privsep_limit(keep) == 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 || errno == EINVAL))
		return 0; /* before Linux 3.5 there is no such promise */
	log_line("cannot give up capabilities: %s", strerror(errno));
	return -errno;
}

static struct passwd *privsep_user(const char *user)
{
	struct passwd *pw = getpwnam(user);

	if (!pw)
		log_line("user %s: does not exist; name another with --user", user);
	return pw;
}

int privsep_check(const char *user)
{
	return geteuid() || privsep_user(user) ? 0 : -ENOENT;
}

int privsep_drop(const char *user)
{
	if (geteuid() == 0) {
		struct passwd *pw = privsep_user(user);

		if (!pw)
			return -ENOENT;
		privsep_bound(0);
		/* Supplementary groups come first, because setgroups() is not allowed
		 * afterwards. */
		if (setgroups(0, NULL) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
		    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid)) {
			log_line("user %s: cannot become it: %s", user, strerror(errno));
			return -errno;
		}
	}
	return privsep_keep(0);
}
