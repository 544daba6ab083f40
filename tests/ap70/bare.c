// SPDX-License-Identifier: GPL-2.0
/*
 * bare INTERFACE RING-KIB: the least work with a packet socket's ring (TPACKET_V3): requests the
 * same ring as the sensor and the same part of each frame, and counts the frames in the blocks.
 * Prints "counting", and at SIGINT the number of frames.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <saluki/linktype.h>
#include <saluki/record.h>

#include "agent/tap/packet_socket.h"

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

/* Counts the frames of blocks that are ours, from `at` on, and gives them back. */
static unsigned long count(uint8_t *ring, const struct packet_layout *l, uint32_t *at)
{
	unsigned long frames = 0;

	for (;;) {
		struct tpacket_hdr_v1 *h =
			&((struct tpacket_block_desc *)(ring + (size_t)*at * l->block_size))
				 ->hdr.bh1;

		if (!(__atomic_load_n(&h->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			return frames;
		frames += h->num_pkts;
		__atomic_store_n(&h->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		*at = (*at + 1) % l->blocks;
	}
}

int main(int argc, char **argv)
{
	static struct filter all;
	struct sigaction sa = { .sa_handler = on_signal };
	struct capture_options o = { .snaplen = SALUKI_SNAPLEN_DEFAULT };
	struct packet_counts counts = { 0 };
	struct packet_socket s;
	unsigned long frames = 0;
	sigset_t waiting;
	uint32_t at = 0;
	uint8_t *ring;

	if (argc != 3)
		return 2;
	o.ring_size = atoi(argv[2]) * 1024;
	sigaddset(&sa.sa_mask, SIGINT);
	sigaction(SIGINT, &sa, NULL);
	if (packet_socket_open(&s, PACKET_V3, &o, &counts) || s.layout.version != PACKET_V3)
		return 1;
	ring = mmap(NULL, (size_t)s.layout.block_size * s.layout.blocks, PROT_READ | PROT_WRITE,
		    MAP_SHARED, s.fd, 0);
	if (ring == MAP_FAILED || packet_socket_start(&s, if_nametoindex(argv[1]),
						      LINKTYPE_RADIOTAP, true, false, &all)) {
		perror(argv[1]);
		return 1;
	}
	fprintf(stderr, "counting\n");
	/* The signal comes only while it waits. */
	sigprocmask(SIG_BLOCK, &sa.sa_mask, &waiting);
	while (!stop) {
		struct pollfd p = { .fd = s.fd, .events = POLLIN };

		ppoll(&p, 1, NULL, &waiting);
		frames += count(ring, &s.layout, &at);
	}
	fprintf(stderr, "%lu frames\n", frames);
	return 0;
}
