// SPDX-License-Identifier: GPL-2.0
/*
 * play: plays the frames of a capture file to an interface.
 *
 *     play --tun mon0:803 -r FILE    makes a TUN device of ARPHRD_ type 803 (radiotap), which
 *                                    receives the frames as a monitor interface would
 *     play --send veth0 -r FILE      sends the frames from an interface (Ethernet)
 *     play --null -r FILE            writes them to /dev/null: the player's own cost
 *
 * --loop, --rate FRAMES/S (0: as fast as possible; default: the trace's own speed), --wait (for a
 * line on standard input, after printing "ready"). At the end, when all frames have arrived, prints
 * the number played. --heard IF receives them too, if sent frames are not counted, as on a radio's
 * monitor interface. The device ends with the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/pcap_read.h"

#define TUN_MTU 65535
#define ARRIVE_NS 10000000000ULL
#define CABLE_BURST 100

struct player {
	int fd;
	const char *cable; /* the sending interface; NULL: a TUN device receives */
	const char *heard; /* another interface that receives its frames, served last; or NULL */
	bool loop, own_speed;
	double rate;
	const char *file;
	uint64_t played, before; /* `before`: passed(), before the first */
};

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "play: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000ULL, ns % 1000000000ULL };

	while (!stop && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int open_tun(char *spec)
{
	struct ifreq r = { .ifr_flags = IFF_TUN };
	char *colon = strchr(spec, ':');
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC), sock = socket(AF_INET, SOCK_DGRAM, 0);

	if (!colon || fd < 0)
		fail("/dev/net/tun");
	*colon = 0;
	strncpy(r.ifr_name, spec, IFNAMSIZ - 1);
	if (ioctl(fd, TUNSETIFF, &r) || ioctl(fd, TUNSETLINK, (unsigned long)atoi(colon + 1)))
		fail(spec);
	r.ifr_mtu = TUN_MTU;
	if (ioctl(sock, SIOCSIFMTU, &r) || ioctl(sock, SIOCGIFFLAGS, &r))
		fail(spec);
	r.ifr_flags |= IFF_UP;
	if (ioctl(sock, SIOCSIFFLAGS, &r))
		fail(spec);
	close(sock);
	return fd;
}

static int open_sender(const char *interface)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&ll, sizeof(ll)))
		fail(interface);
	return fd;
}

/* ---- under way -------------------------------------------------------------------- */

/* Returns the frames sent from an end of a cable. If the other end has a queue (XDP), returns those
 * taken out of it. Or those received by `heard`. Sets *dropped to those dropped. */
static uint64_t passed(const struct player *p, uint64_t *dropped)
{
	const char *interface = p->heard ? p->heard : p->cable;
	FILE *f = fopen("/proc/net/dev", "re");
	size_t len = strlen(interface);
	uint64_t received = 0, sent = 0;
	char line[512], *name;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		name = line + strspn(line, " ");
		found = !strncmp(name, interface, len) && name[len] == ':' &&
			sscanf(name + len + 1,
			       "%*u %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64
			       " %*u %" SCNu64,
			       &received, &sent, dropped) == 3;
	}
	if (!found)
		fail(interface);
	fclose(f);
	return p->heard ? received : sent;
}

/* Waits until at most `most` are under way. No descriptor announces it. */
static void wait_passed(const struct player *p, uint64_t most)
{
	uint64_t until = now_ns() + ARRIVE_NS, arrived, dropped;

	while ((arrived = passed(p, &dropped) - p->before) + most < p->played) {
		if (now_ns() > until) {
			fprintf(stderr,
				"play: %s: of %" PRIu64 " frames, %" PRIu64
				" arrived in time; it dropped %" PRIu64 "\n",
				p->cable, p->played, arrived, dropped);
			exit(1);
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

/* Without a queue at the other end, frames wait in the queue of the CPU that sent them. So do
 * frames over loopback, after them. */
static void pass_queues(void)
{
	struct sockaddr_in self = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(self);
	struct timeval most = { .tv_sec = ARRIVE_NS / 1000000000 };
	cpu_set_t all, one;
	char byte = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&self, len) ||
	    getsockname(fd, (struct sockaddr *)&self, &len) ||
	    connect(fd, (struct sockaddr *)&self, len) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)) ||
	    sched_getaffinity(0, sizeof(all), &all))
		fail("loopback");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) || send(fd, &byte, 1, 0) != 1 ||
		    recv(fd, &byte, 1, 0) != 1)
			fail("loopback");
	}
	close(fd);
}

