// SPDX-License-Identifier: GPL-2.0
/*
 * Attach: see attach.h. The order of libbpf-bootstrap: open, set constants, load, attach.
 */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach_maps.h"
#include "attach_slots.h"
#include "capture.skel.h"
#include "agent/programs/grace_period.h"
#include "agent/filter/filter_load.h"
#include "agent/interface/lock.h"
#include "agent/programs/program.h"
#include "common/log.h"
#include "common/version.h"

/* ---- maps and pins --------------------------------------------------------------------------- */

void attach_zero(struct attach *a)
{
	memset(a, 0, sizeof(*a));
	a->counters_fd = a->config_fd = a->filter_fd = a->slots_fd[0] = a->slots_fd[1] = -1;
	hooks_zero(&a->hooks);
	pin_zero(&a->pin);
}

int attach_init(struct attach *a, const struct maps *maps, struct tap_interface *interface,
		const struct saluki_config *config)
{
	int err;

	a->maps = maps;
	a->interface = interface;
	a->config = *config;
	pin_clear_modules(&a->pin); /* a module loaded while an earlier capture ended */
	err = attach_make_maps(a);
	err = err ?: attach_write_config(a, "");
	err = err ?: pin_put(&a->pin, "counters", a->counters_fd);
	err = err ?: pin_put(&a->pin, "filter", a->filter_fd);
	err = err ?: maps_pin(maps, &a->pin);
	err = err ?: pin_put(&a->pin, "config", a->config_fd); /* last: all is in place */
	if (err)
		log_line("%s: cannot make its maps: %s", interface->name, program_reason(err));
	return err;
}

int attach_adopt(struct attach *a, const struct maps *maps, struct tap_interface *interface)
{
	a->maps = maps;
	a->interface = interface;
	a->counters_fd = pin_get(&a->pin, "counters");
	a->filter_fd = pin_get(&a->pin, "filter");
	attach_slots_adopt(a);
	hooks_adopt(&a->hooks, a->config.ifindex, &a->pin);
	return a->counters_fd < 0 ? a->counters_fd : a->filter_fd < 0 ? a->filter_fd : 0;
}

/* ---- attach ---------------------------------------------------------------------------------- */

/* Derives the programs' constants from the options and the interface. */
static struct saluki_config wanted_config(const struct attach *a)
{
	struct saluki_config c = a->config;

	c.ifindex = a->interface->link.ifindex;
	c.linktype = a->interface->link.linktype;
	c.snaplen = a->o->snaplen;
	if (c.snaplen_max < c.snaplen)
		c.snaplen_max = c.snaplen;
	c.keep = a->o->keep;
	c.keep_headers = a->interface->keep_headers;
	c.choice = a->o->source;
	c.direction = a->o->direction;
	c.consume = a->o->consume;
	c.bad_fcs = a->o->bad_fcs;
	c.persistent = a->o->persistent;
	c.filter = filter_hash(a->interface->filter);
	c.netns = lock_namespace();
	return c;
}

static void set_constants(struct capture_bpf *skel, const struct attach *a)
{
	const struct saluki_config *c = &a->config;

	skel->rodata->snaplen = c->snaplen;
	skel->rodata->linktype = c->linktype;
	skel->rodata->keep_headers = c->keep_headers;
	skel->rodata->consume = c->consume;
	skel->rodata->drop_bad_fcs = c->bad_fcs == BAD_FCS_DROP;
	skel->rodata->interface = c->number;
#ifndef __x86_64__
	skel->rodata->mapped_exchange = c->mapped != 0;
#endif
	skel->rodata->filtering = c->filter != 0;
	skel->rodata->mapped_size = c->mapped ? c->ring_size : 0;
	snprintf((char *)skel->rodata->bpf_metadata_version,
		 sizeof(skel->rodata->bpf_metadata_version), "%s", SALUKI_VERSION);
	snprintf((char *)skel->rodata->bpf_metadata_interface,
		 sizeof(skel->rodata->bpf_metadata_interface), "%s", c->interface);
	skel->rodata->bpf_metadata_snaplen = c->snaplen;
	snprintf((char *)skel->rodata->bpf_metadata_keep, sizeof(skel->rodata->bpf_metadata_keep),
		 "%s", c->keep_headers ? "headers" : "all");
	if (a->interface->filter)
		snprintf((char *)skel->rodata->bpf_metadata_filter,
			 sizeof(skel->rodata->bpf_metadata_filter), "%.255s",
			 a->interface->filter->text);
}

