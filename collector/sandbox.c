// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <libgen.h>
#include <limits.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "common/privsep.h"
#include "common/sandbox.h"

/* ---- the unprivileged processes -------------------------------------------------------------- */

int sandbox_receiving(void)
{
	static const struct sandbox_check checks[] = {
		/* It may reserve space, but not punch holes. */
		{ "fallocate", 1, SANDBOX_INT, FALLOC_FL_KEEP_SIZE },
		SANDBOX_THREADS_CHECK,
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = "recvmmsg recvmmsg_time64 sendto pread64 ftruncate ftruncate64 mlock "
			   "fstatfs fstatfs64 " /* free disk space */
			   /* the control socket */
			   "accept accept4 epoll_ctl epoll_wait epoll_pwait send sendmmsg recv "
			   "recvfrom " SANDBOX_THREADS,
		.checked = checks,
		.refused = SANDBOX_OPENING,
		.never = SANDBOX_REACHING,
	};

	/* Other processes of the user must not read the keys, not even in a core dump. */
	prctl(PR_SET_DUMPABLE, 0);
	return sandbox_calls(&policy);
}

int sandbox_statistics(void)
{
	static const struct sandbox_check checks[] = {
		{ "fallocate", 1, SANDBOX_INT, FALLOC_FL_KEEP_SIZE },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.checked = checks,
		.refused = SANDBOX_OPENING,
		.never = SANDBOX_REACHING,
	};

	return sandbox_calls(&policy);
}

/* ---- the privileged process ------------------------------------------------------------------ */

/* Where files are made: -w's folder, or the folder of FILE or PREFIX, which also has the state. A
 * FIFO or a device needs no folder. */
static void output_path(struct sandbox_path *p, const struct collector_options *o, char *buffer)
{
	struct stat st;
	bool there = stat(o->write, &st) == 0;

	p->path = o->write;
	p->access = SANDBOX_MAKE;
	if (there &&
	    (S_ISDIR(st.st_mode) || (!S_ISREG(st.st_mode) && !(o->rotate_bytes || o->rotate_s))))
		return;
	snprintf(buffer, PATH_MAX, "%s", o->write);
	p->path = dirname(buffer);
}

/* A file that is replaced needs its folder. */
static void replaced_path(struct sandbox_path *p, const char *file, char *buffer)
{
	snprintf(buffer, PATH_MAX, "%s", file);
	p->path = dirname(buffer);
	p->access = SANDBOX_MAKE;
}

static int permit_files(const struct collector_options *o)
{
	const char *sockets[] = { o->control, o->live, o->board, o->sink, o->source };
	enum { SOCKETS = sizeof(sockets) / sizeof(sockets[0]) };
	struct sandbox_path paths[SOCKETS + 6] = { { 0 } }, *p = paths;
	char output[PATH_MAX], stats[PATH_MAX], state[PATH_MAX], sensors[PATH_MAX];
	char folders[SOCKETS][PATH_MAX];

	if (o->write && strcmp(o->write, "-"))
		output_path(p++, o, output);
	if (o->stats_file)
		replaced_path(p++, o->stats_file, stats);
	if (o->events)
		*p++ = (struct sandbox_path){ .path = o->events, .access = SANDBOX_MAKE };
	if (o->state)
		replaced_path(p++, o->state, state);
	for (int i = 0; i < SOCKETS; i++) {
		if (!sockets[i])
			continue;
		replaced_path(p, sockets[i], folders[i]); /* it is removed at the end */
		p++->access = LANDLOCK_ACCESS_FS_REMOVE_FILE;
	}
	if (o->sensors_file) { /* an editor may replace the file by a new one */
		replaced_path(p, o->sensors_file, sensors);
		p++->access = SANDBOX_READ;
	}
	return sandbox_paths(paths);
}

int sandbox_files(const struct collector_options *o, pid_t child, pid_t statistics)
{
	static const struct sandbox_check checks[] = { SANDBOX_TERMINAL_CHECKS, { 0 } };
	const struct sandbox_policy policy = {
		.checked = checks,
		.allowed =
			"open openat stat stat64 newfstatat fstatat64 statx dup flock fstatfs "
			"fstatfs64 unlink unlinkat rename renameat renameat2 wait4 waitid waitpid "
			"accept accept4",
		.never = SANDBOX_REACHING,
		.signalled = { child, statistics },
	};
	/* The other process, and perhaps the folder, belong to another user. */
	int err = privsep_keep(PRIVSEP_CAP(CAP_KILL) | PRIVSEP_CAP(CAP_DAC_OVERRIDE));

	tzset(); /* reads a file; names of output files have the time */
	err = err ?: permit_files(o);
	return err ?: sandbox_calls(&policy);
}
