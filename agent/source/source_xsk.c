// SPDX-License-Identifier: GPL-2.0
/*
 * Source: AF_XDP sockets (`--source xsk`). In: records by bpf/xsk.bpf.c in the sockets' memory
 * (xsk.h). Out: frames with time since 1970. Always holds: a frame that the program gave to a
 * socket is read here, or the socket dropped and counted it.
 *
 * A slot is returned to the kernel as soon as its frame is in a combo (xsk_ring.h). The memory ends
 * with the process, so a later agent could not read it again.
 */
#include "source.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "agent/rings/counters.h"
#include "agent/rings/xsk_ring.h"
#include "agent/programs/grace_period.h"
#include "agent/rings/xsk.h"
#include "common/log.h"

/* AF_XDP wakes a polling thread for every batch of a driver, which cannot be changed. A wake-up
 * sends an interrupt to another CPU, which costs microseconds in a virtual machine. So while frames
 * come, the thread sleeps for this time per slot: at 7 M frames/s, more than we have seen, a fifth
 * of the slots fill. The program stamps the frames, so the stamps stay exact. */
#define GATHER_NS_PER_SLOT 30
#define GATHER_NS_MAX 500000

struct source_xsk {
	struct source base;
	struct xsk_sockets *sockets;
	struct xsk_ring ring;
	struct clock_offset clock;
	struct counters counters[INTERFACES_MAX];
	uint64_t kept_bytes[INTERFACES_MAX]; /* read by other threads */
	__u64 *halted;			     /* in the program's map */
	struct pollfd *polls;		     /* one per lane */
	long gather_ns;
	bool heard; /* a frame came since the last wait */
};

static int xsk_source_next(struct source *base, struct source_frame *f)
{
	struct source_xsk *s = (struct source_xsk *)base;
	const struct saluki_record *rec = xsk_ring_next(&s->ring);
	uint64_t *kept;

	if (!rec)
		return 0;
	source_record(f, rec, &s->clock);
	f->taken = 0;
	s->heard = true;
	kept = &s->kept_bytes[s->ring.lane->interface];
	__atomic_store_n(kept, *kept + rec->kept_len, __ATOMIC_RELAXED);
	return 1;
}

static void xsk_source_wait(struct source *base, int timeout_ms)
{
	struct source_xsk *s = (struct source_xsk *)base;
	struct timespec t = { 0, s->gather_ns };

	/* One sleep per round: on a busy CPU each may take another task's time slice longer. */
	if (s->heard)
		nanosleep(&t, NULL);
	else
		poll(s->polls, s->sockets->lanes_len, timeout_ms);
	s->heard = false;
}

static void xsk_source_halt(struct source *base)
{
	struct source_xsk *s = (struct source_xsk *)base;

	__atomic_store_n(s->halted, 1, __ATOMIC_SEQ_CST);
	grace_period(); /* a CPU may still run the program */
}

/* Returns the frames that an interface's sockets dropped. A frame that met an empty fill ring is in
 * rx_dropped too: rx_fill_ring_empty_descs counts tries, not frames. */
static uint64_t dropped(const struct source_xsk *s, unsigned int interface)
{
	const struct xsk_interface *f = &s->sockets->interfaces[interface];
	uint64_t n = 0;

	for (uint32_t i = f->first; i < f->first + f->queues; i++) {
		struct xdp_statistics st = { 0 };
		socklen_t len = sizeof(st);

		if (!getsockopt(s->sockets->lanes[i].fd, SOL_XDP, XDP_STATISTICS, &st, &len))
			n += st.rx_dropped + st.rx_ring_full;
	}
	return n;
}

static void xsk_source_counters(const struct source *base, unsigned int interface,
				struct saluki_counters *out)
{
	const struct source_xsk *s = (const struct source_xsk *)base;
	/* Read before the program's counters, as the program counts first. */
	uint64_t lost = dropped(s, interface);

	counters_sum(&s->counters[interface], out);
	out->ring_full = lost;
	out->captured -= lost;
	out->kept_bytes = __atomic_load_n(&s->kept_bytes[interface], __ATOMIC_RELAXED);
}

static void xsk_source_close(struct source *base)
{
	struct source_xsk *s = (struct source_xsk *)base;

	for (unsigned int i = 0; i < base->interfaces; i++)
		counters_unmap(&s->counters[i]);
	if (s->halted)
		munmap(s->halted, sysconf(_SC_PAGESIZE));
	free(s->polls);
	free(s);
	xsk_sockets_close();
}

static const struct source_ops xsk_ops = {
	.next = xsk_source_next,
	.wait = xsk_source_wait,
	.halt = xsk_source_halt,
	.counters = xsk_source_counters,
	.close = xsk_source_close,
};

static void set_sizes(struct source_xsk *s)
{
	s->gather_ns = GATHER_NS_MAX;
	s->base.room_frame = 1; /* one slot per frame */
	for (unsigned int i = 0; i < s->sockets->count; i++) {
		const struct xsk_interface *f = &s->sockets->interfaces[i];
		long ns = (long)f->slots * GATHER_NS_PER_SLOT;

		s->gather_ns = ns < s->gather_ns ? ns : s->gather_ns;
		s->base.room_bytes += (uint64_t)f->slots * f->queues;
	}
	for (uint32_t i = 0; i < s->sockets->lanes_len; i++)
		s->polls[i] = (struct pollfd){ s->sockets->lanes[i].fd, POLLIN, 0 };
}

static int map_all(struct source_xsk *s, const struct handover *h, const int *fds)
{
	void *p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
		       fds[HANDOVER_FD_XSK_HALT], 0);
	int err = 0;

	if (p == MAP_FAILED)
		return -errno;
	s->halted = p;
	for (unsigned int i = 0; !err && i < h->count; i++)
		err = counters_map(&s->counters[i], fds[HANDOVER_FD_XSK_COUNTERS + i], h->cpus);
	return err;
}

struct source *source_xsk_open(const struct handover *h, const int *fds)
{
	struct source_xsk *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (s) {
		s->base.ops = &xsk_ops;
		s->base.interfaces = h->count;
		s->base.clock = &s->clock;
		s->sockets = xsk_sockets();
		s->polls = calloc(s->sockets->lanes_len, sizeof(*s->polls));
		err = s->polls ? map_all(s, h, fds) : -ENOMEM;
	}
	for (unsigned int i = 0; i < HANDOVER_FD_XSK_COUNTERS + h->count; i++)
		if (i != HANDOVER_FD_KEY)
			close(fds[i]);
	if (err) {
		log_line("cannot map the capture counters: %s", strerror(-err));
		if (s)
			xsk_source_close(&s->base);
		return NULL;
	}
	set_sizes(s);
	xsk_ring_init(&s->ring, s->sockets->lanes, s->sockets->lanes_len);
	clock_measure(&s->clock, monotonic_ns());
	return &s->base;
}
