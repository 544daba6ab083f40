// SPDX-License-Identifier: GPL-2.0
/*
 * Source: the capture programs' ring, the BPF ring buffer or mapped rings. In: records
 * (saluki/record.h). Out: frames with time since 1970, in the ring's order. Always holds: the
 * kernel may overwrite a record only after its release.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "agent/rings/counters.h"
#include "agent/rings/mapped.h"
#include "agent/rings/ring.h"
#include "common/log.h"

/* The thread is woken when this part of the ring has filled, or polls after SOURCE_POLL_MS. A
 * wake-up sends an interrupt to another CPU, which costs microseconds in a virtual machine. Per
 * frame it would cost more than all other work. A combo's age counts from the kernel's stamp, so
 * this wait does not delay a single frame. */
#define RING_WAKE_PART 16

struct source_ring {
	struct source base;
	struct ring ring;     /* with mapped rings: the doorbell */
	struct mapped mapped; /* lanes_len 0: not used */
	uint64_t last;	      /* BPF ring: position of the last returned frame */
	struct clock_offset clock;
	struct counters counters[INTERFACES_MAX];
	uint32_t wake_bytes;
	struct saluki_wakeup *wakeup;
	int ring_fd, mapped_fd, epoll_fd;
};

/* ---- the BPF ring buffer --------------------------------------------------------------------- */

static int bpf_source_next(struct source *s, struct source_frame *f)
{
	struct source_ring *r = (struct source_ring *)s;
	const struct saluki_record *rec;
	size_t len;

	r->last = r->ring.next;
	rec = ring_next(&r->ring, &len);
	if (!rec)
		return 0;
	f->taken = r->ring.next;
	source_record(f, rec, &r->clock);
	return 1;
}

static void bpf_source_wait(struct source *s, int timeout_ms)
{
	struct source_ring *r = (struct source_ring *)s;
	struct epoll_event event;

	/* Set the wake-up position, then check again: the store must be visible before the position
	 * is read. */
	__atomic_store_n(&r->wakeup->wake_at, r->ring.next + r->wake_bytes, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ring_produced(&r->ring) < r->ring.next + r->wake_bytes)
		epoll_wait(r->epoll_fd, &event, 1, timeout_ms);
	__atomic_store_n(&r->wakeup->wake_at, UINT64_MAX, __ATOMIC_RELAXED);
}

static void bpf_source_mark(struct source *s, bool with_last, __u64 *mark)
{
	struct source_ring *r = (struct source_ring *)s;

	*mark = with_last ? r->ring.next : r->last;
}

static void bpf_source_pass(const struct source *s, __u64 *mark, const struct combo_frame *f)
{
	const struct source_ring *r = (const struct source_ring *)s;

	*mark = ring_after(&r->ring, *mark, source_record_of(f));
}

static void bpf_source_release(struct source *s, const __u64 *mark)
{
	ring_release(&((struct source_ring *)s)->ring, *mark);
}

static void bpf_source_limit(struct source *s, const __u64 *mark)
{
	((struct source_ring *)s)->ring.limit = mark ? *mark : UINT64_MAX;
}

static uint32_t bpf_source_filled(const struct source *s)
{
	const struct ring *r = &((const struct source_ring *)s)->ring;

	return 256 * (ring_produced(r) - __atomic_load_n(r->consumer, __ATOMIC_RELAXED)) / r->size;
}

/* A record that is being written hides the ones behind it, which are later than the last one. */
static uint64_t bpf_source_withheld(const struct source *s)
{
	const struct source_ring *r = (const struct source_ring *)s;

	if (ring_produced(&r->ring) == r->ring.next)
		return UINT64_MAX;
	return r->clock.last_ns > SOURCE_LATE_NS ? r->clock.last_ns - SOURCE_LATE_NS : 0;
}

/* ---- mapped rings ---------------------------------------------------------------------------- */

static int mapped_source_next(struct source *s, struct source_frame *f)
{
	struct source_ring *r = (struct source_ring *)s;
	const struct saluki_record *rec = mapped_next(&r->mapped);

	if (!rec)
		return 0;
	f->taken = r->mapped.taken;
	source_record(f, rec, &r->clock);
	return 1;
}

static void mapped_source_wait(struct source *s, int timeout_ms)
{
	struct source_ring *r = (struct source_ring *)s;
	struct epoll_event event;

	if (mapped_sleep(&r->mapped, r->wake_bytes))
		epoll_wait(r->epoll_fd, &event, 1, timeout_ms);
	mapped_awake(&r->mapped);
	ring_release(&r->ring, ring_produced(&r->ring)); /* discard the doorbell's records */
}

