// SPDX-License-Identifier: GPL-2.0
/* Stop: see stop.h. */
#include "stop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define READER_MS 3000

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

static int wait_for_reader(int fd)
{
	int n;

	do
		n = stop_wait(fd, POLLOUT, !count ? -1 : count == 1 ? READER_MS : 0);
	while (n == -EINTR);
	return n < 0 ? n : n ? 0 : -ECANCELED;
}

ssize_t stop_write(int fd, const void *p, size_t len)
{
	ssize_t n;

	do {
		int err = wait_for_reader(fd);

		if (err)
			return err;
		/* So much does not block. Others who use the pipe may be faster. */
		n = write(fd, p, len < PIPE_BUF ? len : PIPE_BUF);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : n;
}
