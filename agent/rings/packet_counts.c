// SPDX-License-Identifier: GPL-2.0
/* Packet socket counts: see packet_counts.h. */
#include "packet_counts.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits of the readings of both sockets, and how many in a row without a frame are enough. A
 * reading takes a microsecond or two. Waiting for frames on their way counts as several. */
#define STEP_TRIES 2000
#define STEP_QUIET 20
#define STEP_WAIT 650 /* at most three times: each takes about 10 ms or more */

int packet_counts_open(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("saluki-counts", MFD_CLOEXEC), err = 0;
	FILE *f;

	if (fd < 0) { /* before Linux 3.17 */
		f = tmpfile();
		fd = f ? dup(fileno(f)) : -1;
		err = -errno;
		if (f)
			fclose(f);
	}
	if (fd < 0)
		return err;
	if (ftruncate(fd, page)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

struct packet_counts *packet_counts_map(int fd)
{
	void *p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

void packet_counts_unmap(struct packet_counts *c)
{
	if (c)
		munmap(c, sysconf(_SC_PAGESIZE));
}

static void add(uint32_t *sum, uint32_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_SEQ_CST);
}

static uint32_t load(const uint32_t *sum)
{
	return __atomic_load_n(sum, __ATOMIC_SEQ_CST);
}

/* V3 has one more number after these two. In all versions tp_packets includes tp_drops. */
static struct tpacket_stats ask(int socket)
{
	struct tpacket_stats st = { 0 };
	socklen_t len = sizeof(st);

	if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &st, &len))
		return (struct tpacket_stats){ 0 };
	return st;
}

/* The census first: a frame in between then counts as passed. As refused, it could not be
 * corrected. */
void packet_counts_take(struct packet_counts *c, int socket, int census)
{
	struct tpacket_stats st;

	if (load(&c->counting))
		add(&c->census, ask(census).tp_packets);
	st = ask(socket);
	add(&c->drops, st.tp_drops);
	add(&c->packets, st.tp_packets);
}

/* Waits until every frame that a CPU was delivering has reached all sockets: closing a packet
 * socket does (packet_release() in net/packet/af_packet.c). A machine with one CPU delivers no
 * frame while we run. */
static void wait_for_frames(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
}

/* Reads both, and notes their largest difference. Returns whether neither had a frame. */
static bool read_both(struct packet_counts *c, int socket, int census)
{
	struct tpacket_stats st = ask(socket);
	uint32_t n = ask(census).tp_packets, distance;

	add(&c->drops, st.tp_drops);
	add(&c->packets, st.tp_packets);
	add(&c->census, n);
	distance = load(&c->packets) - load(&c->census);
	if ((int32_t)(distance - load(&c->before)) > 0)
		__atomic_store_n(&c->before, distance, __ATOMIC_SEQ_CST);
	return !n && !st.tp_packets;
}

/* The true difference shows only when no frame is between the two sockets. Other readings show a
 * smaller one, so the largest counts. A CPU that was stopped with a frame between them looks like
 * no frame, so the last reading waits for all CPUs. */
void packet_counts_begin(struct packet_counts *c, int socket, int census, bool still)
{
	int quiet = 0;

	__atomic_store_n(&c->before, load(&c->packets) - load(&c->census), __ATOMIC_SEQ_CST);
	read_both(c, socket, census);
	for (int i = 0; !still && i < STEP_TRIES && quiet < STEP_QUIET; i++) {
		quiet = read_both(c, socket, census) ? quiet + 1 : 0;
		if (quiet == STEP_QUIET - 1) {
			wait_for_frames();
			i += STEP_WAIT;
		}
	}
	__atomic_store_n(&c->counting, 1, __ATOMIC_SEQ_CST);
}

void packet_counts_stopped(struct packet_counts *c, bool stopped)
{
	__atomic_store_n(&c->stopped, stopped, __ATOMIC_SEQ_CST);
}

uint32_t packet_counts_filtered(const struct packet_counts *c)
{
	if (!load(&c->counting))
		return 0;
	return load(&c->before) + load(&c->census) - load(&c->packets);
}
