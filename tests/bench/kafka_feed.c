// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds saluki-kafka put as saluki-collector --sink does (wire/put.h), for the bench: messages of
 * one size, as many without DONE as a collector has, or RATE each second. Prints one line of JSON:
 * messages each second, and the time until DONE.
 *
 *     kafka_feed SOCKET MESSAGES BYTES SENSORS RATE
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "common/unix_address.h"
#include "wire/bytes.h"
#include "wire/put.h"

#define BATCH 64
#define WINDOW_MESSAGES 65536
#define WINDOW_BYTES (64 << 20)
#define HEAD_ROOM 512

struct feed {
	int fd;
	unsigned long messages, bytes, sensors, rate;
	unsigned long sent, done, refused;
	uint64_t begin_ns, *sent_ns;
	uint32_t *waited_us; /* until DONE */
	uint8_t *value, heads[BATCH][HEAD_ROOM];
	struct mmsghdr packets[BATCH];
	struct iovec pieces[BATCH][2];
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int accept_one(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), one, size = 4 << 20;
	uint8_t hello[PUT_HELLO_LEN];
	struct sockaddr_un a;

	unlink(path);
	if (fd < 0 || unix_address(&a, path) || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, 1))
		fail(path);
	one = accept(fd, NULL, NULL);
	if (one < 0)
		fail("accept");
	if (setsockopt(one, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(one, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	put_hello(hello, PUT_ROLE_SINK);
	if (send(one, hello, sizeof(hello), 0) < 0 || recv(one, hello, sizeof(hello), 0) < 0)
		fail("HELLO");
	close(fd);
	return one;
}

static void write_head(struct feed *f, int n, unsigned long number)
{
	struct put_name name = { .kind = PUT_KIND_COMBO,
				 .sensor = number % f->sensors,
				 .frames = 100,
				 .run = 7,
				 .count = number / f->sensors };
	uint8_t header[PUT_NAME_LEN];
	char key[32];
	struct put p = { .number = number,
			 .topic = PUT_COMBOS,
			 .time_ms = clock_ns(CLOCK_REALTIME_COARSE) / 1000000,
			 .key = key,
			 .header = header,
			 .header_len = PUT_NAME_LEN };

	p.key_len = snprintf(key, sizeof(key), "sensor-%lu", number % f->sensors);
	put_name_write(header, &name);
	f->pieces[n][0] = (struct iovec){ f->heads[n], put_write(f->heads[n], &p) };
	f->pieces[n][1] = (struct iovec){ f->value, f->bytes };
	f->packets[n].msg_hdr = (struct msghdr){ .msg_iov = f->pieces[n], .msg_iovlen = 2 };
}

/* How many may be sent now. */
static unsigned long room(const struct feed *f, uint64_t now)
{
	unsigned long window = WINDOW_BYTES / f->bytes, open = f->sent - f->done - f->refused, n;

	window = window < WINDOW_MESSAGES ? window : WINDOW_MESSAGES;
	n = window > open ? window - open : 0;
	if (f->rate) {
		unsigned long due = (now - f->begin_ns) * f->rate / 1000000000;

		n = due <= f->sent ? 0 : due - f->sent < n ? due - f->sent : n;
	}
	n = n < f->messages - f->sent ? n : f->messages - f->sent;
	return n < BATCH ? n : BATCH;
}

static void send_some(struct feed *f, unsigned long count, uint64_t now)
{
	int n;

	for (unsigned long i = 0; i < count; i++)
		write_head(f, i, f->sent + i);
	n = sendmmsg(f->fd, f->packets, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != ENOBUFS)
		fail("sendmmsg");
	for (int i = 0; i < n; i++)
		f->sent_ns[f->sent++] = now;
}

static void take_some(struct feed *f)
{
	uint8_t in[PUT_DONE_BYTES + PUT_TEXT_MAX];
	uint64_t now = monotonic_ns();
	ssize_t n;

	while ((n = recv(f->fd, in, sizeof(in), MSG_DONTWAIT)) > 0) {
		f->refused += in[0] == PUT_REFUSED;
		for (ssize_t at = 1; in[0] == PUT_DONE && at + 8 <= n; at += 8) {
			uint64_t number = load_be(in + at, 8);

			f->waited_us[f->done++] = (now - f->sent_ns[number]) / 1000;
		}
	}
	if (n == 0)
		fail("the connection has ended");
}

static int by_size(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void report(struct feed *f)
{
	double seconds = (monotonic_ns() - f->begin_ns) / 1e9;

	qsort(f->waited_us, f->done, sizeof(*f->waited_us), by_size);
	printf("{\"messages\": %lu, \"refused\": %lu, \"seconds\": %.3f, \"per_s\": %.0f, "
	       "\"ack_ms_median\": %.2f, \"ack_ms_99\": %.2f, \"ack_ms_max\": %.2f}\n",
	       f->done, f->refused, seconds, f->done / seconds, f->waited_us[f->done / 2] / 1e3,
	       f->waited_us[f->done * 99 / 100] / 1e3, f->waited_us[f->done - 1] / 1e3);
}

/* Paced messages are sent each millisecond. */
static void run(struct feed *f)
{
	struct pollfd p = { .fd = f->fd };

	f->begin_ns = monotonic_ns();
	while (f->done + f->refused < f->messages) {
		uint64_t now = monotonic_ns();
		unsigned long n = room(f, now);

		if (n)
			send_some(f, n, now);
		p.events = POLLIN | (n == BATCH ? POLLOUT : 0);
		poll(&p, 1, f->rate && f->sent < f->messages ? 1 : 100);
		if (p.revents & (POLLIN | POLLHUP))
			take_some(f);
	}
	report(f);
}

int main(int argc, char **argv)
{
	static struct feed f;

	if (argc != 6) {
		fprintf(stderr, "Usage: kafka_feed SOCKET MESSAGES BYTES SENSORS RATE\n");
		return 2;
	}
	f.messages = strtoul(argv[2], NULL, 10);
	f.bytes = strtoul(argv[3], NULL, 10);
	f.sensors = strtoul(argv[4], NULL, 10);
	f.rate = strtoul(argv[5], NULL, 10);
	f.sent_ns = calloc(f.messages, sizeof(*f.sent_ns));
	f.waited_us = calloc(f.messages + 1, sizeof(*f.waited_us));
	f.value = malloc(f.bytes);
	if (!f.messages || !f.bytes || !f.sensors || !f.sent_ns || !f.waited_us || !f.value)
		return 2;
	for (unsigned long i = 0; i < f.bytes; i++) /* as compressed bytes are: without a pattern */
		f.value[i] = random();
	f.fd = accept_one(argv[1]);
	run(&f);
	return 0;
}
