// SPDX-License-Identifier: GPL-2.0
/*
 * Attach: see attach.h. The order of libbpf-bootstrap: open, set constants, load, attach.
 */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <saluki/linktype.h>
#include <saluki/log.h>
#include <saluki/record.h>

#include "capture.skel.h"
#include "clock.h"
#include "mapped.h"

/* A priority and handle of our own, so that filters left by a killed agent are replaced. */
#define TC_PRIORITY 49152
#define TC_HANDLE 0x5a1
#define RING_BELL_SIZE 4096 /* the smallest ring buffer on most machines: a page */

static int libbpf_silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

/* Asked first, because it separates "not permitted" and "too old" from "cannot load". */
int attach_ring_supported(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "saluki_probe", 0, 0, 4096, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Maps are made from the object's own definitions, so that they carry its BTF: bpftool shows
 * counters by name. */
static int make_maps(struct attach *a)
{
	struct capture_bpf *skel = capture_bpf__open();
	int err = skel ? 0 : -errno;

	if (!err) {
		/* With mapped rings the ring buffer is but a door bell. */
		bpf_map__set_max_entries(skel->maps.ring,
					 a->mapped ? RING_BELL_SIZE : a->o->ring_size);
		if (a->mapped) {
			bpf_map__set_max_entries(skel->maps.mapped, a->mapped);
			bpf_map__set_value_size(skel->maps.mapped,
						mapped_value_size(a->o->ring_size));
		}
		bpf_map__set_max_entries(skel->maps.counters, a->cpus);
		bpf_program__set_autoload(skel->progs.saluki_xdp, false);
		bpf_program__set_autoload(skel->progs.saluki_tc_ingress, false);
		bpf_program__set_autoload(skel->progs.saluki_tc_egress, false);
		err = capture_bpf__load(skel);
	}
	if (!err) {
		a->ring_fd = dup(bpf_map__fd(skel->maps.ring));
		a->mapped_fd = dup(bpf_map__fd(skel->maps.mapped));
		a->counters_fd = dup(bpf_map__fd(skel->maps.counters));
		a->wakeup_fd = dup(bpf_map__fd(skel->maps.wakeup));
	}
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
	a->ring_fd = a->mapped_fd = a->counters_fd = a->wakeup_fd = a->xdp_link = -1;
	pin_zero(&a->pin);
}

/* Returns the number of the highest CPU on line, plus one. The list ends in it: "0-3,8-11". */
static uint32_t cpus_online(void)
{
	char list[4096] = ""; /* what sysfs gives at most on most machines */
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	size_t n = f ? fread(list, 1, sizeof(list) - 1, f) : 0;

	if (f)
		fclose(f);
	while (n > 0 && (list[n - 1] < '0' || list[n - 1] > '9'))
		list[--n] = 0;
	while (n > 0 && list[n - 1] >= '0' && list[n - 1] <= '9')
		n--;
	return list[n] ? strtoul(list + n, NULL, 10) + 1 : (uint32_t)libbpf_num_possible_cpus();
}

/* Whether the mapped ring is sound here: see bpf/mapped.h. NULL, or why not. */
static const char *mapped_unsound(void)
{
	struct utsname u;

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(__s390x__) &&                        \
	!(defined(__riscv) && __riscv_xlen == 64)
	return "not for this machine's architecture";
#endif
	uname(&u);
	return strstr(u.version, "PREEMPT_RT") ? "not sound on a PREEMPT_RT kernel" : NULL;
}

int attach_mapped_supported(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (mapped_unsound())
		return -EOPNOTSUPP;
	/* The default size: before Linux 6.0 a value could not be that large. */
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "saluki_probe", sizeof(__u32),
			    mapped_value_size(4 << 20), 1, &opts);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int attach_init(struct attach *a, const struct run_options *o, const char *interface)
{
	int err;

	attach_zero(a);
	a->o = o;
	a->interface = interface;
	a->cpus = libbpf_num_possible_cpus();
	libbpf_set_print(libbpf_silent);
	err = attach_ring_supported();
	if (err) {
		log_line("%s: no BPF ring buffer: %s", interface, attach_reason(err));
		return err;
	}
	if (o->ring == RING_MAPPED) {
		if (mapped_unsound()) {
			log_line("%s: --ring mapped: %s; use --ring bpf", interface,
				 mapped_unsound());
			return -EOPNOTSUPP;
		}
		/* A ring for each CPU up to the highest on line: possible ones can be hundreds. */
		a->mapped = cpus_online();
	}
	err = make_maps(a);
	if (err == -ENOMEM)
		log_line("%s: no memory for a ring of %u KiB%s; see -B", interface,
			 o->ring_size / 1024, a->mapped ? " for each CPU" : "");
	else if (err == -E2BIG && a->mapped)
		log_line("%s: this kernel makes no mapped ring of %u KiB (Linux 6.0 does); use a "
			 "smaller -B, or --ring bpf",
			 interface, o->ring_size / 1024);
	else if (err)
		log_line("%s: cannot make the capture maps: %s", interface, attach_reason(err));
	return err;
}

/* ---- attach ---------------------------------------------------------------------------------- */

/* Only what the hook needs is loaded: the verifier takes its time over every program. */
static struct capture_bpf *load(struct attach *a, enum attach_hook hook)
{
	struct capture_bpf *skel = capture_bpf__open();
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
	skel->rodata->linktype = a->link.linktype;
	skel->rodata->keep_headers = a->keep_headers;
	skel->rodata->consume = a->o->consume;
#ifndef __x86_64__
	skel->rodata->mapped_exchange = 1;
#endif
	skel->rodata->mapped_size = a->mapped ? a->o->ring_size : 0;
	err = bpf_map__reuse_fd(skel->maps.ring, a->ring_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.mapped, a->mapped_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.counters, a->counters_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.wakeup, a->wakeup_fd);
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
	int fd = bpf_link_create(bpf_program__fd(skel->progs.saluki_xdp), a->link.ifindex, BPF_XDP,
				 &opts);

	if (fd < 0)
		return -errno;
	a->xdp_link = fd;
	return 0;
}

static int attach_tc_point(struct attach *a, const struct bpf_program *prog,
			   enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->link.ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(prog), .handle = TC_HANDLE,
		    .priority = TC_PRIORITY, .flags = BPF_TC_F_REPLACE);

	return bpf_tc_attach(&hook, &opts);
}

