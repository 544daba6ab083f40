// SPDX-License-Identifier: GPL-2.0
/* Signals: see signals.h. */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"

int signals_open(struct signals *s)
{
	sigset_t set;

	*s = (struct signals){ .fd = -1 };
	privsep_block_signals(&set);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd >= 0)
		return 0;
	log_line("signalfd: %s", strerror(errno));
	return -errno;
}

bool signals_read(struct signals *s)
{
	struct signalfd_siginfo i;

	while (read(s->fd, &i, sizeof(i)) == sizeof(i)) {
		s->stop |= i.ssi_signo != SIGUSR1;
		s->report |= i.ssi_signo == SIGUSR1;
	}
	return s->stop;
}

void signals_close(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
