// SPDX-License-Identifier: GPL-2.0
/* Handout: see handout.h. */
#include "handout.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"
#include "common/unix_listen.h"

#define BACKLOG 128

int handout_listen(struct handout *h, const char *path, bool folder, const char **why)
{
	h->listener = unix_listen(path, SOCK_SEQPACKET, folder, BACKLOG, why);
	return h->listener < 0 ? h->listener : 0;
}

void handout_permit(const char *option, const char *path, const char *group)
{
	const struct group *g = getgrnam(group);

	if (g && chown(path, -1, g->gr_gid) == 0 && chmod(path, 0660) == 0)
		return;
	log_info(
		"%s %s: only this user can connect: %s; 'groupadd --system %s' makes the group for "
		"others",
		option, path, g ? strerror(errno) : "there is no such group", group);
}

int handout_polled(const struct handout *h, int *timeout)
{
	if (!h->waiting)
		return h->listener;
	if (*timeout < 0 || *timeout > 1000)
		*timeout = 1000;
	return -1;
}

void handout_give(struct handout *h, const void *hello, size_t len, uint64_t now_ns)
{
	int other, count = 0;

	h->waiting = !rate_limit_takes(&h->rate, HANDOUT_A_SECOND, now_ns);
	if (h->waiting)
		return;
	other = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (other < 0)
		return;
	while (count < HANDOUT_FDS_MAX && h->fds[count] >= 0)
		count++;
	privsep_send(other, hello, len, h->fds, count);
	close(other);
}

void handout_close(struct handout *h)
{
	int *all[] = { &h->listener, &h->fds[0], &h->fds[1], &h->fds[2] };

	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
}
