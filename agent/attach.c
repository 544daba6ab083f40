// SPDX-License-Identifier: GPL-2.0
/*
 * Attach: see attach.h. The order of libbpf-bootstrap: open, set constants, load, attach.
 */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/types.h>
#include <string.h>
#include <unistd.h>

#include <saluki/log.h>

#include "capture.skel.h"
#include "clock.h"

/* A priority and handle of our own, so that filters left by a killed agent are replaced. */
#define TC_PRIORITY 49152
#define TC_HANDLE 0x5a1

void attach_load_none(struct capture_bpf *skel)
{
	bpf_program__set_autoload(skel->progs.saluki_xdp, false);
	bpf_program__set_autoload(skel->progs.saluki_tc_ingress, false);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress, false);
}

static int make_counters(struct attach *a)
{
	struct capture_bpf *skel = capture_bpf__open();
	int err = skel ? 0 : -errno;

	if (!err) {
		bpf_map__set_autocreate(skel->maps.ring, false);
		bpf_map__set_autocreate(skel->maps.mapped, false);
		bpf_map__set_autocreate(skel->maps.wakeup, false);
		bpf_map__set_max_entries(skel->maps.counters, a->maps->cpus);
		attach_load_none(skel);
		err = capture_bpf__load(skel);
	}
	if (!err)
		a->counters_fd = dup(bpf_map__fd(skel->maps.counters));
	capture_bpf__destroy(skel);
	return err;
}

const char *attach_reason(int err)
{
	switch (-err) {
	case EACCES:
		return "this kernel's verifier does not take the program";
	case EPERM:
		return "not permitted; run as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON";
	case ENOSYS:
		return "this kernel has no bpf()";
	case EOPNOTSUPP:
		return "the driver does not support it";
	case EBUSY:
	case EEXIST:
		return "another program is attached there; 'bpftool net' shows it";
	case ENOENT:
		return "the kernel lacks what it takes (for tc: sch_ingress and cls_bpf)";
	case EINVAL:
		return "refused by the kernel (a BPF feature it lacks)";
	default:
		return strerror(-err);
	}
}

void attach_zero(struct attach *a)
{
	memset(a, 0, sizeof(*a));
	a->counters_fd = a->xdp_link = -1;
}

int attach_init(struct attach *a, const struct capture_options *o, const struct maps *maps,
		struct tap_interface *interface, unsigned int number)
{
	int err;

	attach_zero(a);
	a->o = o;
	a->maps = maps;
	a->interface = interface;
	a->number = number;
	err = make_counters(a);
	if (err)
		log_line("%s: cannot make its counters: %s", interface->name, attach_reason(err));
	return err;
}

/* ---- attach ---------------------------------------------------------------------------------- */

/* Only what the hook needs is loaded: the verifier takes its time over every program. */
static struct capture_bpf *load(struct attach *a, enum attach_hook hook)
{
	struct capture_bpf *skel = capture_bpf__open();
	const struct maps *m = a->maps;
	bool tc = hook == ATTACH_TC;
	int err;

	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.saluki_xdp, !tc);
	bpf_program__set_autoload(skel->progs.saluki_tc_ingress,
				  tc && a->o->direction != DIRECTION_OUT);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress,
				  tc && a->o->direction != DIRECTION_IN);
	skel->rodata->snaplen = a->o->snaplen;
	skel->rodata->linktype = a->interface->link.linktype;
	skel->rodata->keep_headers = a->interface->keep_headers;
	skel->rodata->consume = a->o->consume;
	skel->rodata->interface = a->number;
#ifndef __x86_64__
	skel->rodata->mapped_exchange = 1;
#endif
	skel->rodata->mapped_size = m->mapped ? m->ring_size : 0;
	err = bpf_map__reuse_fd(skel->maps.ring, m->ring_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.mapped, m->mapped_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.counters, a->counters_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.wakeup, m->wakeup_fd);
	err = err ?: capture_bpf__load(skel);
	if (err) {
		capture_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}
	return skel;
}

static int attach_xdp(struct attach *a, struct capture_bpf *skel, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd = bpf_link_create(bpf_program__fd(skel->progs.saluki_xdp), a->interface->link.ifindex, BPF_XDP,
				 &opts);

	if (fd < 0)
		return -errno;
	a->xdp_link = fd;
	return 0;
}

