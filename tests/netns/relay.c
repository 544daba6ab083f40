// SPDX-License-Identifier: GPL-2.0
/*
 * relay LISTEN-HOST PORT TO-HOST PORT: simulates a bad network between sensors and a collector.
 * Each sensor address has its own socket to the collector. Orders come on standard input, one per
 * line, after "up" (to the collector) or "down" for one direction only. It prints a line when an
 * order is done ("ok", or the result).
 *
 *     loss P         drops P per cent           duplicate P   sends P per cent twice
 *     corrupt P      changes a bit of P per cent
 *     reorder N      delays each datagram by up to N others, or until QUIET_NS without one
 *     delay MS       all of them                mtu N         drops IP packets of more bytes
 *     cut, mend      stops all datagrams        seed N        restarts the random numbers
 *     rebind [HOST]  the collector sees all sensors at new ports (of address HOST)
 *     to PORT        sensors reach another collector, at this port of the same host
 *     record FILE    writes the datagrams from now on, as received: direction 1 (0 up), time 8,
 *                    sensor's port 2, length 2 (big endian), datagram
 *     replay FILE    sends a recording's upward datagrams, from a socket of its own
 *     counts         prints the line of the end
 *
 * The same datagrams under the same seed have the same fate. The relay ends with its input.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire/bytes.h"

#define FLOWS_MAX 1024
#define DATAGRAM_MAX 2048
#define HELD_MAX 65536		      /* datagrams in the relay, per direction */
#define QUIET_NS (20 * 1000000ULL)    /* without a datagram for this time, none is held back */
#define BUFFER_BYTES (16 << 20)	      /* of sockets: the relay counts all its losses */
#define REPLAY_BATCH 32		      /* datagrams before each pause */
#define REPLAY_PAUSE_NS (1 * 1000000) /* so that the collector's buffer holds them all */
#define RECORD_HEADER_LEN 13

struct flow {
	struct sockaddr_storage sensor;
	socklen_t sensor_len;
	int up; /* socket to the collector */
};

struct held {
	struct held *next;
	uint64_t place, due_ns;
	struct flow *flow;
	size_t len;
	uint8_t data[DATAGRAM_MAX];
};

struct direction {
	const char *name;
	double loss, duplicate, corrupt;
	unsigned long reorder, mtu;
	uint64_t delay_ns;
	bool cut;

	uint64_t chance;     /* random generator's state */
	uint64_t count;	     /* datagrams accepted */
	uint64_t last_ns;    /* time of the last one */
	struct held *places; /* by place: to be reordered */
	struct held *due;    /* by time: delayed */
	unsigned int held;

	unsigned long received, sent, lost, cut_off, too_large, duplicated, corrupted, full;
};

static struct direction ways[2] = { { .name = "up" }, { .name = "down" } };
static struct flow flows[FLOWS_MAX];
static unsigned int flow_count;
static struct addrinfo *collector;
static struct sockaddr_storage own; /* of the sockets to the collector; family 0: any */
static socklen_t own_len;
static int listener;
static FILE *recording;

