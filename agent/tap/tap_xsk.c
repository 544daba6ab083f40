// SPDX-License-Identifier: GPL-2.0
/*
 * Tap: AF_XDP. In: sockets bound to all queues (xsk.h), interfaces. Out: the program that redirects
 * frames to them, attached natively, or generically if the driver has no XDP; its counters for
 * source_xsk.c. Always holds: a socket is bound to its device, so the run ends if an interface
 * disappears (`bound` in tap.h).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "agent/programs/grace_period.h"
#include "agent/programs/program.h"
#include "agent/rings/xsk_ring.h"
#include "common/log.h"
#include "pin.h"
#include "tap.h"
#include "agent/rings/xsk.h"
#include "agent/filter/filter_load.h"
#include "xsk.skel.h"

struct tap_xsk {
	struct tap base;
	uint32_t cpus;
	struct xsk_bpf *programs[INTERFACES_MAX]; /* each with its own maps, except `halted` */
	int links[INTERFACES_MAX];
	struct pin pins[INTERFACES_MAX];
	char why[FILTER_WHY_LEN]; /* set if the filter is the reason of a failed load */
};

/* ---- programs -------------------------------------------------------------------------------- */

static int fill_map(const struct xsk_bpf *skel, unsigned int i)
{
	const struct xsk_sockets *x = xsk_sockets();
	const struct xsk_interface *f = &x->interfaces[i];
	int err = 0;

	for (uint32_t queue = 0; !err && queue < f->queues; queue++)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.saluki_sockets), &queue,
					  &x->lanes[f->first + queue].fd, BPF_ANY);
	return err;
}

/* Opens the program for the current interface and filter. Returns NULL with errno set. */
static struct xsk_bpf *open_program(struct tap_xsk *x, unsigned int i)
{
	const struct tap_interface *t = &x->base.interfaces[i];
	const struct xsk_interface *f = &xsk_sockets()->interfaces[i];
	struct xsk_bpf *skel = filter_load_init() ? NULL : xsk_bpf__open();

	if (!skel)
		return NULL;
	skel->rodata->snaplen = x->base.o->snaplen < f->room ? x->base.o->snaplen : f->room;
	skel->rodata->linktype = t->link.linktype;
	skel->rodata->keep_headers = t->keep_headers;
	skel->rodata->drop_bad_fcs = x->base.o->bad_fcs == BAD_FCS_DROP;
	skel->rodata->interface = i;
	skel->rodata->filtering = t->filter && t->filter->len;
	bpf_map__set_max_entries(skel->maps.saluki_counters, x->cpus);
	bpf_map__set_max_entries(skel->maps.saluki_sockets, f->queues);
	return skel;
}

static int load(struct tap_xsk *x, unsigned int i)
{
	struct xsk_bpf *skel = open_program(x, i);
	int err = 0;

	if (!skel)
		return -errno;
	x->programs[i] = skel;
	if (i > 0)
		err = bpf_map__reuse_fd(skel->maps.saluki_halted,
					bpf_map__fd(x->programs[0]->maps.saluki_halted));
	err = err
		      ?: filter_load(skel->skeleton, x->base.interfaces[i].filter, x->why,
				     sizeof(x->why));
	return err ?: fill_map(skel, i);
}

/* Replaces the program by one with another filter and the same maps. */
static int reload(struct tap_xsk *x, unsigned int i)
{
	struct xsk_bpf *old = x->programs[i], *skel = open_program(x, i);
	int err;

	if (!skel)
		return -errno;
	err = bpf_map__reuse_fd(skel->maps.saluki_halted, bpf_map__fd(old->maps.saluki_halted));
	err = err
		      ?: bpf_map__reuse_fd(skel->maps.saluki_counters,
					   bpf_map__fd(old->maps.saluki_counters));
	err = err
		      ?: bpf_map__reuse_fd(skel->maps.saluki_sockets,
					   bpf_map__fd(old->maps.saluki_sockets));
	err = err
		      ?: filter_load(skel->skeleton, x->base.interfaces[i].filter, x->why,
				     sizeof(x->why));
	if (!err && bpf_link_update(x->links[i], bpf_program__fd(skel->progs.saluki_xsk), NULL))
		err = -errno;
	xsk_bpf__destroy(err ? skel : old);
	if (!err)
		x->programs[i] = skel;
	return err;
}

