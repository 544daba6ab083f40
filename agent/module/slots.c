// SPDX-License-Identifier: GPL-2.0
/* Slots: see slots.h. */
#include "slots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <saluki/log.h>

#include "agent/source/clock.h"
#include "agent/tap/adopt.h"
#include "agent/tap/attach.h"
#include "agent/tap/program.h"
#include "modules.skel.h"
#include "table.h"

/* One slot's counters on one CPU. */
struct cpu_counters {
	struct saluki_slot_counters slots[SALUKI_MODULES_MAX];
};

/* ---- pins ------------------------------------------------------------------------------------ */

static const char *const hooks[] = { [MODULE_XDP] = "xdp", [MODULE_TC] = "tc" };

static int *slots_fd(struct module_slots *s, unsigned int i, const char **name)
{
	static const char *const names[] = { "slots",	      "module_table",	  "module_now",
					     "module_counts", "module_consumers", "module_view" };
	int *const fds[] = { &s->programs_fd, &s->table_fd,	&s->now_fd,
			     &s->counts_fd,   &s->consumers_fd, &s->view_fd };

	if (i == sizeof(fds) / sizeof(fds[0]))
		return NULL;
	*name = names[i];
	return fds[i];
}

static void pin_name(char out[32], const struct module_slots *s, const char *name)
{
	snprintf(out, 32, "%s_%s", name, hooks[s->hook]);
}

void module_slots_zero(struct module_slots *s)
{
	const char *name;
	int *fd;

	memset(s, 0, sizeof(*s));
	lock_zero(&s->lock);
	pin_zero(&s->pin);
	for (unsigned int i = 0; (fd = slots_fd(s, i, &name)); i++)
		*fd = -1;
}

/* Whether what runs modules is in its place. Pins alone do not say so: they may be left of an
 * earlier capture. */
static bool runs(const struct module_slots *s)
{
	__u32 place = SALUKI_SLOT_RUN_IN, id;

	return s->programs_fd >= 0 && bpf_map_lookup_elem(s->programs_fd, &place, &id) == 0;
}

static void get_pins(struct module_slots *s)
{
	const char *name;
	char pinned[32];
	int *fd;

	for (unsigned int i = 0; (fd = slots_fd(s, i, &name)) && (i == 0 || runs(s)); i++) {
		pin_name(pinned, s, name);
		*fd = pin_get(&s->pin, pinned);
		*fd = *fd < 0 ? -1 : *fd;
	}
}

