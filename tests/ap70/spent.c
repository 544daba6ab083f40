// SPDX-License-Identifier: GPL-2.0
/*
 * spent FILE PROGRAM [ARG]...: runs a program, passes SIGINT and SIGTERM on to it, and writes to
 * FILE the run time, in microseconds, of it, its threads, and the processes it waited for, in the
 * kernel too. The kernel adds these up to the nanosecond at each switch (sum_exec_runtime). In
 * getrusage(), only the split between user and kernel is an estimate.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void pass_on(int signo)
{
	if (child > 0)
		kill(child, signo);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = pass_on };
	struct rusage u;
	int status = 0;
	FILE *f;

	if (argc < 3)
		return 2;
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(1);
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (wait4(child, &status, 0, &u) < 0)
		if (errno != EINTR)
			return 1;
	f = fopen(argv[1], "w");
	if (!f)
		return 1;
	fprintf(f, "%llu\n",
		(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000ULL + u.ru_utime.tv_usec +
			u.ru_stime.tv_usec);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
