// SPDX-License-Identifier: GPL-2.0
/* Starts the printing process: see print.h. */
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

int print_start(const struct print_options *o, pid_t *pid)
{
	int ends[2], err = print_check(o);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		log_line("cannot make a pipe: %s", strerror(errno));
		return -errno;
	}
	*pid = fork();
	if (*pid == 0) {
		close(ends[1]);
		_exit(print_process(ends[0], o));
	}
	close(ends[0]);
	if (*pid > 0)
		return ends[1];
	log_line("cannot start a process that prints: %s", strerror(errno));
	return -errno;
}
