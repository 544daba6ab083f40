// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-live: shows frames while saluki-collector writes them. A frame passes through:
 *
 *     connect ─▶ source ─▶ reader ─▶ take: block, interfaces, select ─▶ stream, or show
 *
 * connect is a separate process. The other stages read untrusted frames, in a sandbox. view.c has
 * their loop. extcap and toolbar answer Wireshark. remote reaches a collector on another machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/child.h"
#include "common/descriptors.h"
#include "common/extcap.h"
#include "common/extcap_install.h"
#include "common/log.h"
#include "connect.h"
#include "extcap.h"
#include "options.h"
#include "print/print.h"
#include "remote.h"
#include "view.h"

/* Returns a descriptor, or -errno after a line. `printer` is the process that prints; 0: none. */
static int output_open(const struct live_options *o, pid_t *printer)
{
	int fd;

	*printer = 0;
	if (!o->write)
		return print_start(&o->print, printer);
	if (!strcmp(o->write, "-"))
		return STDOUT_FILENO;
	fd = open(o->write, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (fd >= 0)
		return fd;
	log_line("-w %s: %s", o->write, strerror(errno));
	return -errno;
}

/* If frames are printed, ssh runs in a child process, and this process waits for both. */
static int look_far(const struct live_options *o, int fd, pid_t printer)
{
	pid_t child = printer ? fork() : 0;

	if (!printer)
		return remote_run(o, fd);
	if (child == 0)
		_exit(remote_run(o, fd));
	close(fd);
	return child > 0 ? child_wait(child, "ssh") : 1;
}

/* The printing process starts first, so that it inherits no socket to a collector. */
static int look(const struct live_options *o)
{
	pid_t printer;
	int fd = output_open(o, &printer), helper, status;

	if (fd < 0)
		return 1;
	helper = options_far(o) ? 0 : connect_start(o->collector, fd);
	if (helper < 0)
		status = 1;
	else if (options_far(o))
		status = look_far(o, fd, printer);
	else
		status = view(o, helper, fd, o->write ?: "standard output");
	if (!printer)
		return status;
	close(fd);
	return print_end(printer) ?: status;
}

int main(int argc, char **argv)
{
	struct live_options o;
	int status;

	descriptors_open_standard();
	status = extcap_is(EXTCAP_LINK, argc, argv) ? extcap_answer(&o, argc, argv)
						    : options_parse(&o, argc, argv);
	if (status)
		return status < 0 ? 0 : status;
	status = o.install ? extcap_install(EXTCAP_LINK, "Saluki") : look(&o);
	options_free(&o);
	return status;
}
