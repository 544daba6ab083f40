// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <stddef.h>
#include <sys/prctl.h>

#include "common/privsep.h"
#include "common/sandbox.h"

#define CALLS "pread64 ftruncate ftruncate64 flock"

static const struct sandbox_check checks[] = {
	SANDBOX_TERMINAL_CHECKS,
	{ 0 },
};

int sandbox_merge(const char *folder)
{
	static const struct sandbox_policy one = {
		.allowed = CALLS,
		.checked = checks,
		.refused = SANDBOX_OPENING " " SANDBOX_REACHING,
	};
	static const struct sandbox_policy series = {
		.allowed = CALLS " open openat",
		.checked = checks,
		.refused = SANDBOX_REACHING,
	};
	const struct sandbox_path paths[] = { { folder, SANDBOX_MAKE }, { 0 } };
	/* The owner of a folder makes the files in it, so that the user stays. */
	int err = folder ? privsep_keep(0) : privsep_drop(PRIVSEP_USER_DEFAULT);

	if (!err && folder)
		err = sandbox_paths(paths);
	prctl(PR_SET_DUMPABLE, 0);
	return err ?: sandbox_calls(folder ? &series : &one);
}
