// SPDX-License-Identifier: GPL-2.0
/* Generation: see generation.h. In: uevents (lib/kobject_uevent.c). */
#include "generation.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_UEVENTS 1	/* the kernel's multicast group */
#define UEVENT_MAX (2048 + 256) /* UEVENT_BUFFER_SIZE and the header before it */

int generation_open(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_UEVENTS };
	int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&kernel, sizeof(kernel))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A uevent is a series of strings that end with a 0: a header, then NAME=VALUE. */
static bool is_new_generation(const char *event, size_t len)
{
	static const char wanted[] = "NEW_VMGENID=1";

	for (size_t at = 0; at < len; at += strnlen(event + at, len - at) + 1)
		if (len - at >= sizeof(wanted) && !memcmp(event + at, wanted, sizeof(wanted)))
			return true;
	return false;
}

bool generation_changed(int fd)
{
	char event[UEVENT_MAX];
	bool changed = false;

	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t n =
			recvfrom(fd, event, sizeof(event), 0, (struct sockaddr *)&from, &from_len);

		if (n < 0)
			return changed;
		changed |= !from.nl_pid && is_new_generation(event, n);
	}
}
