/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two processes: a small privileged one opens things, the other does the work without any
 * privilege (as OpenNTPD and OpenSSH divide themselves). Both programs give privilege up and send
 * messages with file descriptors over a socket pair.
 */
#ifndef COMMON_PRIVSEP_H
#define COMMON_PRIVSEP_H

#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PRIVSEP_USER_DEFAULT "nobody"
#define PRIVSEP_FDS_MAX 64

/* Orders of the privileged process to the other one, one byte each. */
enum privsep_order {
	SIGNAL_STOP = 1,   /* come to an end; nothing is lost on the way */
	SIGNAL_REPORT = 2, /* print the ledger */
	SIGNAL_RELOAD = 3, /* read the sensors file again */
};

/* Signals are for the privileged process, which reads them from a descriptor; a terminal sends
 * them to both, so both block them: called before the fork. */
void privsep_block_signals(sigset_t *set);

/* Makes a socket pair and a second process. Each process has its end at `*sock`. Returns as fork(),
 * or -1 after a line. */
pid_t privsep_fork(int *sock);

/* Sends one message with up to PRIVSEP_FDS_MAX descriptors (still open here afterwards).
 * Returns 0 or -errno. */
int privsep_send(int sock, const void *msg, size_t len, const int *fds, int fd_count);

/* Receives one message of at most `len` bytes, what is more is cut. `fds` (PRIVSEP_FDS_MAX, -1
 * where none came) is the caller's to close; where it is NULL, none can be sent to us. Returns its
 * bytes, -EPIPE where the other process is gone, or -errno. */
ssize_t privsep_receive(int sock, void *msg, size_t len, int *fds);

/* The same, of a message of exactly `len` bytes. Returns 0 or -errno. */
int privsep_recv(int sock, void *msg, size_t len, int *fds);

/* Whether a signal to stop is a second wish: `first_ns` is 0 before the first one. timeout(1) and
 * terminals send two at once, so only one that comes later is. */
bool privsep_insists(uint64_t *first_ns);

/* A set of capabilities. */
#define PRIVSEP_CAP(cap) (1ULL << (cap))

/* Keeps of its capabilities those in `keep` at most, with no way to get others back. Returns 0, or
 * -errno after a line. */
int privsep_keep(uint64_t keep);

/* Returns 0 if privsep_drop() will find the user, or -ENOENT after a line. */
int privsep_check(const char *user);
/* Gives up everything: user, groups, capabilities, and the way to get any back. Does nothing
 * where there is nothing to give up. Returns 0, or -errno after a line that says what failed. */
int privsep_drop(const char *user);

#endif