static int put_pins(struct module_slots *s)
{
	const char *name;
	char pinned[32];
	int *fd, err = 0;

	for (unsigned int i = 1; !err && (fd = slots_fd(s, i, &name)); i++) {
		pin_name(pinned, s, name);
		err = pin_put(&s->pin, pinned, *fd);
	}
	return err;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int read_table(struct module_slots *s)
{
	__u32 zero = 0;

	if (s->now_fd < 0 || s->table_fd < 0)
		return 0; /* no module was ever loaded here */
	if (bpf_map_lookup_elem(s->now_fd, &zero, &s->now))
		return -errno;
	s->now.table &= 1;
	return bpf_map_lookup_elem(s->table_fd, &s->now.table, &s->table) ? -errno : 0;
}

static int read_capture(struct module_slots *s)
{
	int fd = pin_get(&s->pin, "config");
	int err = fd < 0 ? fd : config_read(fd, &s->config);

	if (fd >= 0)
		close(fd);
	if (err == -EPROTO)
		log_line("%s: is attached by a saluki of another layout", s->interface);
	else if (err || !*s->config.source)
		log_line("%s: modules run where XDP or tc captures, and nothing is attached there; "
			 "'saluki status' lists what is",
			 s->interface);
	if (!err && !*s->config.source)
		err = -ENOENT;
	if (!err && adopt_namespace(s->interface, &s->pin, &s->config))
		err = -EINVAL;
	s->hook = strcmp(s->config.source, "tc") ? MODULE_XDP : MODULE_TC;
	return err;
}

int module_slots_open(struct module_slots *s, const char *interface, bool changes)
{
	int err;

	module_slots_zero(s);
	s->interface = interface;
	if (changes) {
		err = lock_wait(&s->lock, interface, ".modules");
		if (err)
			return err;
	}
	pin_path(s->pin.path, sizeof(s->pin.path), interface);
	s->pin.dir = open(s->pin.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = read_capture(s);
	if (err)
		return err;
	get_pins(s);
	err = s->programs_fd < 0 ? -ENOENT : read_table(s);
	if (err)
		log_line("%s: cannot read what modules it has: %s", interface, attach_reason(err));
	return err;
}

void module_slots_close(struct module_slots *s)
{
	const char *name;
	int *fd;

	for (unsigned int i = 0; (fd = slots_fd(s, i, &name)); i++)
		if (*fd >= 0)
			close(*fd);
	if (s->pin.dir >= 0)
		close(s->pin.dir); /* the folder is the capture's */
	lock_release(&s->lock);
	module_slots_zero(s);
}

/* ---- what runs them -------------------------------------------------------------------------- */

static int reuse(const struct module_slots *s, struct bpf_map *map, const char *pinned)
{
	int fd = pin_get(&s->pin, pinned), err;

	if (fd < 0)
		return fd;
	err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

static void set_constants(struct modules_bpf *skel, const struct saluki_config *c)
{
	skel->rodata->linktype = c->linktype;
	skel->rodata->interface = c->number;
#ifndef __x86_64__
	skel->rodata->mapped_exchange = c->mapped != 0;
#endif
	skel->rodata->mapped_size = c->mapped ? c->ring_size : 0;
}

static int load(const struct module_slots *s, struct modules_bpf *skel)
{
	bool tc = s->hook == MODULE_TC;
	int err;

	bpf_program__set_autoload(skel->progs.saluki_modules_xdp, !tc);
	bpf_program__set_autoload(skel->progs.saluki_modules_tc_ingress, tc);
	bpf_program__set_autoload(skel->progs.saluki_modules_tc_egress, tc);
	bpf_map__set_max_entries(skel->maps.saluki_slot_counts, s->config.cpus);
	set_constants(skel, &s->config);
	err = skel->rodata->mapped_exchange ? 0 : program_drop_exchange(skel->obj);
	err = err ?: bpf_map__reuse_fd(skel->maps.saluki_slots, s->programs_fd);
	err = err ?: reuse(s, skel->maps.saluki_counters, "counters");
	err = err ?: reuse(s, skel->maps.saluki_ring, "ring");
	err = err ?: reuse(s, skel->maps.saluki_mapped, "mapped");
	err = err ?: reuse(s, skel->maps.saluki_wakeup, "wakeup");
	return err ?: modules_bpf__load(skel);
}

static int put_program(const struct module_slots *s, __u32 place, const struct bpf_program *prog)
{
	int fd = bpf_program__fd(prog);

	return bpf_map_update_elem(s->programs_fd, &place, &fd, BPF_ANY) ? -errno : 0;
}

static int put_programs(const struct module_slots *s, const struct modules_bpf *skel)
{
	if (s->hook == MODULE_XDP)
		return put_program(s, SALUKI_SLOT_RUN_IN, skel->progs.saluki_modules_xdp);
	return put_program(s, SALUKI_SLOT_RUN_OUT, skel->progs.saluki_modules_tc_egress)
		       ?: put_program(s, SALUKI_SLOT_RUN_IN, skel->progs.saluki_modules_tc_ingress);
}

int module_slots_make(struct module_slots *s)
{
	struct modules_bpf *skel;
	int err;

	if (runs(s))
		return 0;
	skel = modules_bpf__open();
	err = skel ? load(s, skel) : -errno;
	if (!err) {
		s->table_fd = dup(bpf_map__fd(skel->maps.saluki_slot_table));
		s->now_fd = dup(bpf_map__fd(skel->maps.saluki_slots_now));
		s->counts_fd = dup(bpf_map__fd(skel->maps.saluki_slot_counts));
		s->consumers_fd = dup(bpf_map__fd(skel->maps.saluki_consumers));
		s->view_fd = dup(bpf_map__fd(skel->maps.saluki_view));
		err = put_pins(s) ?: put_programs(s, skel); /* the last: now all is there */
	}
	modules_bpf__destroy(skel);
	if (err)
		log_line("%s: cannot load what runs modules: %s", s->interface, attach_reason(err));
	return err;
}

/* ---- the table ------------------------------------------------------------------------------- */

int module_slots_find(const struct module_slots *s, const char *name)
{
	for (int i = 0; i < SALUKI_MODULES_MAX; i++) {
		const struct saluki_slot *slot = &s->table.slots[i];

		if (name ? slot->used && !strcmp(slot->name, name) : !slot->used)
			return i;
	}
	return -ENOENT;
}

int module_slots_write(struct module_slots *s)
{
	struct saluki_slot_table *t = &s->table;
	struct saluki_slots_in_force next = { .table = !s->now.table };
	__u32 zero = 0;

	module_table_sum(t);
	if (bpf_map_update_elem(s->table_fd, &next.table, t, BPF_ANY) ||
	    bpf_map_update_elem(s->now_fd, &zero, &next, BPF_ANY))
		return -errno;
	s->now = next;
	clock_grace_period();
	return 0;
}

int module_slots_consumer(const struct module_slots *s, unsigned int i, int ring_fd)
{
	__u32 slot = i;

	if (ring_fd >= 0)
		return bpf_map_update_elem(s->consumers_fd, &slot, &ring_fd, BPF_ANY) ? -errno : 0;
	return bpf_map_delete_elem(s->consumers_fd, &slot) && errno != ENOENT ? -errno : 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

static struct cpu_counters *map_counters(const struct module_slots *s, int rights, size_t *len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	*len = (s->config.cpus * sizeof(struct cpu_counters) + page - 1) & ~(page - 1);
	p = mmap(NULL, *len, rights, MAP_SHARED, s->counts_fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int module_slots_counters(const struct module_slots *s, unsigned int i,
			  struct saluki_slot_counters *out)
{
	__u64 *sum = (__u64 *)out;
	size_t len;
	const struct cpu_counters *c = map_counters(s, PROT_READ, &len);

	if (!c)
		return -errno;
	memset(out, 0, sizeof(*out));
	for (uint32_t cpu = 0; cpu < s->config.cpus; cpu++) {
		const __u64 *slot = (const __u64 *)&c[cpu].slots[i];

		for (size_t k = 0; k < sizeof(*out) / sizeof(*sum); k++)
			sum[k] += __atomic_load_n(&slot[k], __ATOMIC_RELAXED);
	}
	munmap((void *)c, len);
	return 0;
}

int module_slots_clear_counters(const struct module_slots *s, unsigned int i)
{
	size_t len;
	struct cpu_counters *c = map_counters(s, PROT_READ | PROT_WRITE, &len);

	if (!c)
		return -errno;
	for (uint32_t cpu = 0; cpu < s->config.cpus; cpu++)
		memset(&c[cpu].slots[i], 0, sizeof(c[cpu].slots[i]));
	munmap(c, len);
	return 0;
}
