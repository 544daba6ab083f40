// SPDX-License-Identifier: GPL-2.0
/*
 * slow A B DELAY_US: joins two interfaces into one cable that delays frames in both directions by
 * DELAY_US. TCP frames take N + 1 times as long, where N is the lower port's last three bits: other
 * ports are farther away. Frames keep their order within a direction and port.
 *
 * Prints "ready". At the end of its input it stops and prints how many frames each interface
 * received and sent: "A-in A-out B-in B-out". Delays count from the kernel's receive time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 2048
#define BUFFER_BYTES (16 << 20)
#define PORTS_MASK 7
#define BATCH 64 /* frames of one interface before due ones are sent */

struct held {
	struct held *next;
	uint64_t due_ns;
	uint32_t len;
	int to;
	uint8_t data[];
};

static struct {
	int fd;
	unsigned long in, out;
} ends[2];
static struct held *held; /* by due time */
static uint64_t delay_ns;

static void fail(const char *what)
{
	fprintf(stderr, "slow: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int open_end(const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int one = 1, size = BUFFER_BYTES, fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);

	at.sll_ifindex = if_nametoindex(name);
	if (fd < 0 || !at.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		fail(name);
	return fd;
}

/* Returns the factor of DELAY_US. */
static unsigned int times(const uint8_t *data, uint32_t len)
{
	uint32_t type = data[12] << 8 | data[13], tcp = 0, a, b;

	if (type == ETHERTYPE_IP && len >= 34 && data[23] == 6)
		tcp = 14 + (data[14] & 15) * 4;
	else if (type == ETHERTYPE_IPV6 && len >= 54 && data[20] == 6)
		tcp = 54;
	if (!tcp || len < tcp + 4)
		return 1;
	a = data[tcp] << 8 | data[tcp + 1];
	b = data[tcp + 2] << 8 | data[tcp + 3];
	return 1 + ((a < b ? a : b) & PORTS_MASK);
}

static void hold(int to, const uint8_t *data, uint32_t len, uint64_t came_ns)
{
	struct held *h = malloc(sizeof(*h) + len), **at = &held;

	if (!h)
		fail("memory");
	h->due_ns = came_ns + delay_ns * times(data, len);
	h->len = len;
	h->to = to;
	memcpy(h->data, data, len);
	while (*at && (*at)->due_ns <= h->due_ns)
		at = &(*at)->next;
	h->next = *at;
	*at = h;
}

static bool take(int from)
{
	uint8_t data[FRAME_MAX], control[256];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	uint64_t came_ns = now_ns();
	ssize_t len = recvmsg(ends[from].fd, &m, 0);
	struct timespec t;

	if (len < 0 && (errno == EAGAIN || errno == ENETDOWN))
		return false;
	if (len < ETH_HLEN || (m.msg_flags & MSG_TRUNC))
		fail("a frame"); /* or one that was not cut to the MTU */
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			came_ns = t.tv_sec * 1000000000ULL + t.tv_nsec;
		}
	}
	ends[from].in++;
	hold(!from, data, len, came_ns);
	return true;
}

static void send_due(void)
{
	for (struct held *h; (h = held) && h->due_ns <= now_ns();) {
		held = h->next;
		if (send(ends[h->to].fd, h->data, h->len, 0) != (ssize_t)h->len)
			fail("send");
		ends[h->to].out++;
		free(h);
	}
}

static void set_timer(int timer)
{
	struct itimerspec t = { 0 };

	if (held) {
		t.it_value.tv_sec = held->due_ns / 1000000000;
		t.it_value.tv_nsec = held->due_ns % 1000000000;
	}
	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL))
		fail("timer");
}

static void join(void)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	struct pollfd p[4] = { { STDIN_FILENO, POLLIN, 0 },
			       { timer, POLLIN, 0 },
			       { ends[0].fd, POLLIN, 0 },
			       { ends[1].fd, POLLIN, 0 } };
	char order;

	while (!p[0].revents || read(STDIN_FILENO, &order, 1) > 0) {
		set_timer(timer);
		if (poll(p, 4, -1) < 0)
			fail("poll");
		for (int i = 0; i < 2; i++)
			for (int n = 0; n < BATCH && p[2 + i].revents && take(i); n++)
				;
		send_due();
	}
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 10 };

	if (argc != 4 || !atoi(argv[3])) {
		fprintf(stderr, "Usage: slow A B DELAY_US\n");
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
	sched_setscheduler(0, SCHED_FIFO, &first); /* if allowed: others load the CPUs too */
	delay_ns = atoi(argv[3]) * 1000ULL;
	for (int i = 0; i < 2; i++)
		ends[i].fd = open_end(argv[1 + i]);
	printf("ready\n");
	fflush(stdout);
	join();
	printf("%lu %lu %lu %lu\n", ends[0].in, ends[0].out, ends[1].in, ends[1].out);
	return 0;
}
