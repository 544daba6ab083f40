// SPDX-License-Identifier: GPL-2.0
/* Counts of packet sockets: see packet_counts.h. */
#include "packet_counts.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Tries to read both sockets while no frame is between them, and how many in a row without a frame
 * are enough. Each takes a microsecond or two. */
#define STEP_TRIES 2000
#define STEP_QUIET 20

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

/* V3 has one number more, behind these two. In all versions tp_packets has tp_drops in it. */
static struct tpacket_stats ask(int socket)
{
	struct tpacket_stats st = { 0 };
	socklen_t len = sizeof(st);

	if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &st, &len))
		return (struct tpacket_stats){ 0 };
	return st;
}

/* The census first: a frame that comes in between counts as passed, and not as refused, which could
 * not be taken back. */
void packet_counts_take(struct packet_counts *c, int socket, int census)
{
	struct tpacket_stats st;

	if (load(&c->counting))
		add(&c->census, ask(census).tp_packets);
	st = ask(socket);
	add(&c->drops, st.tp_drops);
	add(&c->packets, st.tp_packets);
}

/* How far apart the two are shows when no frame lies between them, and at any other reading they
 * look closer: the largest distance of many readings is taken. */
void packet_counts_begin(struct packet_counts *c, int socket, int census, bool still)
{
	uint32_t before = 0;

	for (int i = 0, quiet = 0; i < (still ? 1 : STEP_TRIES) && quiet < STEP_QUIET; i++) {
		struct tpacket_stats st = ask(socket);
		uint32_t n, distance;

		add(&c->drops, st.tp_drops);
		add(&c->packets, st.tp_packets);
		distance = load(&c->packets);
		n = ask(census).tp_packets;
		add(&c->census, n);
		distance -= load(&c->census);
		if (i == 0 || (int32_t)(distance - before) > 0)
			before = distance;
		quiet = n || st.tp_packets ? 0 : quiet + 1;
	}
	__atomic_store_n(&c->before, before, __ATOMIC_SEQ_CST);
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