/* Loads only the hook's programs: the verifier takes time for each. */
static struct capture_bpf *load(struct attach *a, enum attach_hook hook, bool keeps_modules)
{
	const struct maps *m = a->maps;
	bool tc = hook == ATTACH_TC;
	enum direction direction = tap_direction(a->interface, a->o);
	struct capture_bpf *skel;
	int err = filter_load_init();

	skel = err ? NULL : capture_bpf__open();
	if (!skel) {
		errno = err ? -err : errno;
		return NULL;
	}
	bpf_program__set_autoload(skel->progs.saluki_xdp, !tc);
	bpf_program__set_autoload(skel->progs.saluki_tc_ingress, tc && direction != DIRECTION_OUT);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress, tc && direction != DIRECTION_IN);
	bpf_map__set_autocreate(skel->maps.saluki_journal, false);
	bpf_map__set_autocreate(skel->maps.saluki_config, false);
	bpf_map__set_autocreate(skel->maps.saluki_filter, false);
	set_constants(skel, a);
	err = skel->rodata->mapped_exchange ? 0 : program_drop_exchange(skel->obj);
	err = err ?: bpf_map__reuse_fd(skel->maps.saluki_ring, m->ring_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.saluki_mapped, m->mapped_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.saluki_counters, a->counters_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.saluki_wakeup, m->wakeup_fd);
	if (!err && keeps_modules)
		err = bpf_map__reuse_fd(skel->maps.saluki_slots, a->slots_fd[tc]);
	err = err ?: filter_load(skel->skeleton, a->interface->filter, a->why, sizeof(a->why));
	if (err) {
		capture_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}
	return skel;
}

/* Attaches the loaded programs, or replaces the old ones. Programs at another hook or interface are
 * detached first: two hooks would both count each frame. */
