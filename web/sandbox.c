// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "common/privsep.h"
#include "common/sandbox.h"

int sandbox_server(const char *user)
{
	static const struct sandbox_check checks[] = {
		{ "fcntl", 1, SANDBOX_INT, F_GET_SEALS },
		{ "fcntl64", 1, SANDBOX_INT, F_GET_SEALS },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.checked = checks,
		.allowed = "accept accept4 epoll_wait epoll_pwait epoll_ctl recv recvfrom send "
			   "sendto setsockopt shutdown",
		/* The C library tries to open the time zone. */
		.refused = SANDBOX_OPENING " " SANDBOX_REACHING,
	};
	static const struct sandbox_path none[] = { { 0 } };
	int err = privsep_drop(user);

	prctl(PR_SET_DUMPABLE, 0);
	err = err ?: sandbox_paths(none);
	return err ?: sandbox_calls(&policy);
}

int sandbox_connector(void)
{
	static const struct sandbox_check checks[] = {
		{ "socket", 0, SANDBOX_INT, AF_UNIX },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		.allowed = "connect setsockopt",
		.checked = checks,
		.refused = SANDBOX_OPENING,
	};
	static const struct sandbox_path none[] = { { 0 } };
	int err = privsep_keep(0);

	prctl(PR_SET_DUMPABLE, 0);
	err = err ?: sandbox_paths(none);
	return err ?: sandbox_calls(&policy);
}
