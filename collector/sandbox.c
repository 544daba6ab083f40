// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in saluki/sandbox.h. */
#include "sandbox.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include <saluki/privsep.h>
#include <saluki/sandbox.h>

/* ---- the unprivileged process ---------------------------------------------------------------- */

int sandbox_receiving(void)
{
	static const struct sandbox_policy policy = {
		.allowed = "recvmmsg recvmmsg_time64 sendto pread64 ftruncate ftruncate64",
		.refused = SANDBOX_OPENING,
		.never = SANDBOX_REACHING,
	};

	/* Nobody of the same user may look at the keys, also in what a crash leaves behind. */
	prctl(PR_SET_DUMPABLE, 0);
	return sandbox_calls(&policy);
}

/* ---- the privileged process ------------------------------------------------------------------ */

/* Where files are made: the folder that -w names, or the one that FILE or PREFIX is in. A single
 * FILE that is there already is all that is needed; it may be a device, among others. */
static void output_path(struct sandbox_path *p, const struct collector_options *o, char *buffer)
{
	struct stat st;
	bool there = stat(o->write, &st) == 0;

	p->path = o->write;
	p->access = SANDBOX_MAKE;
	if (there && (S_ISDIR(st.st_mode) || !(o->rotate_bytes || o->rotate_s)))
		return;
	snprintf(buffer, PATH_MAX, "%s", o->write);
	p->path = dirname(buffer);
}

static int permit_files(const struct collector_options *o)
{
	struct sandbox_path paths[3] = { { 0 } }, *p = paths;
	char output[PATH_MAX], stats[PATH_MAX];

	if (strcmp(o->write, "-"))
		output_path(p++, o, output);
	if (o->stats_file) {
		snprintf(stats, sizeof(stats), "%s", o->stats_file);
		p->path = dirname(stats);
		p->access = SANDBOX_MAKE;
	}
	return sandbox_paths(paths);
}

int sandbox_files(const struct collector_options *o, pid_t child)
{
	const struct sandbox_policy policy = {
		.allowed = "open openat stat stat64 newfstatat fstatat64 statx dup flock unlink "
			   "unlinkat rename renameat renameat2 wait4 waitid waitpid",
		.never = SANDBOX_REACHING,
		.child = child,
	};
	/* The other process is another user's, and so may the folder be. */
	int err = privsep_keep(PRIVSEP_CAP(CAP_KILL) | PRIVSEP_CAP(CAP_DAC_OVERRIDE));

	tzset(); /* reads a file, and the names of files have a time in them */
	err = err ?: permit_files(o);
	return err ?: sandbox_calls(&policy);
}
