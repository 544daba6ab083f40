// SPDX-License-Identifier: GPL-2.0
/*
 * Tap: packet sockets, for kernels without BPF programs. In: interfaces. Out: one socket per
 * interface, with this kernel's best ring, and a page of counts, for source_mmap.c. Always holds:
 * the sockets stay when an interface disappears and returns, with their rings and counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "common/log.h"
#include "packet_socket.h"
#include "tap.h"

struct tap_mmap {
	struct tap base;
	struct packet_socket sockets[INTERFACES_MAX];
	struct packet_counts *counts; /* one per interface, shared with the other process */
	int counts_fd;
	int told[INTERFACES_MAX]; /* last logged refusal */
};

static const char *reason(int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		return "not permitted; run as root, or with CAP_NET_RAW";
	case EAFNOSUPPORT:
		return "this kernel has no packet sockets (CONFIG_PACKET)";
	case EINVAL:
	case ENOPROTOOPT:
		return "this kernel does not have it";
	case E2BIG:
		return "the filter is too long for a socket; simplify it";
	case EPROTO:
		return "this program is for another word size than the kernel";
	case ENOMEM:
		return "no memory for a ring of this size; see -B";
	default:
		return strerror(-err);
	}
}

static int mmap_attach(struct tap *t, unsigned int i, bool again)
{
	struct tap_mmap *m = (struct tap_mmap *)t;
	struct tap_interface *f = &t->interfaces[i];
	int err = tap_query(t, i);

	err = err ?: tap_filter(t, i);
	if (err)
		return err;
	packet_socket_snaplen(&m->sockets[i], t->o->snaplen);
	err = packet_socket_start(&m->sockets[i], f->link.ifindex, f->link.linktype,
				  f->keep_headers, tap_direction(f, t->o) != t->o->direction,
				  f->filter);
	if (!err && f->filter->len && f->link.linktype == LINKTYPE_ETHERNET &&
	    m->sockets[i].tags == FILTER_TAGS_NONE && !again)
		log_line("%s: before Linux 3.14 filters do not see a VLAN tag that the card or the "
			 "kernel has taken off: such frames are judged without it",
			 f->name);
	if (err && (!again || err != m->told[i]))
		log_line("%s: mmap refused: %s", f->name, reason(err));
	m->told[i] = err;
	if (!err)
		f->source = packet_version_name(m->sockets[i].layout.version);
	return err;
}

static void mmap_detach(struct tap *t, unsigned int i)
{
	if (!t->interfaces[i].source)
		return;
	packet_socket_stop(&((struct tap_mmap *)t)->sockets[i]);
	t->interfaces[i].source = NULL;
}

static int mmap_filter(struct tap *t, unsigned int i, char *why, size_t why_len)
{
	struct packet_socket *s = &((struct tap_mmap *)t)->sockets[i];
	int err;

	packet_socket_snaplen(s, t->o->snaplen);
	err = packet_socket_filter(s, t->interfaces[i].filter);
	if (err)
		snprintf(why, why_len, "%s", reason(err));
	return err;
}

static int mmap_hand_over(struct tap *t, struct handover *h, int *fds)
{
	struct tap_mmap *m = (struct tap_mmap *)t;

	h->kind = HANDOVER_MMAP;
	h->ring_size = t->o->ring_size;
	h->keep = t->o->keep;
	h->drop_bad_fcs = t->o->bad_fcs == BAD_FCS_DROP;
	fds[HANDOVER_FD_COUNTS] = m->counts_fd;
	for (unsigned int i = 0; i < t->count; i++) {
		h->interfaces[i].packets = m->sockets[i].layout;
		fds[HANDOVER_FD_SOCKETS + 2 * i] = m->sockets[i].fd;
		fds[HANDOVER_FD_SOCKETS + 2 * i + 1] = m->sockets[i].census;
	}
	return HANDOVER_FD_SOCKETS + 2 * t->count;
}

static void mmap_free(struct tap *t)
{
	struct tap_mmap *m = (struct tap_mmap *)t;

	for (unsigned int i = 0; i < t->count; i++) {
		mmap_detach(t, i);
		packet_socket_close(&m->sockets[i]);
	}
	packet_counts_unmap(m->counts);
	if (m->counts_fd >= 0)
		close(m->counts_fd);
	free(m);
}

static const struct tap_ops mmap_ops = {
	.attach = mmap_attach,
	.detach = mmap_detach,
	.filter = mmap_filter,
	.hand_over = mmap_hand_over,
	.free = mmap_free,
};

static int open_counts(struct tap_mmap *m)
{
	m->counts_fd = packet_counts_open();
	if (m->counts_fd < 0)
		return m->counts_fd;
	m->counts = packet_counts_map(m->counts_fd);
	return m->counts ? 0 : -errno;
}

/* Logs earlier refusals. An interface does not request again what the kernel refused for the one
 * before. */
static int open_socket(struct tap_mmap *m, unsigned int i)
{
	const struct capture_options *o = m->base.o;
	struct packet_socket *s = &m->sockets[i];
	enum packet_version best = i ? m->sockets[i - 1].layout.version : PACKET_V3, v;
	int err = packet_socket_open(s, best, o, &m->counts[i]);

	if (err) {
		log_line("%s: mmap refused: %s", o->interfaces[i], reason(err));
		return err;
	}
	for (v = best; v > s->layout.version; v--)
		log_line("%s: %s refused: %s", o->interfaces[i], packet_version_name(v),
			 reason(s->refused[v]));
	return 0;
}

/* Returns NULL, or the option that sockets cannot fulfil. */
static const char *unfit(const struct capture_options *o)
{
	if (o->persistent)
		return "its sockets end with the agent; use 'saluki run'";
	if (o->consume)
		return "its sockets hear copies, so nothing is consumed";
	return o->ring == RING_MAPPED ? "--ring mapped goes with xdp and tc" : NULL;
}

struct tap *tap_mmap_new(const struct capture_options *o)
{
	struct tap_mmap *m;
	int err;

	if (unfit(o)) {
		log_line("mmap refused: %s", unfit(o));
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		log_line("out of memory");
		return NULL;
	}
	tap_init(&m->base, &mmap_ops, o);
	for (unsigned int i = 0; i < o->count; i++)
		m->sockets[i].fd = m->sockets[i].census = -1;
	err = open_counts(m);
	if (err)
		log_line("mmap refused: no shared memory: %s", strerror(-err));
	for (unsigned int i = 0; !err && i < o->count; i++)
		err = open_socket(m, i);
	if (err) {
		mmap_free(&m->base);
		return NULL;
	}
	snprintf(m->base.ring, sizeof(m->base.ring), "ring %u KiB", o->ring_size / 1024);
	return &m->base;
}
