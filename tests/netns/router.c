// SPDX-License-Identifier: GPL-2.0
/*
 * router IN OUT LOG: forwards IP packets from one interface to the other as a router does, each
 * after its own delay, and logs the times. Delays rise and fall between MIN and MAX. One packet in
 * REORDER is overtaken by later ones, one in LOSE is lost, one in COPY is sent twice.
 *
 * TTL and hop limit fall by one, and at zero the packet is dropped. DSCP and ECN change, with
 * IPv4's checksum. MAC addresses become the router's, and an outer VLAN tag is removed. In MPLS the
 * label's TTL falls. Other protocols are not forwarded.
 *
 * Prints "ready", forwards until its input ends, then the frames under way, and prints how many
 * came. LOG has one line per frame, in order of arrival: its arrival time, and its fate: a time
 * before and one after its sending (ns since 1970), twice if it was copied, or "lost", "expired",
 * "other".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MIN_NS 2000000ULL
#define MAX_NS 40000000ULL
#define PERIOD 4001 /* packets in which a delay rises and falls */
#define REORDER 50
#define REORDER_NS 1500000
#define LOSE 97
#define COPY 211

#define FRAME_MAX 4096
#define FRAMES_MAX (1 << 20)
#define BUFFER_BYTES (64 << 20)
#define TAG_LEN 4

struct frame {
	uint64_t due_ns;
	uint32_t number;
	uint16_t len;
	uint8_t data[];
};

static struct fate {
	uint64_t came_ns, before_ns[2], behind_ns[2];
	unsigned int sent;
	const char *why;
} * fates;
static uint32_t count;

static struct frame *heap[FRAMES_MAX]; /* by due time */
static uint32_t held;
static int in, out;
static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };

