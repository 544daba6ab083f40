// SPDX-License-Identifier: GPL-2.0
/*
 * AF_XDP sockets: see xsk.h. In: interfaces. Out: lanes with mapped rings, bound to their queues,
 * with all slots given to the kernel. They get no frames before tap_xsk.c attaches the redirecting
 * program.
 */
#include "xsk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "xsk_ring.h"
#include "agent/interface/interface_state.h"

#define CHUNK_SMALL 2048 /* XDP_UMEM_MIN_CHUNK_SIZE */
#define CHUNK_LARGE 4096 /* most machines' page, the kernel's limit */
#define HEADROOM 256	 /* XDP_PACKET_HEADROOM: in every chunk, before the frame */
#define RECORD ((uint32_t)sizeof(struct saluki_record))
#define ROOM(chunk) ((chunk)-HEADROOM - RECORD)
#define LINK_HEADERS 22	  /* an Ethernet frame's bytes beyond the MTU: header, two tags */
#define COMPLETION_SIZE 4 /* mandatory, though nothing is sent */
#define CACHE_LINE 64

/* A queue becomes free only some time after its last socket was closed: the kernel defers it,
 * without a notification. */
#define BUSY_TRIES 50
#define BUSY_WAIT_NS 20000000

struct xsk_handle {
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_cons completion;
	size_t memory_len;
};

/* The memory layout of an interface's queues. */
struct shape {
	bool zerocopy;
	uint32_t chunk; /* chunk size for the kernel, in bytes */
	uint32_t stride, slots;
	uint32_t room;
	size_t memory_len;
	bool possible;
};

static struct xsk_sockets *opened;

static uint32_t align_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) & ~(to - 1);
}

struct xsk_sockets *xsk_sockets(void)
{
	return opened;
}

/* Zero-copy: the card writes whole frames, so a chunk must hold the longest one. */
static struct shape shape_of(const struct capture_options *o, bool zerocopy, unsigned int mtu)
{
	uint32_t page = sysconf(_SC_PAGESIZE);
	struct shape s = { .zerocopy = zerocopy };
	uint32_t longest;

