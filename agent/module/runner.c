// SPDX-License-Identifier: GPL-2.0
/* Runner: see runner.h. */
#include "runner.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "agent/programs/program.h"
#include "modules.skel.h"

#define MAPS_MAX 32 /* limit per program, which has about twelve */
#define TRIES 16

/* ---- the table ------------------------------------------------------------------------------- */

bool runner_is_there(const struct module_slots *s)
{
	__u32 place = SALUKI_SLOT_RUN, id;

	return s->programs_fd >= 0 && bpf_map_lookup_elem(s->programs_fd, &place, &id) == 0;
}

/* Recognises the map by its size: without BTF in the kernel, libbpf gives maps no names. Returns
 * -ESRCH if the map `id` is another one. */
static int read_map(struct saluki_slot_table *out, __u32 id)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info), zero = 0;
	int fd = bpf_map_get_fd_by_id(id), err;

	if (fd < 0)
		return -errno;
	err = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : 0;
	if (!err && (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != sizeof(*out)))
		err = -ESRCH;
	if (!err && bpf_map_lookup_elem(fd, &zero, out))
		err = -errno;
	close(fd);
	return err;
}

static int table_once(struct saluki_slot_table *out, const struct module_slots *s)
{
	__u32 place = SALUKI_SLOT_RUN, id, maps[MAPS_MAX];
	struct bpf_prog_info info = { .map_ids = (__u64)(unsigned long)maps,
				      .nr_map_ids = MAPS_MAX };
	__u32 len = sizeof(info);
	int fd, err;

	if (bpf_map_lookup_elem(s->programs_fd, &place, &id))
		return -errno;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	err = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : -ESRCH;
	for (__u32 i = 0; err == -ESRCH && i < info.nr_map_ids && i < MAPS_MAX; i++)
		err = read_map(out, maps[i]);
	close(fd);
	return err;
}

/* A reader has no lock: the program may have been replaced meanwhile. */
int runner_table(struct saluki_slot_table *out, const struct module_slots *s)
{
	int err = -ENOENT;

	for (int i = 0; i < TRIES && err == -ENOENT; i++)
		err = table_once(out, s);
	return err;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int reuse(struct bpf_map *map, int fd)
{
	return fd < 0 ? 0 : bpf_map__reuse_fd(map, fd);
}

static int reuse_pin(const struct module_slots *s, struct bpf_map *map, const char *pinned)
{
	int fd = pin_get(&s->pin, pinned), err;

	if (fd < 0)
		return fd;
	err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

static void set_constants(struct modules_bpf *skel, const struct module_slots *s)
{
	const struct saluki_config *c = &s->config;

	skel->rodata->linktype = c->linktype;
	skel->rodata->interface = c->number;
#ifndef __x86_64__
	skel->rodata->mapped_exchange = c->mapped != 0;
#endif
	skel->rodata->mapped_size = c->mapped ? c->ring_size : 0;
	skel->rodata_table->saluki_table = s->table;
}

static int load(struct modules_bpf *skel, const struct module_slots *s)
{
	int err;

	bpf_program__set_autoload(skel->progs.saluki_modules_xdp, s->hook == MODULE_XDP);
	bpf_program__set_autoload(skel->progs.saluki_modules_tc, s->hook == MODULE_TC);
	bpf_map__set_max_entries(skel->maps.saluki_slot_counts, s->config.cpus);
	set_constants(skel, s);
	err = skel->rodata->mapped_exchange ? 0 : program_drop_exchange(skel->obj);
	err = err ?: reuse(skel->maps.saluki_slots, s->programs_fd);
	err = err ?: reuse(skel->maps.saluki_slot_counts, s->counts_fd);
	err = err ?: reuse(skel->maps.saluki_slot_limits, s->limits_fd);
	err = err ?: reuse(skel->maps.saluki_consumers, s->consumers_fd);
	err = err ?: reuse(skel->maps.saluki_view, s->view_fd);
	err = err ?: reuse_pin(s, skel->maps.saluki_counters, "counters");
	err = err ?: reuse_pin(s, skel->maps.saluki_ring, "ring");
	err = err ?: reuse_pin(s, skel->maps.saluki_mapped, "mapped");
	err = err ?: reuse_pin(s, skel->maps.saluki_wakeup, "wakeup");
	return err ?: modules_bpf__load(skel);
}

int runner_load(struct modules_bpf **skel, const struct module_slots *s)
{
	*skel = modules_bpf__open();
	return *skel ? load(*skel, s) : -errno;
}

int runner_put(const struct modules_bpf *skel, const struct module_slots *s)
{
	__u32 place = SALUKI_SLOT_RUN;
	int fd = bpf_program__fd(s->hook == MODULE_TC ? skel->progs.saluki_modules_tc
						      : skel->progs.saluki_modules_xdp);

	return bpf_map_update_elem(s->programs_fd, &place, &fd, BPF_ANY) ? -errno : 0;
}
