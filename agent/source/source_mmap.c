// SPDX-License-Identifier: GPL-2.0
/*
 * Source: packet sockets, one per interface, opened by tap_mmap.c. In: frames in their rings or
 * receive buffers. Out: frames as on the wire, trimmed as by the BPF programs, in order of time
 * across interfaces. Always holds: a frame's space is released when the next one is requested. By
 * then it is in a combo. The ring ends with its processes, so keeping frames in it until export
 * would save nothing.
 */
#include "source.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "clock.h"
#include "agent/rings/packet_counts.h"
#include "agent/rings/packet_ring.h"
#include "common/log.h"

/* The sockets wake the thread for each frame, with V3 for each block, so frames are left to gather.
 * The time is short: without a ring, the kernel stamps the first frames only when they are read. */
#define GATHER_NS 200000

/* V3's blocks are small (packet_socket.c). If they come quickly, the thread sleeps for some time
 * instead of polling. The time grows while blocks are few, up to the time in which 350,000 frames/s
 * fill the ring. */
#define GATHER_BLOCK_NS 40000
#define GATHER_SHARE 16 /* of the ring: the most to gather */

/* At the end, the kernel closes V3's last block when its time is over. */
#define LAST_BLOCK_TRIES 100
#define LAST_BLOCK_MS 20

/* V3 passes on frames by blocks. While an interface's block is being filled, newer frames of others
 * wait for it, at most this long after its time, and not if their ring is half full.
 */
#define HOLD_NS 100000000
#define HOLD_LOOK_MS 20

#define CLOCK_EVERY 64	 /* frames between two readings of the clock */
#define RUN_MAX 64	 /* frames of one lane, before others are checked */
#define REFUSED_MAX 1000 /* refused in a row, before the capture thread can stop */

struct lane {
	int fd, census;
	struct packet_ring ring;
	uint8_t *room; /* PACKET_RECV: buffer of one frame; else NULL */
	size_t room_len;
	struct packet ahead; /* this socket's next frame */
	bool have;
	uint64_t taken;	    /* frames read so far */
	uint32_t waited_at; /* V3: block of the last wait */
	uint64_t limit;	    /* the most frames to read */
	uint64_t missing;   /* frames that the kernel counted and never delivered */
	int linktype;	    /* used if a frame's own is not known */
	struct source_counts
		cut; /* seen_bytes, kept_bytes, malformed, bad_fcs; filtered by this process */
	/* The kernel's counts, extended to 64 bits. */
	struct packet_counts last;
	uint64_t packets, drops, filtered;
};

struct source_mmap {
	struct source base;
	uint32_t snaplen; /* as last ordered */
	enum keep keep;
	bool drop_bad_fcs;
	struct lane lanes[INTERFACES_MAX];
	struct lane *lane; /* of the last returned frame; NULL: none */
	uint64_t until_ns; /* until here this lane has the oldest frame */
	unsigned int run;  /* frames returned since other lanes were checked */
	struct clock_offset clock;
	uint64_t gather_ns; /* V3: length of the next sleep */
	uint64_t waited_ns; /* CLOCK_MONOTONIC of the last wait for blocks */
	uint64_t now_ns;    /* CLOCK_MONOTONIC, some frames ago */
	unsigned int since_clock;
	struct packet_counts *counts; /* shared with the privileged process */
	bool halting, halted;	      /* without an order: see freeze */
	pthread_mutex_t lock;	      /* protects the values that `counters` adds up */
};

/* ---- frames ---------------------------------------------------------------------------------- */

static void look_at_clock(struct source_mmap *s)
{
	s->now_ns = monotonic_ns();
	s->since_clock = 0;
	clock_measure(&s->clock, s->now_ns);
}