static void detach_tc_point(struct attach *a, enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->link.ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE, .priority = TC_PRIORITY);

	bpf_tc_detach(&hook, &opts);
}

static void detach_tc(struct attach *a)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->link.ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (a->tc_in)
		detach_tc_point(a, BPF_TC_INGRESS);
	if (a->tc_out)
		detach_tc_point(a, BPF_TC_EGRESS);
	/* Others may have hung filters of their own into the qdisc that we made. */
	if (a->tc_qdisc && link_tc_filters(a->link.ifindex) == 0)
		bpf_tc_hook_destroy(&hook);
	a->tc_in = a->tc_out = a->tc_qdisc = false;
}

static int attach_tc(struct attach *a, struct capture_bpf *skel)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = a->link.ifindex,
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
	int err = link_query(a->interface, &a->link);

	if (err)
		return err;
	if (a->link.ifindex == 0)
		return -ENODEV;
	if (a->link.linktype < 0)
		return -EPFNOSUPPORT;
	a->keep_headers = a->o->keep == KEEP_HEADERS ||
			  (a->o->keep == KEEP_DEFAULT && linktype_is_80211(a->link.linktype));
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
		a->source = attach_hook_name(hook);
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
		if (again && err == a->told[hook])
			continue; /* said before */
		a->told[hook] = err;
		if (err == -ENODEV)
			log_line("%s: no such interface; 'ip link' lists them", a->interface);
		else if (err == -EPFNOSUPPORT)
			log_line("%s: link type %d is not captured: only Ethernet and 802.11 "
				 "monitor interfaces are",
				 a->interface, a->link.arphrd);
		else
			log_line("%s: %s refused: %s", a->interface, attach_hook_name(hook),
				 attach_reason(err));
		if (err == -ENODEV || err == -EPFNOSUPPORT)
			break;
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
	a->source = NULL;
	clock_grace_period(); /* a CPU may still be inside the program */
}

int attach_pin(struct attach *a)
{
	const struct pin_map maps[] = { { "ring", a->ring_fd },
					{ "mapped", a->mapped ? a->mapped_fd : -1 },
					{ "counters", a->counters_fd },
					{ NULL, -1 } };

	return pin_take(&a->pin, a->interface, maps);
}

void attach_free(struct attach *a)
{
	attach_detach(a);
	pin_drop(&a->pin);
	if (a->ring_fd >= 0)
		close(a->ring_fd);
	if (a->mapped_fd >= 0)
		close(a->mapped_fd);
	if (a->counters_fd >= 0)
		close(a->counters_fd);
	if (a->wakeup_fd >= 0)
		close(a->wakeup_fd);
	attach_zero(a);
}