static void mapped_source_mark(struct source *s, bool with_last, __u64 *mark)
{
	mapped_mark(&((struct source_ring *)s)->mapped, with_last, mark);
}

static void mapped_source_pass(const struct source *s, __u64 *mark, const struct combo_frame *f)
{
	mapped_pass(&((const struct source_ring *)s)->mapped, mark, source_record_of(f),
		    f->kept_len);
}

static void mapped_source_release(struct source *s, const __u64 *mark)
{
	mapped_release(&((struct source_ring *)s)->mapped, mark);
}

static void mapped_source_limit(struct source *s, const __u64 *mark)
{
	mapped_limit(&((struct source_ring *)s)->mapped, mark);
}

static uint32_t mapped_source_filled(const struct source *s)
{
	const struct mapped *m = &((const struct source_ring *)s)->mapped;

	return 256 * mapped_used(m) / m->size;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void ring_source_counters(const struct source *s, unsigned int interface,
				 struct saluki_counters *out)
{
	counters_sum(&((const struct source_ring *)s)->counters[interface], out);
}

static void ring_source_close(struct source *s)
{
	struct source_ring *r = (struct source_ring *)s;

	ring_unmap(&r->ring);
	mapped_unmap(&r->mapped);
	for (unsigned int i = 0; i < s->interfaces; i++)
		counters_unmap(&r->counters[i]);
	if (r->wakeup)
		munmap(r->wakeup, sysconf(_SC_PAGESIZE));
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	close(r->ring_fd);
	close(r->mapped_fd);
	free(r);
}

static const struct source_ops bpf_ops = {
	.next = bpf_source_next,
	.withheld = bpf_source_withheld,
	.wait = bpf_source_wait,
	.mark = bpf_source_mark,
	.pass = bpf_source_pass,
	.release = bpf_source_release,
	.limit = bpf_source_limit,
	.filled = bpf_source_filled,
	.counters = ring_source_counters,
	.close = ring_source_close,
};

static const struct source_ops mapped_ops = {
	.next = mapped_source_next,
	.wait = mapped_source_wait,
	.mark = mapped_source_mark,
	.pass = mapped_source_pass,
	.release = mapped_source_release,
	.limit = mapped_source_limit,
	.filled = mapped_source_filled,
	.counters = ring_source_counters,
	.close = ring_source_close,
};

/* Edge-triggered: the kernel reports a ring as readable until its space is released. A
 * level-triggered wait would return at once because of records that are taken and not released. */
static int ring_source_watch(struct source_ring *r, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int ring_source_map(struct source_ring *r, const struct handover *h, const int *fds)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;
	int err = ring_map(&r->ring, r->ring_fd, h->mapped ? page : h->ring_size);

	if (!err && h->mapped)
		err = mapped_map(&r->mapped, r->mapped_fd, h->ring_size, h->mapped);
	if (err)
		return err;
	r->wake_bytes = h->ring_size / RING_WAKE_PART;
	for (unsigned int i = 0; !err && i < h->count; i++)
		err = counters_map(&r->counters[i], fds[HANDOVER_FD_COUNTERS + i], h->cpus);
	if (err)
		return err;
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fds[HANDOVER_FD_WAKEUP], 0);
	if (p == MAP_FAILED)
		return -errno;
	r->wakeup = p;
	return 0;
}

struct source *source_ring_open(const struct handover *h, const int *fds)
{
	struct source_ring *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		goto failed;
	r->base.ops = h->mapped ? &mapped_ops : &bpf_ops;
	r->base.interfaces = h->count;
	r->base.clock = &r->clock;
	r->base.lanes = h->mapped ? h->mapped : 1;
	r->base.room_mapped = h->mapped;
	r->base.room_bytes = h->ring_size;
	r->ring_fd = fds[HANDOVER_FD_RING];
	r->mapped_fd = fds[HANDOVER_FD_MAPPED];
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = r->epoll_fd < 0 ? -errno : ring_source_map(r, h, fds);
	if (!err)
		err = ring_source_watch(r, r->ring_fd);
	close(fds[HANDOVER_FD_WAKEUP]);
	for (unsigned int i = 0; i < h->count; i++)
		close(fds[HANDOVER_FD_COUNTERS + i]);
	if (!err) {
		clock_measure(&r->clock, monotonic_ns());
		return &r->base;
	}
	ring_source_close(&r->base);
failed:
	log_line("cannot map the capture ring: %s", strerror(-err));
	return NULL;
}
