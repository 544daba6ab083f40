// SPDX-License-Identifier: GPL-2.0
/*
 * saluki-live: shows the frames that saluki-collector writes, while it writes them. A frame's way:
 *
 *     connect ─▶ source ─▶ reader ─▶ take: block, interfaces, select ─▶ stream, or show
 *
 * connect is a process of its own. The others read what sensors sent, in a sandbox. view.c has
 * their loop. extcap and toolbar: what Wireshark asks. remote: a collector on another machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "connect.h"
#include "extcap.h"
#include "install.h"
#include "options.h"
#include "remote.h"
#include "show.h"
#include "view.h"

/* Returns a descriptor, or -errno after a line. */
static int output_open(const char *write)
{
	int fd;

	if (!write)
		return show_start();
	if (!strcmp(write, "-"))
		return STDOUT_FILENO;
	fd = open(write, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (fd >= 0)
		return fd;
	log_line("-w %s: %s", write, strerror(errno));
	return -errno;
}

static int look(const struct live_options *o)
{
	int helper = options_far(o) ? 0 : connect_start(o->collector);
	int fd = helper < 0 ? helper : output_open(o->write);

	if (fd < 0)
		return 1;
	if (options_far(o))
		return remote_run(o, fd);
	return view(o, helper, fd, o->write ? o->write : "the printer");
}

int main(int argc, char **argv)
{
	struct live_options o;
	bool wireshark = extcap_is(argc, argv);
	int status = wireshark ? extcap_answer(&o, argc, argv) : options_parse(&o, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	status = o.install ? install_extcap() : look(&o);
	options_free(&o);
	return status;
}
