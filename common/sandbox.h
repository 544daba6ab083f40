/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sandbox: what a process may still ask of the kernel, once everything that it opens at the start
 * is open. For the one file of each program that holds its lists (agent/process/sandbox.c,
 * collector/sandbox.c).
 *
 * A call that is on no list fails with ENOSYS. To the C library this is an older kernel, and it
 * does without: an update of it must not end a capture. The calls of SANDBOX_NEVER end the
 * process: no path of ours leads there, so whoever makes them is not us any more.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include <linux/landlock.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

/* The sanitizers' own code opens /proc/self/maps, starts threads and traces, at moments of its
 * choice: programs that are built with them have neither filter nor Landlock, but give up the same
 * capabilities. */
#ifdef __has_feature
#define SANDBOX_FEATURE(x) __has_feature(x)
#else
#define SANDBOX_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
	SANDBOX_FEATURE(address_sanitizer) || SANDBOX_FEATURE(thread_sanitizer) ||                 \
	SANDBOX_FEATURE(memory_sanitizer)
#define SANDBOX_ON 0
#else
#define SANDBOX_ON 1
#endif

/* ---- system calls (seccomp) ------------------------------------------------------------------ */

/* For processes that take what they need from another: what opens files, and what reaches out. The
 * first is not fatal, for the C library may try it by itself (a time zone, the number of CPUs). */
#define SANDBOX_OPENING "open openat openat2 creat"
#define SANDBOX_MAKING "socket socketpair bind bpf mount umount2 unshare setns"
#define SANDBOX_REACHING "connect " SANDBOX_MAKING

/* For processes with threads: what each new thread calls, and a check by which clone() makes
 * threads but no processes. The flags of clone3() cannot be checked. libc works without it. */
#define SANDBOX_THREADS "set_robust_list rseq"
#define SANDBOX_THREADS_CHECK                                                                      \
	{                                                                                          \
		"clone", 0, CLONE_THREAD, CLONE_THREAD                                             \
	}

/* For a process that draws a status line: the terminal's width and foreground job. */
#define SANDBOX_TERMINAL_CHECKS                                                                    \
	{ "ioctl", 1, SANDBOX_INT, TIOCGWINSZ },                                                   \
	{                                                                                          \
		"ioctl", 1, SANDBOX_INT, TIOCGPGRP                                                 \
	}

/* A call that is allowed where an argument, counted from 0, has `value` in the bits of `mask`. A
 * list ends with { 0 }. */
struct sandbox_check {
	const char *name;
	unsigned int arg;
	uint64_t mask, value;
};

#define SANDBOX_INT 0xffffffffULL /* what the kernel reads of an int */

#define SANDBOX_SIGNALLED 2

/* System calls that a process may make besides SANDBOX_BASE (sandbox.c). Any of these may be NULL.
 */
struct sandbox_policy {
	const char *allowed;
	const struct sandbox_check *checked; /* allowed too */
	const char *refused;		     /* fails with EACCES */
	const char *never;		     /* as SANDBOX_NEVER */
	/* Processes that it may signal, and groups of processes, as negative numbers. After the
	 * last one come zeros. */
	pid_t signalled[SANDBOX_SIGNALLED];
};

/* From here on this process, and the threads that it starts, make no other calls. Returns 0, or
 * -errno after a line. A kernel without filters is no error: a line names that. */
int sandbox_calls(const struct sandbox_policy *p);

/* ---- files (Landlock) ------------------------------------------------------------------------ */

/* Newer than the headers of Debian 12. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

#define SANDBOX_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* Truncating belongs to it, also for who is handed the descriptor: the right is the open file's. */
#define SANDBOX_WRITE                                                                              \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define SANDBOX_MAKE (SANDBOX_WRITE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Rights at a path, and below it if it is a folder. A list ends without a path. */
struct sandbox_path {
	const char *path;
	uint64_t access; /* LANDLOCK_ACCESS_FS_* */
};

/* From here on this process opens, makes, renames and removes nothing but what `paths` permit.
 * Returns 0, or -errno after a line. A kernel without Landlock is no error: a line names that. */
int sandbox_paths(const struct sandbox_path *paths);

#endif
