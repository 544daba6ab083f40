// SPDX-License-Identifier: GPL-2.0
/* Starts the printing process: see print.h. */
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/child.h"
#include "common/log.h"
#include "common/privsep.h"

int print_start(const struct print_options *o, pid_t *pid)
{
	int ends[2], err = print_check(o);
	sigset_t signals, before;

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		log_line("cannot make a pipe: %s", strerror(errno));
		return -errno;
	}
	/* The process ignores a terminal's signals, and must not get one before it does. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	*pid = fork();
	if (*pid == 0) {
		close(ends[1]);
		_exit(print_process(ends[0], o));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	if (*pid > 0)
		return ends[1];
	log_line("cannot start a process that prints: %s", strerror(errno));
	return -errno;
}

int print_end(pid_t pid)
{
	sigset_t set;

	privsep_block_signals(&set);
	if (child_wait_patiently(pid, UINT64_MAX))
		return child_wait(pid, "the process that prints");
	log_line("not all frames were printed");
	return 1; /* the process that prints is killed with this one */
}
