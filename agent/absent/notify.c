// SPDX-License-Identifier: GPL-2.0
/* In place of common/notify.c in builds without libbpf: their machines have no systemd. */
#include "common/notify.h"

bool notify_is_wanted(void)
{
	return false;
}

void notify_open(struct notify *n)
{
	n->sock = -1;
}

void notify_alive(struct notify *n, const char *status)
{
}

void notify_stopping(struct notify *n)
{
}

void notify_close(struct notify *n)
{
}