static int attach_points(struct attach *a, struct capture_bpf *skel, enum attach_hook hook,
			 const char *source)
{
	unsigned int flags = hook == ATTACH_XDP_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	const struct bpf_program *progs[] = {
		/* Not called without skel. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		[HOOK_XDP] = hook == ATTACH_TC ? NULL : skel->progs.saluki_xdp,
		[HOOK_INGRESS] = hook == ATTACH_TC ? skel->progs.saluki_tc_ingress : NULL,
		[HOOK_EGRESS] = hook == ATTACH_TC ? skel->progs.saluki_tc_egress : NULL,
	};
	int ifindex = a->interface->link.ifindex, err = 0;
	bool here = a->hooks.ifindex == ifindex && !strcmp(source, attach_hook_name(hook));
	unsigned int want = 0;

	for (int i = 0; i < HOOK_POINTS; i++)
		if (progs[i] && bpf_program__autoload(progs[i]))
			want |= 1u << i;
	hooks_detach(&a->hooks, here ? want : 0, &a->pin);
	a->hooks.ifindex = ifindex;
	for (int i = 0; !err && i < HOOK_POINTS; i++)
		if (want & 1u << i)
			err = hook_attach(&a->hooks, i, bpf_program__fd(progs[i]), flags, &a->pin);
	if (err)
		hooks_detach(&a->hooks, 0, &a->pin);
	return err;
}

const char *attach_hook_name(enum attach_hook hook)
{
	static const char *const names[] = { "xdp native", "xdp generic", "tc" };

	return names[hook];
}

static bool attached(const struct attach *a)
{
	return hooks_attached(&a->hooks, HOOK_XDP) || hooks_attached(&a->hooks, HOOK_INGRESS) ||
	       hooks_attached(&a->hooks, HOOK_EGRESS);
}

int attach_hook(struct attach *a, enum attach_hook hook)
{
	const struct saluki_config before = a->config;
	bool tc = hook == ATTACH_TC, keeps_modules;
	struct capture_bpf *skel;
	int err;

	*a->why = 0;
	a->config = wanted_config(a);
	keeps_modules = a->slots_fd[tc] >= 0 && a->config.linktype == before.linktype;
	skel = load(a, hook, keeps_modules); /* first: a refused program changes nothing */
	err = skel ? attach_announce(a, before) : -errno;
	if (!err && !keeps_modules)
		/* Without skel there is an error.
		 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		err = attach_slots_renew(a, tc, bpf_map__fd(skel->maps.saluki_slots));
	err = err ?: attach_points(a, skel, hook, before.source);
	if (!err)
		attach_slots_drop(a, !tc);
	capture_bpf__destroy(skel); /* attached programs stay */
	if (err) {
		a->config = before;
		if (!attached(a))
			attach_write_config(a, "");
		return err;
	}
	a->interface->source = attach_hook_name(hook);
	return attach_write_filter(a) ?: attach_write_config(a, attach_hook_name(hook));
}

/* Whether the attached programs are this version's with these settings. */
static bool attached_as_wanted(const struct attach *a)
{
	struct saluki_config want = wanted_config(a);

	return a->hooks.ifindex == a->interface->link.ifindex && attached(a) &&
	       !strcmp(want.version, SALUKI_VERSION) && !memcmp(&want, &a->config, sizeof(want));
}

static bool hook_allowed(const struct attach *a, enum attach_hook hook)
{
	if (hook == ATTACH_TC)
		return a->o->source != SOURCE_XDP;
	return a->o->source != SOURCE_TC && a->o->direction == DIRECTION_IN && !a->o->no_xdp;
}

/* Only tc sees a VLAN tag that the card moved into the metadata. */
static bool hook_loses_tags(const struct attach *a, enum attach_hook hook)
{
	return hook != ATTACH_TC && a->o->source == SOURCE_AUTO && a->interface->link.strips_vlan;
}

void attach_say_tags(const struct tap_interface *f)
{
	if (f->link.strips_vlan)
		log_line("%s: the card takes VLAN tags off and XDP does not see them; 'ethtool -K "
			 "%s rxvlan off' leaves them in place",
			 f->name, f->name);
}

/* Keeps the hook of an earlier agent if possible, with its program or a new one.
 */
static int attach_again(struct attach *a)
{
	for (enum attach_hook hook = 0; hook < ATTACH_HOOKS; hook++) {
		if (strcmp(a->config.source, attach_hook_name(hook)) || !hook_allowed(a, hook) ||
		    hook_loses_tags(a, hook))
			continue;
		if (!attached_as_wanted(a))
			return attach_hook(a, hook);
		a->interface->source = attach_hook_name(hook);
		return 0;
	}
	return -ENOENT;
}

/* Explains why XDP was not tried. This is no error. */
static void say_skipped(const struct attach *a)
{
	log_line("%s: tc, not XDP, since the card takes VLAN tags off and tc puts them back; for "
		 "XDP: "
		 "'ethtool -K %s rxvlan off', or --source xdp where there are no tags",
		 a->interface->name, a->interface->name);
}

int attach_attach(struct attach *a, bool again)
{
	bool skipped = false;
	int err = -EOPNOTSUPP;

	if (a->hooks.ifindex == a->interface->link.ifindex && attach_again(a) == 0)
		return 0;
	for (enum attach_hook hook = 0; hook < ATTACH_HOOKS; hook++) {
		if (!hook_allowed(a, hook))
			continue;
		if (hook_loses_tags(a, hook)) {
			skipped = true;
			continue;
		}
		if (skipped && !again)
			say_skipped(a);
		err = attach_hook(a, hook);
		if (!err) {
			memset(a->told, 0, sizeof(a->told));
			if (hook != ATTACH_TC)
				attach_say_tags(a->interface);
			return 0;
		}
		if (!again || err != a->told[hook])
			log_line("%s: %s refused: %s", a->interface->name, attach_hook_name(hook),
				 *a->why ? a->why : program_reason(err));
		a->told[hook] = err;
	}
	return err;
}

int attach_filter(struct attach *a, char *why, size_t why_len)
{
	int err;

	if (!a->config.source[0]) {
		snprintf(why, why_len, "is not attached now; 'saluki attach' does it again");
		return -ENOENT;
	}
	err = attach_again(a);
	if (err) {
		if (!a->config.source[0])
			a->interface->source = NULL; /* must be attached again */
		snprintf(why, why_len, "%s", *a->why ? a->why : program_reason(err));
	}
	return err;
}

void attach_detach(struct attach *a)
{
	hooks_detach(&a->hooks, 0, &a->pin);
	attach_write_config(a, "");
	a->interface->source = NULL;
	grace_period(); /* a CPU may still be inside the program */
}

void attach_free(struct attach *a)
{
	hooks_close(&a->hooks);
	if (a->counters_fd >= 0)
		close(a->counters_fd);
	if (a->config_fd >= 0)
		close(a->config_fd);
	if (a->filter_fd >= 0)
		close(a->filter_fd);
	attach_slots_close(a);
	pin_release(&a->pin);
	attach_zero(a);
}
