// SPDX-License-Identifier: GPL-2.0
/* Promiscuous mode: see promiscuous.h. */
#include "promiscuous.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

int promiscuous_open(void)
{
	int sock = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* 0: no frames */

	return sock < 0 ? -errno : sock;
}

int promiscuous_set(int sock, int ifindex)
{
	struct packet_mreq mode = { .mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC };

	return setsockopt(sock, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mode, sizeof(mode)) ? -errno
											: 0;
}