/* Takes a lane's next frame, which releases the one before. */
static void lane_step(struct source_mmap *s, struct lane *l)
{
	int got = 0;

	if (l->taken == l->limit) {
		l->have = false;
		return;
	}
	if (l->room) {
		got = packet_recv(l->fd, l->room, l->room_len, &l->ahead);
		if (got == 1 && !l->ahead.time_ns)
			l->ahead.time_ns = clock_ns(CLOCK_REALTIME);
	} else {
		got = packet_ring_next(&l->ring, &l->ahead);
	}
	l->have = got == 1; /* errors of the interface are handled elsewhere */
	if (!l->have)
		return;
	l->taken++;
	if (++s->since_clock == CLOCK_EVERY)
		look_at_clock(s);
}

/* Finds the lane with the oldest frame, and until when it stays the oldest. */
static struct lane *oldest(struct source_mmap *s)
{
	struct lane *best = NULL;

	s->run = 0;
	s->until_ns = UINT64_MAX;
	for (struct lane *l = s->lanes; l < s->lanes + s->base.interfaces; l++) {
		if (!l->have)
			lane_step(s, l);
		if (!l->have)
			continue;
		if (!best || l->ahead.time_ns < best->ahead.time_ns) {
			if (best)
				s->until_ns = best->ahead.time_ns;
			best = l;
		} else if (l->ahead.time_ns < s->until_ns) {
			s->until_ns = l->ahead.time_ns;
		}
	}
	return best;
}

static bool may_hold(const struct source_mmap *s, const struct lane *l)
{
	uint64_t heard_ns = l->ahead.time_ns - s->clock.realtime_minus_monotonic_ns;
	int64_t hold_ns = l->ring.layout.block_ms * 1000000LL + HOLD_NS;

	return (int64_t)(s->now_ns - heard_ns) < hold_ns && !packet_ring_is_half_full(&l->ring);
}

/* The same, or NULL if another lane's open block may have an older frame. */
static struct lane *oldest_of_all(struct source_mmap *s)
{
	struct lane *best = oldest(s);
	uint64_t since_ns;

	if (!best || !may_hold(s, best))
		return best;
	for (struct lane *l = s->lanes; l < s->lanes + s->base.interfaces; l++) {
		if (l->have || !packet_ring_filling(&l->ring, &since_ns))
			continue;
		if (since_ns <= best->ahead.time_ns)
			return NULL;
		if (since_ns < s->until_ns)
			s->until_ns = since_ns;
	}
	return best;
}

/* Uses the frame's own link type, as an interface's type may have changed. Returns false if the
 * frame is refused. */
