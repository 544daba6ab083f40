// SPDX-License-Identifier: GPL-2.0
/* Maps of an interface: see attach_maps.h. */
#include "attach_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/filter/filter.h"
#include "capture.skel.h"
#include "common/version.h"

int attach_make_maps(struct attach *a)
{
	struct capture_bpf *skel = capture_bpf__open();
	int err = skel ? 0 : -errno;

	if (!err) {
		bpf_map__set_autocreate(skel->maps.saluki_ring, false);
		bpf_map__set_autocreate(skel->maps.saluki_mapped, false);
		bpf_map__set_autocreate(skel->maps.saluki_wakeup, false);
		bpf_map__set_autocreate(skel->maps.saluki_journal, false);
		bpf_map__set_max_entries(skel->maps.saluki_counters, a->maps->cpus);
		bpf_map__set_autocreate(skel->maps.saluki_slots, false);
		maps_alone(skel);
		err = capture_bpf__load(skel);
	}
	if (!err) {
		a->counters_fd = dup(bpf_map__fd(skel->maps.saluki_counters));
		a->config_fd = dup(bpf_map__fd(skel->maps.saluki_config));
		a->filter_fd = dup(bpf_map__fd(skel->maps.saluki_filter));
	}
	capture_bpf__destroy(skel);
	return err;
}

/* ---- config ---------------------------------------------------------------------------------- */

int attach_write_config(struct attach *a, const char *source)
{
	__u32 zero = 0;

	snprintf(a->config.version, sizeof(a->config.version), "%s", SALUKI_VERSION);
	snprintf(a->config.source, sizeof(a->config.source), "%s", source);
	return bpf_map_update_elem(a->config_fd, &zero, &a->config, BPF_ANY) ? -errno : 0;
}

int attach_announce(const struct attach *a, struct saluki_config config)
{
	__u32 zero = 0;

	config.version[0] = 0;
	config.ifindex =
		a->config.ifindex; /* where a later agent finds the hooks, if we are killed now */
	config.snaplen_max = a->config.snaplen_max;
	return bpf_map_update_elem(a->config_fd, &zero, &config, BPF_ANY) ? -errno : 0;
}

/* ---- filter ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct sock_filter) == sizeof(struct saluki_filter_instruction) &&
		       FILTER_LEN_MAX * sizeof(struct sock_filter) ==
			       sizeof(((struct saluki_filter *)0)->code) &&
		       sizeof(((struct filter *)0)->text) ==
			       sizeof(((struct saluki_filter *)0)->text),
	       "what is pinned is what filters are");

int attach_write_filter(struct attach *a)
{
	const struct filter *f = a->interface->filter;
	struct saluki_filter *out = calloc(1, sizeof(*out));
	__u32 zero = 0;
	int err;

	if (!out)
		return -ENOMEM;
	if (f) {
		out->len = f->len;
		out->is_code = f->is_code;
		memcpy(out->text, f->text, sizeof(out->text));
		memcpy(out->code, f->code, f->len * sizeof(f->code[0]));
	}
	err = bpf_map_update_elem(a->filter_fd, &zero, out, BPF_ANY) ? -errno : 0;
	free(out);
	return err;
}

int attach_pinned_filter(const struct attach *a, struct filter *f)
{
	struct saluki_filter *in = calloc(1, sizeof(*in));
	char why[FILTER_WHY_LEN];
	__u32 zero = 0;
	int err = -ENOMEM;

	if (in)
		err = bpf_map_lookup_elem(a->filter_fd, &zero, in) ? -errno : 0;
	if (!err && in->len > FILTER_LEN_MAX)
		err = -EBADMSG;
	if (!err) {
		f->len = in->len;
		f->is_code = in->is_code;
		memcpy(f->text, in->text, sizeof(f->text) - 1);
		memcpy(f->code, in->code, in->len * sizeof(f->code[0]));
		err = f->len ? filter_check(f, why, sizeof(why)) : 0;
	}
	free(in);
	return err;
}