/* Locks the interface. Pins of another run stay for a source of their kind. */
static int lock(struct pin *p, const char *name)
{
	int err = pin_take(p, name), fd;

	if (err)
		return err;
	fd = pin_get(p, "config");
	if (fd == -ENOENT)
		return 0;
	if (fd >= 0)
		close(fd);
	log_line(
		"%s: another capture is attached there, by 'saluki attach' or of an agent that was "
		"killed; 'saluki detach -i %s' ends it",
		name, name);
	return -EBUSY;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int attach_link(struct tap_xsk *x, unsigned int i, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd = bpf_link_create(bpf_program__fd(x->programs[i]->progs.saluki_xsk),
				 x->base.interfaces[i].link.ifindex, BPF_XDP, &opts);

	if (fd < 0)
		return -errno;
	x->links[i] = fd;
	return 0;
}

/* The driver itself fills a zero-copy socket, so generic XDP does not work with it. */
static int attach_best(struct tap_xsk *x, unsigned int i)
{
	struct tap_interface *t = &x->base.interfaces[i];
	bool zerocopy = xsk_sockets()->interfaces[i].zerocopy;
	int err = attach_link(x, i, XDP_FLAGS_DRV_MODE);

	if (!err) {
		t->source = zerocopy ? "xsk zero-copy native" : "xsk copy native";
		return 0;
	}
	log_line("%s: xdp native refused: %s", t->name, program_reason(err));
	if (zerocopy)
		return err;
	err = attach_link(x, i, XDP_FLAGS_SKB_MODE);
	if (err)
		log_line("%s: xdp generic refused: %s", t->name, program_reason(err));
	else
		t->source = "xsk copy generic";
	return err;
}

static int xsk_attach(struct tap *t, unsigned int i, bool again)
{
	struct tap_xsk *x = (struct tap_xsk *)t;
	int err = tap_query(t, i);

	err = err ?: tap_filter(t, i);
	(void)again; /* it is attached only once */
	if (err)
		return err;
	err = load(x, i);
	if (err) {
		log_line("%s: cannot load the capture program: %s", t->interfaces[i].name,
			 *x->why ? x->why : program_reason(err));
		return err;
	}
	err = pin_put(&x->pins[i], "counters", bpf_map__fd(x->programs[i]->maps.saluki_counters));
	if (err) {
		log_line("%s: cannot pin its counters: %s", t->interfaces[i].name, strerror(-err));
		return err;
	}
	err = attach_best(x, i);
	if (!err)
		attach_say_tags(&t->interfaces[i]);
	return err;
}

static void xsk_detach(struct tap *t, unsigned int i)
{
	struct tap_xsk *x = (struct tap_xsk *)t;

	if (x->links[i] < 0)
		return;
	bpf_link_detach(x->links[i]);
	close(x->links[i]);
	x->links[i] = -1;
	t->interfaces[i].source = NULL;
	/* A CPU may still run the program, or hold frames for a socket. */
	grace_period();
}

static int xsk_filter(struct tap *t, unsigned int i, char *why, size_t why_len)
{
	struct tap_xsk *x = (struct tap_xsk *)t;
	int err = reload(x, i);

	if (err)
		snprintf(why, why_len, "%s", *x->why ? x->why : program_reason(err));
	return err;
}

static int xsk_hand_over(struct tap *t, struct handover *h, int *fds)
{
	struct tap_xsk *x = (struct tap_xsk *)t;

	h->kind = HANDOVER_XSK;
	h->cpus = x->cpus;
	fds[HANDOVER_FD_XSK_HALT] = bpf_map__fd(x->programs[0]->maps.saluki_halted);
	for (unsigned int i = 0; i < t->count; i++)
		fds[HANDOVER_FD_XSK_COUNTERS + i] =
			bpf_map__fd(x->programs[i]->maps.saluki_counters);
	return HANDOVER_FD_XSK_COUNTERS + t->count;
}

static void xsk_free(struct tap *t)
{
	struct tap_xsk *x = (struct tap_xsk *)t;

	for (unsigned int i = 0; i < t->count; i++) {
		xsk_detach(t, i);
		if (x->programs[i])
			pin_remove(&x->pins[i], "counters");
		pin_release(&x->pins[i]);
		xsk_bpf__destroy(x->programs[i]);
	}
	free(x);
}

static const struct tap_ops xsk_ops = {
	.attach = xsk_attach,
	.detach = xsk_detach,
	.filter = xsk_filter,
	.hand_over = xsk_hand_over,
	.free = xsk_free,
};

struct tap *tap_xsk_new(const struct capture_options *o)
{
	const struct xsk_sockets *s = xsk_sockets();
	struct tap_xsk *x = calloc(1, sizeof(*x));

	if (!x) {
		log_line("out of memory");
		return NULL;
	}
	libbpf_set_print(NULL);
	tap_init(&x->base, &xsk_ops, o);
	x->base.bound = true;
	x->cpus = libbpf_num_possible_cpus();
	for (unsigned int i = 0; i < o->count; i++) {
		x->links[i] = -1;
		pin_zero(&x->pins[i]);
	}
	for (unsigned int i = 0; i < o->count; i++) {
		if (lock(&x->pins[i], o->interfaces[i])) {
			xsk_free(&x->base);
			return NULL;
		}
	}
	snprintf(x->base.ring, sizeof(x->base.ring), "%u queue%s of %u frames (%u KiB)",
		 s->lanes_len, s->lanes_len == 1 ? "" : "s", s->interfaces[0].slots,
		 o->ring_size / 1024);
	return &x->base;
}