static int attach_tc_point(struct attach *a, const struct bpf_program *prog,
			   enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->interface->link.ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(prog), .handle = TC_HANDLE,
		    .priority = TC_PRIORITY, .flags = BPF_TC_F_REPLACE);

	return bpf_tc_attach(&hook, &opts);
}

static void detach_tc_point(struct attach *a, enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->interface->link.ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE, .priority = TC_PRIORITY);

	bpf_tc_detach(&hook, &opts);
}

static void detach_tc(struct attach *a)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->interface->link.ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (a->tc_in)
		detach_tc_point(a, BPF_TC_INGRESS);
	if (a->tc_out)
		detach_tc_point(a, BPF_TC_EGRESS);
	/* Others may have hung filters of their own into the qdisc that we made. */
	if (a->tc_qdisc && link_tc_filters(a->interface->link.ifindex) == 0)
		bpf_tc_hook_destroy(&hook);
	a->tc_in = a->tc_out = a->tc_qdisc = false;
}

static int attach_tc(struct attach *a, struct capture_bpf *skel)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->interface->link.ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	int err = bpf_tc_hook_create(&hook);

	if (err && err != -EEXIST)
		return err;
	a->tc_qdisc = err == 0;
	err = 0;
	if (a->o->direction != DIRECTION_OUT) {
		err = attach_tc_point(a, skel->progs.saluki_tc_ingress, BPF_TC_INGRESS);
		a->tc_in = err == 0;
	}
	if (!err && a->o->direction != DIRECTION_IN) {
		err = attach_tc_point(a, skel->progs.saluki_tc_egress, BPF_TC_EGRESS);
		a->tc_out = err == 0;
	}
	if (err)
		detach_tc(a);
	return err;
}

const char *attach_hook_name(enum attach_hook hook)
{
	static const char *const names[] = { "xdp native", "xdp generic", "tc" };

	return names[hook];
}

/* Filters of an agent that was killed would go on: whoever holds the lock takes them off. */
static void detach_tc_stale(struct attach *a)
{
	detach_tc_point(a, BPF_TC_INGRESS);
	detach_tc_point(a, BPF_TC_EGRESS);
}

int attach_hook(struct attach *a, enum attach_hook hook)
{
	struct capture_bpf *skel;
	int err;

	detach_tc_stale(a);
	skel = load(a, hook);
	if (!skel)
		return -errno;
	if (hook == ATTACH_TC)
		err = attach_tc(a, skel);
	else
		err = attach_xdp(a, skel,
				 hook == ATTACH_XDP_NATIVE ? XDP_FLAGS_DRV_MODE
							   : XDP_FLAGS_SKB_MODE);
	capture_bpf__destroy(skel); /* what is attached keeps its program */
	if (!err)
		a->interface->source = attach_hook_name(hook);
	return err;
}

int attach_attach(struct attach *a, bool again)
{
	bool xdp = a->o->source != SOURCE_TC && a->o->direction == DIRECTION_IN;
	bool tc = a->o->source != SOURCE_XDP;
	int err = -EOPNOTSUPP;

	for (enum attach_hook hook = xdp ? ATTACH_XDP_NATIVE : ATTACH_TC;
	     hook <= (tc ? ATTACH_TC : ATTACH_XDP_GENERIC); hook++) {
		err = attach_hook(a, hook);
		if (!err) {
			memset(a->told, 0, sizeof(a->told));
			return 0;
		}
		if (!again || err != a->told[hook])
			log_line("%s: %s refused: %s", a->interface->name, attach_hook_name(hook),
				 attach_reason(err));
		a->told[hook] = err;
	}
	return err;
}

void attach_detach(struct attach *a)
{
	if (a->xdp_link >= 0) {
		bpf_link_detach(a->xdp_link);
		close(a->xdp_link);
		a->xdp_link = -1;
	}
	detach_tc(a);
	a->interface->source = NULL;
	clock_grace_period(); /* a CPU may still be inside the program */
}

void attach_free(struct attach *a)
{
	if (a->interface && a->interface->source)
		attach_detach(a);
	if (a->counters_fd >= 0)
		close(a->counters_fd);
	attach_zero(a);
}
