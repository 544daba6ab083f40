/* SPDX-License-Identifier: GPL-2.0 */
/* Runs the collector's privileged process, which opens files, as a child of a unit test. */
#ifndef TESTS_FILES_UNIT_H
#define TESTS_FILES_UNIT_H

#include "unit.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/files/files.h"

static pid_t privileged;
static int sock; /* to the privileged process */

/* In the collector, the processes have a socket each. */
static bool asks_for_statistics(int of)
{
	struct files_request_message m = { 0 };

	return recv(of, &m, sizeof(m), MSG_PEEK) > 0 &&
	       (m.what == FILES_STATS || m.what == FILES_STATS_SPARE || m.what == FILES_STATS_DONE);
}

/* Starts it for `sensors` listed sensors. */
static void privileged_start(const struct collector_options *o, unsigned int sensors)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	privileged = fork();
	if (!privileged) {
		struct files f;

		close(pair[0]);
		if (files_init(&f, o) == 0) {
			files_limit_sensors(&f.limit, sensors);
			while (files_answer(&f, pair[1], asks_for_statistics(pair[1])) == 0)
				;
		}
		_exit(0);
	}
	close(pair[1]);
	sock = pair[0];
}

static void privileged_stop(void)
{
	close(sock);
	assert_int_equal(waitpid(privileged, NULL, 0), privileged);
}

#endif
