// SPDX-License-Identifier: GPL-2.0
/* Hooks: see hook.h. */
#include "hook.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/interface/interface_state.h"

/* Saluki's own priority and handle, so that filters of a killed agent are replaced. */
#define TC_PRIORITY 49152
#define TC_HANDLE 0x5a1

/* From linux/bpf.h of Linux 6.6, for older headers. */
#define ATTACH_TCX_INGRESS 46
#define ATTACH_TCX_EGRESS 47
#define ATTACH_BEFORE (1U << 3)

static const struct {
	const char *link, *program;
	int type;
	enum bpf_tc_attach_point tc;
} points[] = {
	[HOOK_XDP] = { "link", "program", BPF_XDP, 0 },
	[HOOK_INGRESS] = { "link_ingress", "program_ingress", ATTACH_TCX_INGRESS, BPF_TC_INGRESS },
	[HOOK_EGRESS] = { "link_egress", "program_egress", ATTACH_TCX_EGRESS, BPF_TC_EGRESS },
};

void hooks_zero(struct hooks *h)
{
	memset(h, 0, sizeof(*h));
	for (int i = 0; i < HOOK_POINTS; i++)
		h->links[i] = -1;
}

bool hooks_attached(const struct hooks *h, enum hook_point point)
{
	return h->links[point] >= 0 || h->filters[point];
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The link of a deleted interface stays, without an interface. */
static bool link_is_alive(int fd, int ifindex)
{
	struct bpf_link_info info = { 0 };
	__u32 len = sizeof(info);

	/* tcx has its ifindex in XDP's place. */
	return bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && (int)info.xdp.ifindex == ifindex;
}

static int link_create(struct hooks *h, enum hook_point point, int prog_fd, unsigned int flags,
		       const struct pin *p)
{
	/* Before all others: a tap sees frames that they drop. */
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = point == HOOK_XDP ? flags : ATTACH_BEFORE);
	int fd = bpf_link_create(prog_fd, h->ifindex, points[point].type, &opts);

	if (fd < 0)
		return -errno;
	h->links[point] = fd;
	return pin_put(p, points[point].link, fd);
}

/* ---- filters of a qdisc ---------------------------------------------------------------------- */

static int filter_attach(struct hooks *h, enum hook_point point, int prog_fd)
{
	LIBBPF_OPTS(bpf_tc_hook, qdisc, .ifindex = h->ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = h->ifindex, .attach_point = points[point].tc);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd, .handle = TC_HANDLE,
		    .priority = TC_PRIORITY, .flags = BPF_TC_F_REPLACE);
	int err = bpf_tc_hook_create(&qdisc);

	if (err && err != -EEXIST)
		return err;
	h->qdisc |= err == 0;
	err = bpf_tc_attach(&hook, &opts);
	h->filters[point] |= err == 0;
	return err;
}

static void filter_detach(struct hooks *h, enum hook_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = h->ifindex, .attach_point = points[point].tc);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE, .priority = TC_PRIORITY);

	bpf_tc_detach(&hook, &opts);
	h->filters[point] = false;
}

/* The qdisc that we made may have others' filters. */
static void qdisc_remove(struct hooks *h)
{
	LIBBPF_OPTS(bpf_tc_hook, qdisc, .ifindex = h->ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (h->qdisc && !h->filters[HOOK_INGRESS] && !h->filters[HOOK_EGRESS] &&
	    interface_state_tc_filters(h->ifindex) == 0) {
		bpf_tc_hook_destroy(&qdisc);
		h->qdisc = false;
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

void hooks_adopt(struct hooks *h, int ifindex, const struct pin *p)
{
	hooks_zero(h);
	h->ifindex = ifindex;
	for (int i = 0; i < HOOK_POINTS; i++) {
		int fd = pin_get(p, points[i].link);

		if (fd >= 0 && link_is_alive(fd, ifindex)) {
			h->links[i] = fd;
		} else if (fd >= 0) {
			/* The link of another interface with this name. Closing it would end it
			 * too, but later. */
			bpf_link_detach(fd);
			close(fd);
			pin_remove(p, points[i].program); /* first: without a link it would mean a
							     filter */
			pin_remove(p, points[i].link);
		} else if (i != HOOK_XDP) { /* a program without a link is a filter */
			fd = pin_get(p, points[i].program);
			h->filters[i] = h->qdisc = fd >= 0;
			if (fd >= 0)
				close(fd);
		}
	}
}

int hook_attach(struct hooks *h, enum hook_point point, int prog_fd, unsigned int flags,
		const struct pin *p)
{
	int err = 0;

	if (h->links[point] >= 0) /* its pin stays, so that it keeps running */
		err = bpf_link_update(h->links[point], prog_fd, NULL) ? -errno : 0;
	else if (!h->filters[point])
		err = link_create(h, point, prog_fd, flags, p);
	if (err == -EINVAL && point != HOOK_XDP && h->links[point] < 0)
		err = 0; /* this kernel has no tcx */
	if (!err && h->links[point] < 0)
		/* The pin first: if we are killed in between, a later agent finds the filter.
		 */
		return pin_put(p, points[point].program, prog_fd)
			       ?: filter_attach(h, point, prog_fd);
	return err ?: pin_put(p, points[point].program, prog_fd);
}

void hooks_detach(struct hooks *h, unsigned int keep, const struct pin *p)
{
	for (int i = 0; i < HOOK_POINTS; i++) {
		if (keep & 1u << i)
			continue;
		if (h->links[i] >= 0) {
			bpf_link_detach(h->links[i]);
			close(h->links[i]);
			h->links[i] = -1;
		}
		if (h->filters[i])
			filter_detach(h, i);
		pin_remove(p, points[i].program); /* first, as in hooks_adopt */
		pin_remove(p, points[i].link);
	}
	qdisc_remove(h);
}

bool hooks_alive(const struct pin *p)
{
	bool alive = false;

	for (int i = 0; i < HOOK_POINTS; i++) {
		int fd = pin_get(p, points[i].link);

		if (fd < 0)
			continue;
		alive |= !link_is_alive(fd, 0);
		close(fd);
	}
	return alive;
}

void hooks_close(struct hooks *h)
{
	for (int i = 0; i < HOOK_POINTS; i++)
		if (h->links[i] >= 0)
			close(h->links[i]);
	hooks_zero(h);
}