	s.room = o->snaplen < ROOM(CHUNK_LARGE) ? o->snaplen : ROOM(CHUNK_LARGE);
	longest = zerocopy ? mtu + LINK_HEADERS : s.room;
	s.chunk = longest <= ROOM(CHUNK_SMALL) ? CHUNK_SMALL : CHUNK_LARGE;
	s.stride = zerocopy ? s.chunk : align_up(s.room + RECORD, CACHE_LINE);
	s.slots = o->ring_size / s.stride;
	s.memory_len = align_up((s.slots - 1) * s.stride + s.chunk, page);
	s.possible = longest <= ROOM(CHUNK_LARGE);
	return s;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* ---- one queue ------------------------------------------------------------------------------- */

static void lane_close(struct xsk_lane *l, struct xsk_handle *h)
{
	if (h->socket)
		xsk_socket__delete(h->socket);
	if (h->umem)
		xsk_umem__delete(h->umem);
	if (l->memory)
		munmap(l->memory, h->memory_len);
	memset(l, 0, sizeof(*l));
	memset(h, 0, sizeof(*h));
}

static int lane_open(struct xsk_lane *l, struct xsk_handle *h, const struct shape *s,
		     const char *name, uint32_t queue)
{
	const struct xsk_umem_config memory = {
		.fill_size = power_of_two(s->slots),
		.comp_size = COMPLETION_SIZE,
		.frame_size = s->chunk,
		.flags = s->zerocopy ? 0 : XDP_UMEM_UNALIGNED_CHUNK_FLAG,
	};
	const struct xsk_socket_config socket = {
		.rx_size = power_of_two(s->slots),
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP | (s->zerocopy ? XDP_ZEROCOPY : XDP_COPY),
	};
	void *p = mmap(NULL, s->memory_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	int err;

	if (p == MAP_FAILED)
		return -errno;
	l->memory = p;
	h->memory_len = s->memory_len;
	err = xsk_umem__create(&h->umem, p, s->memory_len, &l->fill, &h->completion, &memory);
	err = err ?: xsk_socket__create(&h->socket, name, queue, h->umem, &l->rx, NULL, &socket);
	if (err) {
		lane_close(l, h);
		return err;
	}
	l->fd = xsk_socket__fd(h->socket);
	xsk_lane_fill(l, s->slots, s->stride);
	return 0;
}

/* ---- an interface ---------------------------------------------------------------------------- */

static void close_queues(struct xsk_sockets *x, const struct xsk_interface *f)
{
	for (uint32_t i = f->first; i < x->lanes_len; i++)
		lane_close(&x->lanes[i], &x->handles[i]);
	x->lanes_len = f->first;
}

static int lane_open_patiently(struct xsk_lane *l, struct xsk_handle *h, const struct shape *s,
			       const char *name, uint32_t queue)
{
	const struct timespec t = { 0, BUSY_WAIT_NS };
	int err = lane_open(l, h, s, name, queue);

	for (int i = 0; err == -EBUSY && i < BUSY_TRIES; i++) {
		nanosleep(&t, NULL);
		err = lane_open(l, h, s, name, queue);
	}
	return err;
}

/* All queues in the same mode, or none. */
static int bind_queues(struct xsk_sockets *x, unsigned int number, const struct shape *s,
		       const char *name)
{
	struct xsk_interface *f = &x->interfaces[number];

	f->zerocopy = s->zerocopy;
	f->room = s->room;
	f->slots = s->slots;
	for (uint32_t queue = 0; queue < f->queues; queue++) {
		struct xsk_lane *l = &x->lanes[f->first + queue];
		int err = lane_open_patiently(l, &x->handles[f->first + queue], s, name, queue);

		if (err == -EINVAL && queue > 0) {
			f->queues = queue; /* the others are not in use */
			break;
		}
		if (err) {
			close_queues(x, f);
			return err;
		}
		l->interface = number;
		x->lanes_len++;
	}
	return 0;
}

static void say_refused(const char *name, const struct capture_options *o, int err)
{
	if (err == -EPERM)
		log_line("%s: AF_XDP: not permitted; run as root, or with CAP_NET_RAW", name);
	else if (err == -ENOBUFS || err == -ENOMEM)
		log_line("%s: AF_XDP: no memory for a ring of %u KiB for each queue; see -B, and "
			 "'ulimit -l' without CAP_IPC_LOCK",
			 name, o->ring_size / 1024);
	else if (err == -EBUSY)
		log_line("%s: AF_XDP: another program has a socket on its queues; 'ss --xdp' shows "
			 "it",
			 name);
	else if (err == -EAFNOSUPPORT)
		log_line("%s: AF_XDP: this kernel does not have it", name);
	else
		log_line("%s: AF_XDP: %s", name, strerror(-err));
}

static int check(const struct capture_options *o, const char *name, struct interface_state *link)
{
	int err = interface_state_query(name, link);

	if (!err && link->ifindex == 0)
		err = -ENODEV;
	if (err == -ENODEV)
		log_line("%s: no such interface; 'ip link' lists them", name);
	else if (err)
		log_line("%s: cannot ask for its state: %s", name, strerror(-err));
	else if (o->snaplen > ROOM(CHUNK_LARGE) && link->mtu + LINK_HEADERS > ROOM(CHUNK_LARGE)) {
		log_line("%s: --source xsk keeps at most %u bytes of a frame, and its MTU is %u; "
			 "use -s %u",
			 name, ROOM(CHUNK_LARGE), link->mtu, ROOM(CHUNK_LARGE));
		err = -EMSGSIZE;
	}
	return err;
}

static int open_interface(struct xsk_sockets *x, unsigned int number,
			  const struct capture_options *o)
{
	struct xsk_interface *f = &x->interfaces[number];
	const char *name = o->interfaces[number];
	struct shape zerocopy, copy;
	struct interface_state link;
	int err = check(o, name, &link);

	if (err)
		return err;
	f->first = x->lanes_len;
	f->queues = interface_state_receive_queues(name);
	if (f->queues > XSK_LANES_MAX - f->first) {
		log_line("%s: AF_XDP: more than %d queues; make them fewer with 'ethtool -L'", name,
			 XSK_LANES_MAX);
		return -E2BIG;
	}
	zerocopy = shape_of(o, true, link.mtu);
	copy = shape_of(o, false, link.mtu);
	err = zerocopy.possible ? bind_queues(x, number, &zerocopy, name) : -EOPNOTSUPP;
	/* Ignores the driver's error: copy mode does not need the driver. */
	if (err)
		err = bind_queues(x, number, &copy, name);
	if (err)
		say_refused(name, o, err);
	return err;
}

int xsk_sockets_open(const struct capture_options *o)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int err;

	/* The memory counts as locked. If we may not raise the limit, the later call reports it. */
	setrlimit(RLIMIT_MEMLOCK, &all);
	opened = calloc(1, sizeof(*opened));
	if (opened) {
		opened->lanes = calloc(XSK_LANES_MAX, sizeof(*opened->lanes));
		opened->handles = calloc(XSK_LANES_MAX, sizeof(*opened->handles));
	}
	if (!opened || !opened->lanes || !opened->handles) {
		log_line("out of memory");
		xsk_sockets_close();
		return -ENOMEM;
	}
	for (err = 0; !err && opened->count < o->count; opened->count++)
		err = open_interface(opened, opened->count, o);
	if (err)
		xsk_sockets_close();
	return err;
}

void xsk_sockets_forget_memory(void)
{
	for (uint32_t i = 0; opened && i < opened->lanes_len; i++) {
		munmap(opened->lanes[i].memory, opened->handles[i].memory_len);
		opened->lanes[i].memory = NULL;
	}
}

void xsk_sockets_close(void)
{
	if (!opened)
		return;
	for (uint32_t i = 0; i < opened->lanes_len; i++)
		lane_close(&opened->lanes[i], &opened->handles[i]);
	free(opened->lanes);
	free(opened->handles);
	free(opened);
	opened = NULL;
}
