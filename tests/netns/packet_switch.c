// SPDX-License-Identifier: GPL-2.0
/*
 * packet_switch SEND-IF LISTEN-IF FRAMES [SLOW]: changes a packet socket's filter again and again
 * while frames come as fast as possible, beginning without a filter. Out: the counts, by the
 * ledger's names. Fails if a frame is in no counter, or in two. SLOW: this many sockets with slow
 * filters stand between the socket and its census. Frames then spend more time between the two than
 * reading both takes. There are also pauses between frames.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/tap/packet_socket.h"
#include "include/saluki/linktype.h"

#define PAUSE_US 500
#define SLOW_MAX 16
#define STEPS 8

static unsigned int frames, sent_frames, slow, step;
static int out;

static int open_sender(const char *interface)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		perror(interface);
		exit(1);
	}
	return fd;
}

/* The longest filter that the kernel takes; it refuses all frames. */
static int open_slow(const char *interface)
{
	static struct sock_filter code[BPF_MAXINSNS];
	struct sock_fprog p = { BPF_MAXINSNS, code };
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	for (int i = 0; i < BPF_MAXINSNS - 1; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 1);
	code[BPF_MAXINSNS - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		perror("slow socket");
		exit(1);
	}
	return fd;
}

static void *send_all(void *arg)
{
	uint8_t frame[60] = { 2, 0, 0, 0, 0, 0xfe, 2 };

	/* Sends on after the last of `frames`, until the filter has changed STEPS times. */
	for (unsigned int i = 0; i < frames || __atomic_load_n(&step, __ATOMIC_ACQUIRE) < STEPS;) {
		frame[14] = i;
		if (send(out, frame, sizeof(frame), 0) == sizeof(frame))
			sent_frames = ++i;
		else if (errno != ENOBUFS && errno != EAGAIN)
			exit(1);
		if (slow)
			usleep(PAUSE_US);
	}
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Accepts frames whose number has the bits of `mask`; 0: no filter. */
static void make_filter(struct filter *f, unsigned int mask)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 14),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	f->len = mask ? 5 : 0;
	memcpy(f->code, code, sizeof(code));
}

static uint64_t drain(struct packet_ring *r)
{
	struct packet p;
	uint64_t n = 0;

	while (packet_ring_next(r, &p))
		n++;
	return n;
}

/* Returns whether every frame was counted once. */
static bool try(const char *interface, unsigned int first)
{
	static const unsigned int masks[] = { 1, 3, 0, 2, 7, 0, 1, 0 };
	static struct filter f;
	const struct capture_options o = {
		.snaplen = 96,
		.ring_size = 1 << 20,
		.direction = DIRECTION_IN,
	};
	struct packet_counts *c = packet_counts_map(packet_counts_open());
	struct packet_socket s;
	struct packet_ring r;
	unsigned int seen;
	int between[SLOW_MAX];
	uint64_t taken = 0;
	pthread_t sender;
	bool sent = false;

	__atomic_store_n(&step, 0, __ATOMIC_RELEASE);
	make_filter(&f, first);
	if (!c || packet_socket_open(&s, PACKET_V3, &o, c) ||
	    packet_ring_map(&r, &s.layout, s.fd) ||
	    packet_socket_start(&s, if_nametoindex(interface), LINKTYPE_ETHERNET, false, false,
				&f)) {
		perror(interface);
		exit(1);
	}
	for (unsigned int i = 0; i < slow; i++)
		between[i] = open_slow(interface);
	pthread_create(&sender, NULL, send_all, &sent);
	while (!__atomic_load_n(&sent, __ATOMIC_ACQUIRE)) {
		taken += drain(&r);
		packet_counts_take(c, s.fd, s.census);
		seen = c->packets + packet_counts_filtered(c);
		if (step < STEPS && seen > frames / 10 * (step + 1)) {
			if (slow) /* the change comes anywhere between two frames */
				usleep(rand() % (2 * PAUSE_US));
			make_filter(&f, masks[step]);
			if (packet_socket_filter(&s, &f))
				exit(1);
			__atomic_store_n(&step, step + 1, __ATOMIC_RELEASE);
		}
	}
	pthread_join(sender, NULL);
	packet_socket_stop(&s);
	for (int i = 0; i < 50; i++) { /* the last block comes within 200 ms */
		taken += drain(&r);
		packet_counts_take(c, s.fd, s.census);
		if (taken == c->packets - c->drops)
			break;
		usleep(10000);
	}
	seen = c->packets + packet_counts_filtered(c);
	printf("seen %u = filtered %u + ring_full %u + captured %llu, %u changes\n", seen,
	       packet_counts_filtered(c), c->drops, (unsigned long long)taken, step);
	sent = seen == sent_frames && taken == c->packets - c->drops && step == STEPS;
	for (unsigned int i = 0; i < slow; i++)
		close(between[i]);
	packet_ring_unmap(&r);
	packet_socket_close(&s);
	packet_counts_unmap(c);
	return sent;
}

int main(int argc, char **argv)
{
	bool good = true;

	if (argc != 4 && argc != 5)
		return 2;
	out = open_sender(argv[1]);
	frames = atoi(argv[3]);
	slow = argc == 5 ? atoi(argv[4]) : 0;
	if (slow > SLOW_MAX)
		return 2;
	for (int i = 0; i < 6; i++)
		good &= try(argv[2], slow ? 0 : i & 1);
	return !good;
}