/* ---- frames --------------------------------------------------------------------------------- */

static void play_frame(struct player *p, const struct pcap_frame *f)
{
	static const uint8_t info[4] = { 0, 0, 0, 4 }; /* flags, ETH_P_802_2 */
	struct iovec iov[2] = { { (void *)info, sizeof(info) }, { (void *)f->data, f->cap_len } };

	while (writev(p->fd, p->cable ? iov + 1 : iov, p->cable ? 1 : 2) < 0) {
		if (errno == EINTR && !stop)
			continue;
		if (errno != ENOBUFS && errno != EAGAIN)
			return; /* down, or too short to be a frame: not played */
	}
	p->played++;
	/* Its queue has 256, and drops more if it is not emptied in time. */
	if (p->cable && p->played % CABLE_BURST == 0)
		wait_passed(p, CABLE_BURST);
}

static void play_file(struct player *p, uint64_t *clock_ns)
{
	uint64_t last_ns = 0, first = 1;
	struct pcap_reader *r = calloc(1, sizeof(*r));
	struct pcap_frame f;
	int got = pcap_open(r, open(p->file, O_RDONLY | O_CLOEXEC));

	if (got < 0) {
		fprintf(stderr, "play: %s: %s\n", p->file, r->why);
		exit(1);
	}
	while (!stop && (got = pcap_next(r, &f)) == 1) {
		if (p->own_speed && !first && f.time_ns > last_ns)
			*clock_ns += f.time_ns - last_ns;
		else if (p->rate > 0)
			*clock_ns += (uint64_t)(1e9 / p->rate);
		last_ns = f.time_ns;
		first = 0;
		if ((p->own_speed || p->rate > 0) && *clock_ns > now_ns() + 100000)
			sleep_until(*clock_ns);
		play_frame(p, &f);
	}
	pcap_close(r);
	free(r);
}

/* A line of "type N" changes the type of the TUN device (which is down); any other line starts
 * playing. */
static bool wait_for_go(struct player *p)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "type ", 5))
			return true;
		if (ioctl(p->fd, TUNSETLINK, (unsigned long)atoi(line + 5)))
			fail(line);
		printf("ready\n");
		fflush(stdout);
	}
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "tun", 1, 0, 't' },  { "send", 1, 0, 's' }, { "heard", 1, 0, 'h' },
		{ "read", 1, 0, 'r' }, { "rate", 1, 0, 'R' }, { "loop", 0, 0, 'l' },
		{ "wait", 0, 0, 'w' }, { "null", 0, 0, 'n' }, { 0 },
	};
	struct sigaction sa = { .sa_handler = on_signal };
	struct player p = { .fd = -1, .own_speed = true };
	uint64_t clock_ns, dropped;
	bool wait = false;
	int c;

	while ((c = getopt_long(argc, argv, "r:", longs, NULL)) != -1) {
		switch (c) {
		case 't':
			p.fd = open_tun(optarg);
			break;
		case 's':
			p.fd = open_sender(optarg);
			p.cable = optarg;
			break;
		case 'n':
			p.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
			break;
		case 'h':
			p.heard = optarg;
			break;
		case 'r':
			p.file = optarg;
			break;
		case 'R':
			p.rate = atof(optarg);
			p.own_speed = false;
			break;
		case 'l':
			p.loop = true;
			break;
		case 'w':
			wait = true;
			break;
		default:
			return 2;
		}
	}
	if (p.fd < 0 || !p.file) {
		fprintf(stderr, "play: give --tun NAME:ARPHRD, --send IF or --null, and -r FILE\n");
		return 2;
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	printf("ready\n");
	fflush(stdout);
	if (wait && !wait_for_go(&p))
		return 0;
	if (p.cable)
		p.before = passed(&p, &dropped);
	clock_ns = now_ns();
	do {
		play_file(&p, &clock_ns);
	} while (p.loop && !stop);
	if (p.cable) {
		pass_queues();
		wait_passed(&p, 0);
	}
	printf("%llu\n", (unsigned long long)p.played);
	fflush(stdout);
	if (wait && !stop) /* the device stays until standard input ends */
		while (getchar() != EOF)
			;
	return 0;
}
