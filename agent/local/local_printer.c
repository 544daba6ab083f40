// SPDX-License-Identifier: GPL-2.0
/* Local printer: see local_printer.h. */
#include "local_printer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "local_process.h"
#include "print/print.h"

int local_printer_start(struct local_printer *p, const struct print_options *o)
{
	int ends[2], err = print_check(o);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		log_line("capture: cannot make a pipe: %s", strerror(errno));
		return -errno;
	}
	p->pid = fork();
	if (p->pid == 0) {
		close(ends[1]);
		_exit(print_process(ends[0], o));
	}
	close(ends[0]);
	p->pipe = ends[1];
	if (p->pid > 0)
		return 0;
	log_line("capture: cannot start a process that prints: %s", strerror(errno));
	return -errno;
}

int local_printer_wait(const struct local_printer *p)
{
	return local_process_wait(p->pid, "the process that prints");
}