static void fail(const char *what)
{
	fprintf(stderr, "router: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- waiting frames -------------------------------------------------------------------------- */

static bool sooner(const struct frame *a, const struct frame *b)
{
	return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->number < b->number);
}

static void hold(struct frame *f)
{
	uint32_t i = held++;

	for (; i && sooner(f, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = f;
}

static struct frame *release(void)
{
	struct frame *first = heap[0], *last = heap[--held];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < held; i = child) {
		child += child + 1 < held && sooner(heap[child + 1], heap[child]);
		if (!sooner(heap[child], last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return first;
}

/* ---- routing --------------------------------------------------------------------------------- */

static uint64_t delay_ns(uint32_t number)
{
	uint32_t at = number % PERIOD, up = at < PERIOD / 2 ? at : PERIOD - at;

	return MIN_NS + (MAX_NS - MIN_NS) * up / (PERIOD / 2) +
	       (number % REORDER == 7 ? REORDER_NS : 0);
}

static void checksum(uint8_t *ip)
{
	uint32_t sum = 0, len = (ip[0] & 15) * 4;

	ip[10] = ip[11] = 0;
	for (uint32_t i = 0; i < len; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = ~sum >> 8;
	ip[11] = ~sum;
}

/* Returns NULL if the packet is forwarded. */
static const char *route(uint8_t *data, uint32_t len)
{
	uint32_t type = data[12] << 8 | data[13];
	uint8_t *ip = data + ETH_HLEN, *ttl;

	if (type == ETHERTYPE_IP && len >= ETH_HLEN + 20 && (ip[0] & 15) >= 5 &&
	    len >= ETH_HLEN + (ip[0] & 15) * 4U)
		ttl = ip + 8;
	else if (type == ETHERTYPE_IPV6 && len >= ETH_HLEN + 40)
		ttl = ip + 7;
	else if ((type == 0x8847 || type == 0x8848) && len >= ETH_HLEN + 4)
		ttl = ip + 3;
	else
		return "other";
	if (*ttl <= 1)
		return "expired";
	--*ttl;
	if (type == ETHERTYPE_IP) {
		ip[1] ^= 0xb9; /* DSCP and ECN */
		checksum(ip);
	} else if (type == ETHERTYPE_IPV6) {
		ip[0] ^= 0x0b;
		ip[1] ^= 0x90;
	}
	memcpy(data, macs, sizeof(macs));
	return NULL;
}

static void take(const uint8_t *data, uint32_t len, uint64_t came_ns)
{
	uint32_t number = count++;
	struct frame *f;

	if (number == FRAMES_MAX) {
		fprintf(stderr, "router: more than %d frames\n", FRAMES_MAX);
		exit(1);
	}
	f = malloc(sizeof(*f) + len);
	if (!f)
		fail("memory");
	*f = (struct frame){ .due_ns = came_ns + delay_ns(number), .number = number, .len = len };
	memcpy(f->data, data, len);
	fates[number].came_ns = came_ns;
	fates[number].why = number % LOSE == 11 ? "lost" : route(f->data, len);
	if (fates[number].why)
		free(f);
	else
		hold(f);
}

static void send_frame(struct frame *f)
{
	struct fate *fate = &fates[f->number];
	int copies = f->number % COPY == 5 ? 2 : 1;

	for (; copies; copies--) {
		fate->before_ns[fate->sent] = now_ns();
		if (send(out, f->data, f->len, 0) != f->len)
			fail("send");
		fate->behind_ns[fate->sent++] = now_ns();
	}
	free(f);
}

/* ---- sockets --------------------------------------------------------------------------------- */

static int open_interface(const char *name, int protocol)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(protocol),
				  .sll_ifindex = if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, bytes = BUFFER_BYTES;

	if (fd < 0 || !at.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		fail(name);
	return fd;
}

static uint64_t stamp_of(struct msghdr *m)
{
	struct timespec t;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			return t.tv_sec * 1000000000ULL + t.tv_nsec;
		}
	errno = ENODATA;
	fail("no stamp");
	return 0;
}

/* Receives all waiting frames. */
static void receive(void)
{
	uint8_t data[FRAME_MAX], control[256];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	ssize_t len;

	for (;;) {
		m.msg_controllen = sizeof(control);
		len = recvmsg(in, &m, MSG_DONTWAIT | MSG_TRUNC);
		if (len < 0 && errno == EAGAIN)
			return;
		if (len < ETH_HLEN || len > FRAME_MAX)
			fail("receive");
		take(data, len, stamp_of(&m));
	}
}

/* Waits for a frame, for the next due time, or for the end of the input. */
static bool wait_for_any(bool ended)
{
	struct pollfd on[2] = { { .fd = in, .events = POLLIN },
				{ .fd = ended ? -1 : STDIN_FILENO, .events = POLLIN } };
	uint64_t now = now_ns(), left = held && heap[0]->due_ns > now ? heap[0]->due_ns - now : 0;
	struct timespec t = { .tv_nsec = left % 1000000000, .tv_sec = left / 1000000000 };
	char c;

	if (ppoll(on, 2, held ? &t : NULL, NULL) < 0)
		fail("poll");
	return ended || (on[1].revents && read(STDIN_FILENO, &c, 1) == 0);
}

static void write_log(const char *path)
{
	FILE *log = fopen(path, "w");

	if (!log)
		fail(path);
	for (uint32_t i = 0; i < count; i++) {
		const struct fate *f = &fates[i];

		fprintf(log, "%" PRIu64 " %s", f->came_ns, f->why ? f->why : "sent");
		for (unsigned int n = 0; n < f->sent; n++)
			fprintf(log, " %" PRIu64 " %" PRIu64, f->before_ns[n], f->behind_ns[n]);
		fputc('\n', log);
	}
	if (fclose(log))
		fail(path);
}

int main(int argc, char **argv)
{
	bool ended = false;

	if (argc != 4) {
		fprintf(stderr, "Usage: router IN OUT LOG\n");
		return 2;
	}
	fates = calloc(FRAMES_MAX, sizeof(*fates));
	if (!fates)
		fail("memory");
	prctl(PR_SET_TIMERSLACK, 1);
	in = open_interface(argv[1], ETH_P_ALL);
	out = open_interface(argv[2], 0);
	printf("ready\n");
	fflush(stdout);
	while (!ended || held) {
		ended = wait_for_any(ended);
		receive();
		while (held && heap[0]->due_ns <= now_ns())
			send_frame(release());
	}
	write_log(argv[3]);
	printf("%" PRIu32 "\n", count);
	return 0;
}
