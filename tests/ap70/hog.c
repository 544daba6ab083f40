// SPDX-License-Identifier: GPL-2.0
/*
 * hog: takes memory until the kernel ends the process that takes it, and then again, until SIGTERM.
 * Prints "taken" a line each time. The one that takes it is the first that the kernel looks for.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP (64 * 1024)

static volatile sig_atomic_t stop;
static pid_t taker;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
	if (taker > 0)
		kill(taker, SIGKILL);
}

static void take_all(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	void *p;

	if (fd < 0 || write(fd, "1000", 4) != 4)
		_exit(1);
	for (;;) {
		p = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			_exit(1);
		memset(p, 1, STEP);
	}
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int status = 0;

	sigaction(SIGTERM, &sa, NULL);
	while (!stop) {
		taker = fork();
		if (taker == 0)
			take_all();
		while (taker > 0 && waitpid(taker, &status, 0) < 0 && errno == EINTR)
			;
		if (taker < 0 || !WIFSIGNALED(status))
			return 1;
		if (!stop) {
			printf("taken\n");
			fflush(stdout);
		}
	}
	return 0;
}