static bool give(struct source_mmap *s, struct lane *l, struct source_frame *f)
{
	const struct packet *p = &l->ahead;
	int linktype = linktype_from_arphrd(p->arphrd);
	uint64_t heard_ns = p->time_ns - s->clock.realtime_minus_monotonic_ns;
	struct source_keep keep = { .snaplen = __atomic_load_n(&s->snaplen, __ATOMIC_RELAXED),
				    .drop_bad_fcs = s->drop_bad_fcs };

	f->frame.data = p->data;
	f->frame.orig_len = p->orig_len;
	f->frame.linktype = linktype < 0 ? l->linktype : linktype;
	f->frame.interface = l - s->lanes;
	f->frame.direction = p->outgoing ? SALUKI_DIRECTION_OUT : SALUKI_DIRECTION_IN;
	f->frame.time_ns = clock_forward(&s->clock, p->time_ns);
	/* If the clock is set back, a frame may seem to come from the future, and its combo would
	 * wait. */
	f->heard_ns = (int64_t)(s->now_ns - heard_ns) < 0 ? s->now_ns : heard_ns;
	f->taken = 0;
	source_offered(&l->cut, p->orig_len, false);
	keep.headers = s->keep == KEEP_HEADERS ||
		       (s->keep == KEEP_DEFAULT && linktype_is_80211(f->frame.linktype));
	return source_cut(f, p->cap_len, &keep, &l->cut);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Adds new counts. The number of refused frames is a difference of two counts read at different
 * times, so it is lowered only at a stop, when it is exact. */
static void add_up(struct source_mmap *s, struct lane *l)
{
	struct packet_counts *c = &s->counts[l - s->lanes], now = l->last;
	bool stopped = __atomic_load_n(&c->stopped, __ATOMIC_SEQ_CST);
	int32_t filtered;

	if (s->halted)
		return;
	packet_counts_take(c, l->fd, l->census);
	now.packets = __atomic_load_n(&c->packets, __ATOMIC_SEQ_CST);
	now.drops = __atomic_load_n(&c->drops, __ATOMIC_SEQ_CST);
	l->packets += now.packets - l->last.packets;
	l->drops += now.drops - l->last.drops;
	l->last = now;
	filtered = packet_counts_filtered(c) - (uint32_t)l->filtered;
	if (filtered > 0 || (stopped && (int64_t)l->filtered + filtered >= 0))
		l->filtered += filtered;
}

static uint64_t lane_lost(const struct lane *l)
{
	return __atomic_load_n(&l->ring.nonsense, __ATOMIC_RELAXED) +
	       __atomic_load_n(&l->missing, __ATOMIC_RELAXED);
}

static void mmap_counters(const struct source *base, unsigned int interface,
			  struct saluki_counters *out)
{
	struct source_mmap *s = (struct source_mmap *)base;
	struct lane *l = &s->lanes[interface];

	source_counts_read(out, &l->cut);
	pthread_mutex_lock(&s->lock);
	add_up(s, l);
	out->ring_full = l->drops;
	out->copy_failed = lane_lost(l);
	out->captured = l->packets - l->drops - out->copy_failed - out->filtered;
	out->filtered += l->filtered; /* by this process, and by the kernel */
	out->seen = l->packets + l->filtered;
	pthread_mutex_unlock(&s->lock);
}

/* Returns frames that the kernel counted for us and we have not read. */
static uint64_t lane_pending(struct source_mmap *s, struct lane *l)
{
	uint64_t counted;

	pthread_mutex_lock(&s->lock);
	add_up(s, l);
	counted = l->packets - l->drops;
	pthread_mutex_unlock(&s->lock);
	return counted - l->taken - lane_lost(l);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool all_stopped(const struct source_mmap *s)
{
	for (unsigned int i = 0; i < s->base.interfaces; i++)
		if (!__atomic_load_n(&s->counts[i].stopped, __ATOMIC_SEQ_CST))
			return s->halted;
	return true;
}

/* The privileged process is gone, and this one may not unbind the sockets, which still get frames.
 * The capture ends with the frames that the kernel has counted by now. Later frames are not read.
 */
static void freeze(struct source_mmap *s)
{
	pthread_mutex_lock(&s->lock);
	for (struct lane *l = s->lanes; l < s->lanes + s->base.interfaces; l++) {
		add_up(s, l);
		l->limit = l->packets - l->drops - lane_lost(l);
	}
	s->halted = true;
	pthread_mutex_unlock(&s->lock);
}

static bool any_pending(struct source_mmap *s)
{
	for (unsigned int i = 0; i < s->base.interfaces; i++)
		if (lane_pending(s, &s->lanes[i]))
			return true;
	return false;
}

/* The sockets get no more frames. Frames in open blocks come now. Missing frames are counted as
 * lost in the kernel. */
static struct lane *last_ones(struct source_mmap *s)
{
	struct lane *l = NULL;

	for (int i = 0; i < LAST_BLOCK_TRIES && !l && any_pending(s); i++) {
		poll(NULL, 0, LAST_BLOCK_MS);
		look_at_clock(s);
		l = oldest_of_all(s);
	}
	l = l ?: oldest(s);
	for (unsigned int i = 0; !l && i < s->base.interfaces; i++)
		__atomic_store_n(&s->lanes[i].missing,
				 s->lanes[i].missing + lane_pending(s, &s->lanes[i]),
				 __ATOMIC_RELAXED);
	return l;
}

/* Returns the lane with the next frame, and releases the last frame. NULL: none now. */
static struct lane *next_lane(struct source_mmap *s)
{
	if (s->lane)
		lane_step(s, s->lane);
	if (!s->lane || !s->lane->have || s->lane->ahead.time_ns > s->until_ns ||
	    ++s->run == RUN_MAX)
		s->lane = oldest_of_all(s);
	if (!s->lane && all_stopped(s))
		s->lane = last_ones(s);
	return s->lane;
}

static int mmap_next(struct source *base, struct source_frame *f)
{
	struct source_mmap *s = (struct source_mmap *)base;

	if (__atomic_load_n(&s->halting, __ATOMIC_ACQUIRE) && !s->halted)
		freeze(s);
	for (int i = 0; i < REFUSED_MAX && next_lane(s); i++)
		if (give(s, s->lane, f))
			return 1;
	return 0;
}

/* Frames in open blocks, and frames that wait for those. */
static uint64_t mmap_withheld(const struct source *base)
{
	const struct source_mmap *s = (const struct source_mmap *)base;
	uint64_t least = UINT64_MAX, since_ns;

	for (const struct lane *l = s->lanes; l < s->lanes + s->base.interfaces; l++) {
		if (l->have)
			since_ns = l->ahead.time_ns;
		else if (!packet_ring_filling(&l->ring, &since_ns))
			continue;
		least = since_ns < least ? since_ns : least;
	}
	return least;
}

static void gather(uint64_t ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

/* Returns the blocks read since the last call, of the busiest lane. */
static uint32_t blocks_read(struct source_mmap *s)
{
	uint32_t most = 0;

	for (struct lane *l = s->lanes; l < s->lanes + s->base.interfaces; l++) {
		uint32_t at = l->ring.at, n = at - l->waited_at;

		if (at < l->waited_at)
			n += l->ring.layout.blocks;
		l->waited_at = at;
		if (n > most)
			most = n;
	}
	return most;
}

/* Sleeps so that blocks gather, unless they are rare. Returns whether it did. */
static bool gather_blocks(struct source_mmap *s, int timeout_ms)
{
	uint32_t n = blocks_read(s), blocks = s->lanes[0].ring.layout.blocks;
	uint64_t most_ns = (uint64_t)blocks * GATHER_BLOCK_NS, took_ns = s->now_ns - s->waited_ns;
	uint64_t due_ns = timeout_ms < 0 ? most_ns : timeout_ms * 1000000ULL;

	s->waited_ns = s->now_ns;
	s->gather_ns = n <= blocks / GATHER_SHARE ? s->gather_ns * 2 : s->gather_ns / 2;
	if (s->gather_ns > most_ns)
		s->gather_ns = most_ns;
	if (s->gather_ns < GATHER_NS || took_ns > 2 * most_ns)
		s->gather_ns = GATHER_NS;
	if (!n || took_ns > 2 * most_ns)
		return false;
	gather(due_ns < s->gather_ns ? due_ns : s->gather_ns);
	return true;
}

static void mmap_wait(struct source *base, int timeout_ms)
{
	struct source_mmap *s = (struct source_mmap *)base;
	struct pollfd fds[INTERFACES_MAX];
	bool each = false;

	if (s->lanes[0].ring.layout.version == PACKET_V3 && gather_blocks(s, timeout_ms)) {
		look_at_clock(s);
		return;
	}
	for (unsigned int i = 0; i < base->interfaces; i++) {
		bool have = s->lanes[i].have; /* held: it waits for the others */

		fds[i] = (struct pollfd){ .fd = have ? -1 : s->lanes[i].fd, .events = POLLIN };
		if (have && (timeout_ms < 0 || timeout_ms > HOLD_LOOK_MS))
			timeout_ms = HOLD_LOOK_MS;
	}
	if (poll(fds, base->interfaces, timeout_ms) > 0) {
		for (unsigned int i = 0; i < base->interfaces; i++) {
			int err;
			socklen_t len = sizeof(err);

			/* The socket reports an interface that went down until the error is
			 * read. */
			if (fds[i].revents & POLLERR)
				getsockopt(fds[i].fd, SOL_SOCKET, SO_ERROR, &err, &len);
			if (fds[i].revents & POLLIN && s->lanes[i].ring.layout.version != PACKET_V3)
				each = true;
		}
	}
	if (each)
		gather(GATHER_NS);
	look_at_clock(s);
}

static void mmap_halt(struct source *base)
{
	__atomic_store_n(&((struct source_mmap *)base)->halting, true, __ATOMIC_RELEASE);
}

static void mmap_snaplen(struct source *base, uint32_t snaplen)
{
	__atomic_store_n(&((struct source_mmap *)base)->snaplen, snaplen, __ATOMIC_RELAXED);
}

static void mmap_close(struct source *base)
{
	struct source_mmap *s = (struct source_mmap *)base;

	for (unsigned int i = 0; i < base->interfaces; i++) {
		packet_ring_unmap(&s->lanes[i].ring);
		free(s->lanes[i].room);
		close(s->lanes[i].fd);
		close(s->lanes[i].census);
	}
	packet_counts_unmap(s->counts);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static const struct source_ops mmap_ops = {
	.next = mmap_next,
	.withheld = mmap_withheld,
	.wait = mmap_wait,
	.halt = mmap_halt,
	.snaplen = mmap_snaplen,
	.counters = mmap_counters,
	.close = mmap_close,
};

/* ---- open ------------------------------------------------------------------------------------ */

static int lane_open(struct lane *l, const struct handover_interface *h, uint32_t snaplen)
{
	l->linktype = h->linktype;
	l->limit = UINT64_MAX;
	if (h->packets.version != PACKET_RECV)
		return packet_ring_map(&l->ring, &h->packets, l->fd);
	l->room_len = snaplen;
	l->room = malloc(PACKET_HEADROOM + l->room_len);
	return l->room ? 0 : -ENOMEM;
}

/* Returns the most bytes that a frame takes; without a ring, the approximate size in the kernel. */
static uint32_t frame_room(const struct packet_layout *l, uint32_t snaplen)
{
	switch (l->version) {
	case PACKET_RECV:
		return snaplen + 1024;
	case PACKET_V3:
		return packet_layout_overhead(PACKET_V3) + snaplen;
	default:
		return l->frame_size;
	}
}

struct source *source_mmap_open(const struct handover *h, const int *fds)
{
	struct source_mmap *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		goto failed;
	s->base.ops = &mmap_ops;
	s->base.interfaces = h->count;
	s->base.clock = &s->clock;
	s->snaplen = h->snaplen;
	s->keep = h->keep;
	s->drop_bad_fcs = h->drop_bad_fcs;
	pthread_mutex_init(&s->lock, NULL);
	for (unsigned int i = 0; i < h->count; i++) {
		s->lanes[i].fd = fds[HANDOVER_FD_SOCKETS + 2 * i];
		s->lanes[i].census = fds[HANDOVER_FD_SOCKETS + 2 * i + 1];
	}
	s->counts = packet_counts_map(fds[HANDOVER_FD_COUNTS]);
	close(fds[HANDOVER_FD_COUNTS]);
	err = s->counts ? 0 : -errno;
	for (unsigned int i = 0; !err && i < h->count; i++)
		err = lane_open(&s->lanes[i], &h->interfaces[i], h->snaplen);
	s->base.room_bytes = (uint64_t)h->ring_size * h->count;
	s->base.room_frame = frame_room(&h->interfaces[0].packets, h->snaplen);
	if (h->interfaces[0].packets.version == PACKET_V3) {
		s->base.room_blocks = h->interfaces[0].packets.blocks * h->count;
		s->base.room_block_ms = h->interfaces[0].packets.block_ms;
	}
	if (!err) {
		look_at_clock(s);
		return &s->base;
	}
	mmap_close(&s->base);
failed:
	log_line("cannot map the packet rings: %s", strerror(-err));
	return NULL;
}
