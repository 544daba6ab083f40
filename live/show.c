// SPDX-License-Identifier: GPL-2.0
/* Show: see show.h. */
#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "print/print.h"

int show_start(const struct print_options *o, pid_t *printer)
{
	int ends[2], err = print_check(o);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		log_line("cannot make a pipe: %s", strerror(errno));
		return -errno;
	}
	*printer = fork();
	if (*printer == 0) {
		close(ends[1]);
		_exit(print_process(ends[0], o));
	}
	close(ends[0]);
	if (*printer > 0)
		return ends[1];
	log_line("cannot start a process that prints: %s", strerror(errno));
	return -errno;
}
