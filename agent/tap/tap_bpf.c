// SPDX-License-Identifier: GPL-2.0
/*
 * Tap: BPF programs that write into a ring. In: interfaces. Out: maps for source_ring.c. Always
 * holds: all interfaces share one ring, so it has their frames in order. Each interface has its own
 * counters and pins. Takes over what an earlier agent or `saluki attach` left.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/filter/filter.h"
#include "agent/programs/program.h"
#include "adopt.h"
#include "attach.h"
#include "attach_maps.h"
#include "common/log.h"
#include "common/privsep.h"
#include "maps.h"
#include "tap.h"

struct tap_bpf {
	struct tap base;
	struct maps maps;
	uint32_t snaplen_max;
	struct attach attach[INTERFACES_MAX]; /* by number */
};

static int bpf_attach(struct tap *t, unsigned int i, bool again)
{
	int err = tap_query(t, i);

	err = err ?: tap_filter(t, i);
	return err ? err : attach_attach(&((struct tap_bpf *)t)->attach[i], again);
}

static void bpf_detach(struct tap *t, unsigned int i)
{
	if (t->interfaces[i].source)
		attach_detach(&((struct tap_bpf *)t)->attach[i]);
}

static int bpf_filter(struct tap *t, unsigned int i, char *why, size_t why_len)
{
	return attach_filter(&((struct tap_bpf *)t)->attach[i], why, why_len);
}

static int bpf_hand_over(struct tap *t, struct handover *h, int *fds)
{
	struct tap_bpf *b = (struct tap_bpf *)t;

	h->kind = HANDOVER_RING;
	h->persistent = b->base.own.persistent;
	h->snaplen = b->base.own.snaplen;
	h->snaplen_max = b->snaplen_max;
	h->ring_size = b->maps.ring_size;
	h->cpus = b->maps.cpus;
	h->mapped = b->maps.mapped;
	fds[HANDOVER_FD_RING] = b->maps.ring_fd;
	fds[HANDOVER_FD_WAKEUP] = b->maps.wakeup_fd;
	fds[HANDOVER_FD_MAPPED] = b->maps.mapped_fd;
	fds[HANDOVER_FD_JOURNAL] = b->maps.journal_fd;
	for (unsigned int i = 0; i < t->count; i++) {
		fds[HANDOVER_FD_COUNTERS + i] = b->attach[i].counters_fd;
		h->queues += interface_state_receive_queues(t->interfaces[i].name);
	}
	/* The lock of the pins is held until both processes have ended, so that no other agent
	 * reads a ring that this one still releases. */
	fds[HANDOVER_FD_COUNTERS + t->count] = b->attach[0].pin.dir;
	return HANDOVER_FD_COUNTERS + t->count + 1;
}

static void bpf_free(struct tap *t)
{
	struct tap_bpf *b = (struct tap_bpf *)t;

	for (unsigned int i = 0; i < t->count; i++) {
		if (!t->stays) {
			bpf_detach(t, i);
			pin_clear(&b->attach[i].pin);
		}
		attach_free(&b->attach[i]);
	}
	maps_free(&b->maps);
	free(b);
}

static const struct tap_ops bpf_ops = {
	.pinned = true,
	.attach = bpf_attach,
	.detach = bpf_detach,
	.filter = bpf_filter,
	.hand_over = bpf_hand_over,
	.free = bpf_free,
};

/* ---- from nothing ---------------------------------------------------------------------------- */

static int make(struct tap_bpf *b)
{
	struct saluki_config c = {
		.layout = SALUKI_LAYOUT,
		.count = b->base.count,
		.snaplen = b->base.own.snaplen,
		.snaplen_max = b->base.own.snaplen,
		.persistent = b->base.own.persistent,
	};
	int err = maps_init(&b->maps, &b->base.own);

	if (!err && getrandom(&c.group, sizeof(c.group), 0) < 0)
		err = -errno;
	c.ring_size = b->maps.ring_size;
	c.mapped = b->maps.mapped;
	c.cpus = b->maps.cpus;
	/* Number 0 is made last: if it exists, all exist (half_made). */
	for (unsigned int i = b->base.count; !err && i-- > 0;) {
		c.number = i;
		snprintf(c.interface, sizeof(c.interface), "%s", b->base.interfaces[i].name);
		err = attach_init(&b->attach[i], &b->maps, &b->base.interfaces[i], &c);
	}
	return err;
}

/* ---- from what is there ---------------------------------------------------------------------- */

/* In the order of attaching, which may differ from that of the -i. */
static void order_by_number(struct tap_bpf *b)
{
	struct attach sorted[INTERFACES_MAX];

	for (unsigned int i = 0; i < b->base.count; i++)
		sorted[b->attach[i].config.number] = b->attach[i];
	for (unsigned int i = 0; i < b->base.count; i++) {
		b->attach[i] = sorted[i];
		b->base.own.interfaces[i] = b->base.interfaces[i].name = sorted[i].name;
	}
}

/* Persistent programs keep their last filter. */
static int adopt_filter(struct tap_bpf *b, unsigned int i)
{
	struct tap_interface *f = &b->base.interfaces[i];
	const struct attach *a = &b->attach[i];
	struct filter *pinned = calloc(1, sizeof(*pinned));
	char why[FILTER_WHY_LEN];
	int err = pinned ? attach_pinned_filter(a, pinned) : -ENOMEM;

	if (!err && b->base.own.given & GIVEN_FILTER) {
		struct filter *given = calloc(1, sizeof(*given));

		err = given ? filter_make(given, &b->base.own.filter, a->config.linktype, why,
					  sizeof(why))
			    : -ENOMEM;
		if (!err && filter_hash(given) != filter_hash(pinned)) {
			log_line("%s: was attached with another filter; leave it out, or change it "
				 "with 'saluki filter'",
				 f->name);
			err = -EEXIST;
		}
		free(given);
	}
	f->filter = pinned;
	f->filter_linktype = a->config.linktype;
	f->filter_is_own = true;
	return err;
}

