// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "common/privsep.h"
#include "common/sandbox.h"

#define FIND_CALLS "open openat pread64 statx"
#define CALLS                                                                                      \
	"open openat pread64 getdents getdents64 newfstatat fstatat64 renameat renameat2 mkdirat " \
	"unlinkat fsync fchmod fchown fchown32 utimensat utimensat_time64 flock statfs statfs64 "  \
	"fstatfs fstatfs64 statx syncfs"

#define COLUMNS_RIGHTS                                                                             \
	(SANDBOX_MAKE | SANDBOX_READ | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)

/* A collector's files are its user's, and the folder may be root's. */
#define CAPABILITIES                                                                               \
	(PRIVSEP_CAP(CAP_DAC_OVERRIDE) | PRIVSEP_CAP(CAP_FOWNER) | PRIVSEP_CAP(CAP_CHOWN))

int sandbox_keep(const char *folder, const char *columns)
{
	static const struct sandbox_check checks[] = {
		{ "fcntl", 1, SANDBOX_INT, F_SETFD }, /* fdopendir(3) */
		{ "fcntl64", 1, SANDBOX_INT, F_SETFD },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = CALLS,
		.checked = checks,
		.refused = SANDBOX_REACHING,
	};
	const struct sandbox_path paths[] = { { folder, SANDBOX_MAKE | SANDBOX_READ },
					      { columns, COLUMNS_RIGHTS },
					      { 0 } };
	int err = privsep_keep(CAPABILITIES) ?: sandbox_paths(paths);

	prctl(PR_SET_DUMPABLE, 0);
	return err ?: sandbox_calls(&policy);
}

int sandbox_find(const char *folder, const char *columns)
{
	static const struct sandbox_check checks[] = {
		SANDBOX_TERMINAL_CHECKS,
		{ 0 },
	};
	const struct sandbox_policy policy = {
		.allowed = columns ? CALLS : FIND_CALLS,
		.checked = checks,
		.refused = SANDBOX_REACHING,
	};
	/* For counts in local time. */
	const struct sandbox_path paths[] = { { folder, SANDBOX_READ },
					      { "/usr/share/zoneinfo", SANDBOX_READ },
					      { "/etc/localtime", LANDLOCK_ACCESS_FS_READ_FILE },
					      { columns, COLUMNS_RIGHTS },
					      { 0 } };
	/* Captures can be root's. */
	int err = privsep_keep(PRIVSEP_CAP(CAP_DAC_READ_SEARCH) | PRIVSEP_CAP(CAP_DAC_OVERRIDE))
			  ?: sandbox_paths(paths);

	prctl(PR_SET_DUMPABLE, 0);
	return err ?: sandbox_calls(&policy);
}