static void fail(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- random numbers -------------------------------------------------------------------------- */

static void seed(struct direction *d, uint64_t n)
{
	d->chance = (n + 1) * 0x9e3779b97f4a7c15ULL ^ (d - ways + 1) * 88172645463325252ULL;
}

static uint64_t draw(struct direction *d)
{
	uint64_t x = d->chance; /* xorshift64*, G. Marsaglia 2003, S. Vigna 2014 */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	d->chance = x;
	return x * 0x2545f4914f6cdd1dULL >> 16;
}

static bool happens(struct direction *d, double per_cent)
{
	return draw(d) % 1000000 < per_cent * 10000;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static struct addrinfo *resolve(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST }, *a;

	if (getaddrinfo(host, port, &hints, &a))
		fail(host);
	return a;
}

static int open_socket(int family)
{
	int size = BUFFER_BYTES, s = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (s < 0)
		fail("socket");
	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		fail("buffers");
	return s;
}

static int open_up(void)
{
	int s = open_socket(collector->ai_family);

	if (own_len && bind(s, (struct sockaddr *)&own, own_len))
		fail("bind");
	if (connect(s, collector->ai_addr, collector->ai_addrlen))
		fail("connect");
	return s;
}

static void rebind(const char *host)
{
	if (host) {
		struct addrinfo *a = resolve(host, "0");

		memcpy(&own, a->ai_addr, a->ai_addrlen);
		own_len = a->ai_addrlen;
		freeaddrinfo(a);
	}
	for (unsigned int i = 0; i < flow_count; i++) {
		int fresh = open_up(); /* before the old one is closed, to get another port */

		close(flows[i].up);
		flows[i].up = fresh;
	}
}

static void move_to(const char *port)
{
	uint16_t n = htons(strtoul(port, NULL, 10));

	/* The port is at the same offset in both families. */
	memcpy((uint8_t *)collector->ai_addr + 2, &n, 2);
	rebind(NULL);
}

static struct flow *flow_of(const struct sockaddr_storage *from, socklen_t len)
{
	for (unsigned int i = flow_count; i-- > 0;)
		if (flows[i].sensor_len == len && !memcmp(&flows[i].sensor, from, len))
			return &flows[i];
	if (flow_count == FLOWS_MAX)
		fail("too many ports");
	flows[flow_count] = (struct flow){ *from, len, open_up() };
	return &flows[flow_count++];
}

/* ---- a datagram's path ----------------------------------------------------------------------- */

/* The receiver may be gone: as on a network, no error is reported. */
static void deliver(struct direction *d, struct held *h)
{
	if (d == ways)
		send(h->flow->up, h->data, h->len, MSG_NOSIGNAL);
	else
		sendto(listener, h->data, h->len, MSG_NOSIGNAL, (struct sockaddr *)&h->flow->sensor,
		       h->flow->sensor_len);
	d->sent++;
	d->held--;
	free(h);
}

static void insert(struct held **list, struct held *h, bool by_place)
{
	while (*list && (by_place ? (*list)->place <= h->place : (*list)->due_ns <= h->due_ns))
		list = &(*list)->next;
	h->next = *list;
	*list = h;
}

static void let_in(struct direction *d, struct flow *f, const uint8_t *data, size_t len)
{
	struct held *h = d->held < HELD_MAX ? malloc(sizeof(*h)) : NULL;
	uint64_t later = draw(d) % (d->reorder + 1);

	if (!h) {
		d->full++;
		return;
	}
	h->place = d->count++ + later;
	h->flow = f;
	h->len = len;
	memcpy(h->data, data, len);
	insert(&d->places, h, true);
	d->held++;
}

/* Forwards datagrams whose turn has come, or all. */
static void move_on(struct direction *d, uint64_t now)
{
	bool quiet = now - d->last_ns >= QUIET_NS;

	for (struct held *h; (h = d->places) && (quiet || h->place < d->count);) {
		d->places = h->next;
		h->due_ns = now + d->delay_ns;
		if (d->delay_ns)
			insert(&d->due, h, false);
		else
			deliver(d, h);
	}
	for (struct held *h; (h = d->due) && h->due_ns <= now;) {
		d->due = h->next;
		deliver(d, h);
	}
}

static void record(const struct direction *d, const struct flow *f, const uint8_t *data, size_t len)
{
	uint8_t header[RECORD_HEADER_LEN];

	header[0] = d - ways;
	store_be(header + 1, now_ns(), 8);
	/* The port is at the same offset in both families. */
	memcpy(header + 9, (const uint8_t *)&f->sensor + 2, 2);
	store_be(header + 11, len, 2);
	if (fwrite(header, sizeof(header), 1, recording) != 1 ||
	    (len && fwrite(data, len, 1, recording) != 1))
		fail("recording");
}

/* All random numbers are drawn for every datagram, used or not, so that the next datagram's do not
 * depend on it. */
static void take(struct direction *d, struct flow *f, uint8_t *data, size_t len)
{
	bool lost = happens(d, d->loss), twice = happens(d, d->duplicate);
	bool changed = happens(d, d->corrupt);
	uint64_t bit = draw(d);
	size_t headers = 8 + (f->sensor.ss_family == AF_INET6 ? 40 : 20);

	d->received++;
	if (recording)
		record(d, f, data, len);
	if (d->cut)
		d->cut_off++;
	else if (d->mtu && len + headers > d->mtu)
		d->too_large++;
	else if (lost)
		d->lost++;
	if (d->cut || (d->mtu && len + headers > d->mtu) || lost)
		return;
	if (changed && len) {
		data[bit / 8 % len] ^= 1 << bit % 8;
		d->corrupted++;
	}
	let_in(d, f, data, len);
	if (twice) {
		d->duplicated++;
		let_in(d, f, data, len);
	}
	d->last_ns = now_ns();
}

static void receive_up(void)
{
	uint8_t data[DATAGRAM_MAX];
	struct sockaddr_storage from;
	long n;

	for (int i = 0; i < 64; i++) {
		socklen_t len = sizeof(from);

		memset(&from, 0, sizeof(from));
		n = recvfrom(listener, data, sizeof(data), 0, (struct sockaddr *)&from, &len);
		if (n < 0)
			return;
		take(&ways[0], flow_of(&from, len), data, n);
		move_on(&ways[0], now_ns());
	}
}

static void receive_down(struct flow *f)
{
	uint8_t data[DATAGRAM_MAX];
	long n;

	for (int i = 0; i < 64 && (n = recv(f->up, data, sizeof(data), 0)) >= 0; i++) {
		take(&ways[1], f, data, n);
		move_on(&ways[1], now_ns());
	}
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void print_counts(void)
{
	for (struct direction *d = ways; d < ways + 2; d++) {
		const char *n = d->name;

		printf("%s_received %lu %s_sent %lu %s_lost %lu %s_cut %lu ", n, d->received, n,
		       d->sent, n, d->lost, n, d->cut_off);
		printf("%s_too_large %lu %s_duplicated %lu %s_corrupted %lu %s_full %lu%s", n,
		       d->too_large, n, d->duplicated, n, d->corrupted, n, d->full,
		       d == ways ? " " : "\n");
	}
}

static unsigned int replay(const char *path)
{
	FILE *f = fopen(path, "r");
	struct timespec pause = { .tv_nsec = REPLAY_PAUSE_NS };
	uint8_t header[RECORD_HEADER_LEN], data[DATAGRAM_MAX];
	unsigned int count = 0;
	int s = open_up();

	if (!f)
		fail(path);
	while (fread(header, sizeof(header), 1, f) == 1) {
		size_t len = load_be(header + 11, 2);

		if (len > sizeof(data) || fread(data, 1, len, f) != len)
			fail(path);
		if (header[0])
			continue;
		if (send(s, data, len, MSG_NOSIGNAL) < 0 && errno != ECONNREFUSED)
			fail("replay");
		if (++count % REPLAY_BATCH == 0)
			nanosleep(&pause, NULL);
	}
	fclose(f);
	close(s);
	return count;
}

static void start_recording(const char *path)
{
	if (recording && fclose(recording))
		fail("recording");
	recording = path ? fopen(path, "w") : NULL;
	if (path && !recording)
		fail(path);
}

static bool set(struct direction *d, const char *name, const char *value)
{
	if (!strcmp(name, "cut") || !strcmp(name, "mend"))
		d->cut = name[0] == 'c';
	else if (!value)
		return false;
	else if (!strcmp(name, "loss"))
		d->loss = atof(value);
	else if (!strcmp(name, "duplicate"))
		d->duplicate = atof(value);
	else if (!strcmp(name, "corrupt"))
		d->corrupt = atof(value);
	else if (!strcmp(name, "reorder"))
		d->reorder = strtoul(value, NULL, 10);
	else if (!strcmp(name, "delay"))
		d->delay_ns = strtoul(value, NULL, 10) * 1000000ULL;
	else if (!strcmp(name, "mtu"))
		d->mtu = strtoul(value, NULL, 10);
	else if (!strcmp(name, "seed"))
		seed(d, strtoul(value, NULL, 10));
	else
		return false;
	return true;
}

static void obey(char *line)
{
	char *name = strtok(line, " "), *value;
	bool up = true, down = true;

	if (name && (!strcmp(name, "up") || !strcmp(name, "down"))) {
		up = name[0] == 'u';
		down = !up;
		name = strtok(NULL, " ");
	}
	value = strtok(NULL, " ");
	if (!name)
		return;
	if (!strcmp(name, "counts")) {
		print_counts();
		return;
	}
	if (!strcmp(name, "replay") && value) {
		printf("%u\n", replay(value));
		return;
	}
	if (!strcmp(name, "rebind"))
		rebind(value);
	else if (!strcmp(name, "to") && value)
		move_to(value);
	else if (!strcmp(name, "record"))
		start_recording(value);
	else if ((up && !set(&ways[0], name, value)) || (down && !set(&ways[1], name, value))) {
		errno = EINVAL;
		fail(name);
	}
	printf("ok\n");
}

/* Returns false at the end of the input. */
static bool read_orders(void)
{
	static char buffer[4096];
	static size_t len;
	long n = read(STDIN_FILENO, buffer + len, sizeof(buffer) - 1 - len);
	char *end;

	if (n <= 0)
		return false;
	len += n;
	buffer[len] = 0;
	while ((end = strchr(buffer, '\n'))) {
		*end = 0;
		obey(buffer);
		len -= end + 1 - buffer;
		memmove(buffer, end + 1, len + 1);
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------- */

/* Returns the milliseconds until the next held datagram is due, or -1 without one. */
static int patience(void)
{
	uint64_t now = now_ns(), next = UINT64_MAX;

	for (struct direction *d = ways; d < ways + 2; d++) {
		if (d->places && d->last_ns + QUIET_NS < next)
			next = d->last_ns + QUIET_NS;
		if (d->due && d->due->due_ns < next)
			next = d->due->due_ns;
	}
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (next - now) / 1000000 + 1;
}

static void relay(void)
{
	static struct pollfd p[2 + FLOWS_MAX];

	do {
		unsigned int count = flow_count;

		p[0] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
		p[1] = (struct pollfd){ listener, POLLIN, 0 };
		for (unsigned int i = 0; i < count; i++)
			p[2 + i] = (struct pollfd){ flows[i].up, POLLIN, 0 };
		poll(p, 2 + count, patience());
		for (unsigned int i = 0; i < count; i++)
			if (p[2 + i].revents)
				receive_down(&flows[i]);
		if (p[1].revents)
			receive_up();
		move_on(&ways[0], now_ns());
		move_on(&ways[1], now_ns());
	} while (!p[0].revents || read_orders());
}

int main(int argc, char **argv)
{
	struct addrinfo *a;

	if (argc != 5) {
		fprintf(stderr, "Usage: relay LISTEN-HOST PORT TO-HOST PORT\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	seed(&ways[0], 0);
	seed(&ways[1], 0);
	collector = resolve(argv[3], argv[4]);
	a = resolve(argv[1], argv[2]);
	listener = open_socket(a->ai_family);
	if (bind(listener, a->ai_addr, a->ai_addrlen))
		fail(argv[1]);
	freeaddrinfo(a);
	printf("ready\n");
	relay();
	start_recording(NULL);
	print_counts();
	return 0;
}