static int adopt(struct tap_bpf *b)
{
	struct saluki_config configs[INTERFACES_MAX];
	const struct saluki_config *first = &b->attach[0].config;
	bool keep_filter;
	int err;

	for (unsigned int i = 0; i < b->base.count; i++)
		configs[i] = b->attach[i].config;
	err = adopt_group(&b->base.own, configs);
	keep_filter = first->persistent && !b->base.own.persistent;
	if (!err && b->base.own.persistent)
		err = adopt_ring(&b->base.own, first);
	else if (!err && first->persistent)
		err = adopt_options(&b->base.own, first);
	if (err)
		return err;
	order_by_number(b);
	err = maps_adopt(&b->maps, first, &b->attach[0].pin);
	for (unsigned int i = 0; !err && i < b->base.count; i++) {
		err = attach_adopt(&b->attach[i], &b->maps, &b->base.interfaces[i]);
		if (!err && keep_filter)
			err = adopt_filter(b, i);
		if (b->attach[i].config.snaplen_max > b->snaplen_max)
			b->snaplen_max = b->attach[i].config.snaplen_max;
	}
	if (err && err != -EEXIST)
		log_line("%s: cannot take over what is pinned in %s: %s; 'saluki detach -i %s' "
			 "removes it",
			 b->attach[0].name, b->attach[0].pin.path,
			 err == -EBADMSG ? "its maps are not what its config says" : strerror(-err),
			 b->attach[0].name);
	else if (!err)
		log_info("%s: takes over %s with its ring of %u KiB", b->attach[0].name,
			 first->persistent ? "what 'saluki attach' attached"
					   : "from an earlier agent",
			 first->ring_size / 1024);
	return err;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Takes the locks and looks for pins. Returns the number of interfaces with pins, or -errno.
 */
static int look(struct tap_bpf *b)
{
	int found = 0;

	for (unsigned int i = 0; i < b->base.count; i++) {
		struct attach *a = &b->attach[i];
		int err;

		a->o = &b->base.own;
		a->name = b->base.interfaces[i].name;
		err = pin_take(&a->pin, a->name);
		if (err)
			return err;
		err = adopt_config(a->name, &a->pin, &a->config, &a->config_fd);
		if (err == 1 && adopt_namespace(a->name, &a->pin, &a->config))
			err = -EINVAL;
		if (err < 0)
			return err;
		found += err;
	}
	return found;
}

/* Whether all pins found are of an interrupted start (make), when nothing was attached yet. */
static bool half_made(const struct tap_bpf *b)
{
	for (unsigned int i = 0; i < b->base.count; i++)
		if (b->attach[i].config_fd >= 0 &&
		    (b->attach[i].config.number == 0 || b->attach[i].config.source[0]))
			return false;
	return true;
}

static void forget(struct tap_bpf *b)
{
	for (unsigned int i = 0; i < b->base.count; i++) {
		if (b->attach[i].config_fd >= 0)
			close(b->attach[i].config_fd);
		b->attach[i].config_fd = -1;
		pin_clear(&b->attach[i].pin);
	}
}

static int start(struct tap_bpf *b)
{
	int found, err = maps_ring_supported();

	if (err) {
		log_line("%s: no BPF ring buffer: %s", b->base.own.interfaces[0],
			 program_reason(err));
		return err;
	}
	/* After an error: keeps what was there before. */
	b->base.stays = true;
	found = look(b);
	if (found < 0)
		return found;
	if (found && (unsigned int)found < b->base.count && half_made(b)) {
		forget(b);
		found = 0;
	}
	b->base.stays = found > 0;
	if (found && (unsigned int)found < b->base.count) {
		log_line("%s: some of these interfaces are attached and others are not; 'saluki "
			 "detach' them first ('saluki status' lists them)",
			 b->base.own.interfaces[0]);
		return -EINVAL;
	}
	return found ? adopt(b) : make(b);
}

struct tap *tap_bpf_new(const struct capture_options *o)
{
	struct tap_bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b) {
		log_line("out of memory");
		return NULL;
	}
	libbpf_set_print(NULL);
	tap_init(&b->base, &bpf_ops, o);
	for (unsigned int i = 0; i < INTERFACES_MAX; i++)
		attach_zero(&b->attach[i]);
	maps_zero(&b->maps);
	err = start(b);
	if (err) {
		/* Another kind of tap would run beside the attached programs, not replace them. */
		if (b->base.stays)
			err = -EEXIST;
		bpf_free(&b->base);
		errno = -err;
		return NULL;
	}
	snprintf(b->base.ring, sizeof(b->base.ring), "ring %s %u KiB%s",
		 b->maps.mapped ? "mapped" : "bpf", b->maps.ring_size / 1024,
		 b->maps.mapped ? " for each CPU" : "");
	return &b->base;
}

uint64_t tap_bpf_capabilities(void)
{
	uint64_t caps = PRIVSEP_CAP(CAP_BPF) | PRIVSEP_CAP(CAP_PERFMON) |
			PRIVSEP_CAP(CAP_IPC_LOCK); /* an XDP socket's pages are locked in memory */

	if (prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) < 0) /* before 5.8 CAP_SYS_ADMIN included it */
		caps |= PRIVSEP_CAP(CAP_SYS_ADMIN) | PRIVSEP_CAP(CAP_SYS_RESOURCE);
	return caps;
}
