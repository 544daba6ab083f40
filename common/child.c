// SPDX-License-Identifier: GPL-2.0
/* Child: see child.h. */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "monotonic.h"
#include "privsep.h"

void child_own_signals(void)
{
	sigset_t none;

	setsid();
	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_DFL);
}

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

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

/* Returns a signal, also of a process that ended; 0: there was none for a second. */
static int next_signal(void)
{
	struct timespec second = { .tv_sec = 1 };
	sigset_t set;
	int signo;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	signo = sigtimedwait(&set, NULL, &second);
	return signo < 0 ? 0 : signo;
}

bool child_wait_patiently(pid_t pid, uint64_t patience_ns)
{
	uint64_t begun_ns = monotonic_ns(), first_ns = 0;

	privsep_insists(&first_ns);
	while (!has_ended(pid)) {
		int signo = next_signal();

		if (signo && signo != SIGCHLD && privsep_insists(&first_ns))
			return has_ended(pid);
		if (monotonic_ns() - begun_ns >= patience_ns)
			return has_ended(pid);
	}
	return true;
}
