// SPDX-License-Identifier: GPL-2.0
/* Local process: see local_process.h. */
#include "local_process.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "common/log.h"

int local_process_wait(pid_t pid, const char *what)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended != pid)
		return 1;
	if (WIFSIGNALED(status))
		log_line("capture: %s was ended by signal %d (%s)", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
