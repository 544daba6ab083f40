// SPDX-License-Identifier: GPL-2.0
/* Child: see child.h. */
#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "log.h"

int child_wait(pid_t pid, const char *what)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended != pid)
		return 1;
	if (WIFSIGNALED(status))
		log_line("%s was ended by signal %d (%s)", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
