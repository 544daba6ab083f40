// SPDX-License-Identifier: GPL-2.0
/*
 * Tap: BPF programs that write into a ring. In: interfaces. Out: maps for source_ring.c. Always
 * holds: all interfaces share one ring, so the order in it is that of their frames; each has
 * counters and pins of its own.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <saluki/log.h>

#include "attach.h"
#include "maps.h"
#include "pin.h"
#include "tap.h"

struct tap_bpf {
	struct tap base;
	struct maps maps;
	struct attach attach[INTERFACES_MAX];
	struct pin pins[INTERFACES_MAX];
};

static int libbpf_silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

static int bpf_attach(struct tap *t, unsigned int i, bool again)
{
	int err = tap_query(t, i);

	return err ? err : attach_attach(&((struct tap_bpf *)t)->attach[i], again);
}

static void bpf_detach(struct tap *t, unsigned int i)
{
	if (t->interfaces[i].source)
		attach_detach(&((struct tap_bpf *)t)->attach[i]);
}

static int bpf_hand_over(struct tap *t, struct handover *h, int *fds)
{
	struct tap_bpf *b = (struct tap_bpf *)t;

	h->kind = HANDOVER_RING;
	h->ring_size = b->maps.ring_size;
	h->cpus = b->maps.cpus;
	h->mapped = b->maps.mapped;
	fds[HANDOVER_FD_RING] = b->maps.ring_fd;
	fds[HANDOVER_FD_WAKEUP] = b->maps.wakeup_fd;
	fds[HANDOVER_FD_MAPPED] = b->maps.mapped_fd;
	for (unsigned int i = 0; i < t->count; i++)
		fds[HANDOVER_FD_COUNTERS + i] = b->attach[i].counters_fd;
	return HANDOVER_FD_COUNTERS + t->count;
}

static void bpf_free(struct tap *t)
{
	struct tap_bpf *b = (struct tap_bpf *)t;

	for (unsigned int i = 0; i < t->count; i++) {
		attach_free(&b->attach[i]);
		pin_drop(&b->pins[i]);
	}
	maps_free(&b->maps);
	free(b);
}

static const struct tap_ops bpf_ops = {
	.attach = bpf_attach,
	.detach = bpf_detach,
	.hand_over = bpf_hand_over,
	.free = bpf_free,
};

static int pin(struct tap_bpf *b, unsigned int i)
{
	const struct pin_map maps[] = { { "ring", b->maps.ring_fd },
					{ "mapped", b->maps.mapped ? b->maps.mapped_fd : -1 },
					{ "counters", b->attach[i].counters_fd },
					{ NULL, -1 } };

	return pin_take(&b->pins[i], b->base.interfaces[i].name, maps);
}

struct tap *tap_bpf_new(const struct capture_options *o)
{
	struct tap_bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b) {
		log_line("out of memory");
		return NULL;
	}
	libbpf_set_print(libbpf_silent);
	tap_init(&b->base, &bpf_ops, o);
	for (unsigned int i = 0; i < o->count; i++) {
		attach_zero(&b->attach[i]);
		pin_zero(&b->pins[i]);
	}
	err = maps_init(&b->maps, o);
	for (unsigned int i = 0; !err && i < o->count; i++) {
		err = attach_init(&b->attach[i], o, &b->maps, &b->base.interfaces[i], i);
		err = err ?: pin(b, i);
	}
	if (err) {
		bpf_free(&b->base);
		return NULL;
	}
	snprintf(b->base.ring, sizeof(b->base.ring), "ring %s %u KiB%s",
		 b->maps.mapped ? "mapped" : "bpf", b->maps.ring_size / 1024,
		 b->maps.mapped ? " for each CPU" : "");
	return &b->base;
}
