// SPDX-License-Identifier: GPL-2.0
/*
 * hog: takes memory until the kernel ends the process that takes it, and then again, until SIGTERM.
 * Prints a line "taken" each time. The taking process is the first that the kernel chooses. It
 * requests all memory at once and then writes to it. If it were ended within mmap(), it would hold
 * the lock that the kernel needs to free its memory, and the kernel would choose another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL (256 << 20) /* more than there is */
#define PAGE 4096

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
	volatile char *p;

	if (fd < 0 || write(fd, "1000", 4) != 4)
		_exit(1);
	p = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	for (size_t i = 0; p != MAP_FAILED && i < ALL; i += PAGE)
		p[i] = 1;
	_exit(1);
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
