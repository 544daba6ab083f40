// SPDX-License-Identifier: GPL-2.0
/* Stop: see stop.h. */
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t count;
static sigset_t caught;

static void on_signal(int number)
{
	(void)number;
	count = count + 1;
}

void stop_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&caught, numbers[i]);
	sigprocmask(SIG_BLOCK, &caught, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

unsigned int stop_count(void)
{
	return count;
}

int stop_wait(int fd, short events, int timeout_ms)
{
	struct timespec time = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct pollfd p = { .fd = fd, .events = events };
	sig_atomic_t before = count;
	sigset_t none;
	int n;

	/* A descriptor that is always ready would keep them waiting. */
	sigprocmask(SIG_UNBLOCK, &caught, NULL);
	sigprocmask(SIG_BLOCK, &caught, NULL);
	if (count != before)
		return -EINTR;
	sigemptyset(&none);
	n = ppoll(&p, 1, timeout_ms < 0 ? NULL : &time, &none);
	return n < 0 ? -errno : n;
}
