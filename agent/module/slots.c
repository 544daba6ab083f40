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
#include <time.h>
#include <unistd.h>

#include "agent/programs/grace_period.h"
#include "agent/programs/program.h"
#include "agent/tap/adopt.h"
#include "common/log.h"
#include "modules.skel.h"
#include "runner.h"
#include "table.h"

#define PATIENCE_MS 2000

/* One slot's counters on one CPU. */
struct cpu_counters {
	struct saluki_slot_counters slots[SALUKI_MODULES_MAX];
};

/* ---- pins ------------------------------------------------------------------------------------ */

static const char *const hooks[] = { [MODULE_XDP] = "xdp", [MODULE_TC] = "tc" };

static int *slots_fd(struct module_slots *s, unsigned int i, const char **name)
{
	static const char *const names[] = { "slots", "module_counts", "module_limits",
					     "module_consumers", "module_view" };
	int *const fds[] = { &s->programs_fd, &s->counts_fd, &s->limits_fd, &s->consumers_fd,
			     &s->view_fd };

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

static void get_pins(struct module_slots *s)
{
	const char *name;
	char pinned[32];
	int *fd;

	for (unsigned int i = 0; (fd = slots_fd(s, i, &name)) && (i == 0 || runner_is_there(s));
	     i++) {
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

void module_slots_remove(const struct module_slots *s, unsigned int i)
{
	__u32 place = SALUKI_SLOT_FIRST + i;

	bpf_map_delete_elem(s->programs_fd, &place);
}

static void close_pins(struct module_slots *s)
{
	const char *name;
	int *fd;

	for (unsigned int i = 0; (fd = slots_fd(s, i, &name)); i++) {
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

/* While the capture is being changed (agent/tap/attach.c), its config has no version and does not
 * match the pins. A change of modules waits for some milliseconds. */
static int read_pins(struct module_slots *s, bool changes)
{
	const struct timespec t = { 0, 10000000 };
	struct saluki_config before;

	for (int left_ms = PATIENCE_MS; left_ms >= 0; left_ms -= 10) {
		int err = read_capture(s);

		if (err)
			return err;
		before = s->config;
		get_pins(s);
		err = changes ? read_capture(s) : 0;
		if (err || !changes ||
		    (*s->config.version && !memcmp(&before, &s->config, sizeof(before))))
			return err;
		close_pins(s);
		nanosleep(&t, NULL);
	}
	log_line("%s: its capture is being changed; try again", s->interface);
	return -EBUSY;
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
	err = read_pins(s, changes);
	if (err)
		return err;
	err = s->programs_fd < 0 ? -ENOENT : 0;
	if (!err && runner_is_there(s))
		err = runner_table(&s->table, s);
	if (err)
		log_line("%s: cannot read what modules it has: %s", interface, program_reason(err));
	for (unsigned int i = 0; !err && changes && i < SALUKI_MODULES_MAX; i++)
		if (!s->table.slots[i].used)
			module_slots_remove(s, i);
	return err;
}

void module_slots_close(struct module_slots *s)
{
	close_pins(s);
	if (s->pin.dir >= 0)
		close(s->pin.dir); /* the folder belongs to the capture */
	modules_bpf__destroy(s->next);
	lock_release(&s->lock);
	module_slots_zero(s);
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

/* All later programs use the maps of the first. */
static int take_maps(struct module_slots *s, const struct modules_bpf *first)
{
	s->counts_fd = dup(bpf_map__fd(first->maps.saluki_slot_counts));
	s->limits_fd = dup(bpf_map__fd(first->maps.saluki_slot_limits));
	s->consumers_fd = dup(bpf_map__fd(first->maps.saluki_consumers));
	s->view_fd = dup(bpf_map__fd(first->maps.saluki_view));
	return put_pins(s);
}

int module_slots_make(struct module_slots *s)
{
	struct modules_bpf *first;
	int err;

	if (runner_is_there(s))
		return 0;
	err = runner_load(&first, s);
	err = err ?: take_maps(s, first) ?: runner_put(first, s); /* last: all is in place */
	modules_bpf__destroy(first);
	if (err)
		log_line("%s: cannot load what runs modules: %s", s->interface,
			 program_reason(err));
	return err;
}

int module_slots_ready(struct module_slots *s)
{
	module_table_sum(&s->table);
	return runner_load(&s->next, s);
}

/* Whether the pins now name another table than the opened one. A change of the capture waits for no
 * lock (agent/tap/attach_slots.h). */
static bool is_stale(const struct module_slots *s)
{
	struct bpf_map_info ours = { 0 }, pinned = { 0 };
	__u32 len = sizeof(ours);
	char name[32];
	bool stale;
	int fd;

	pin_name(name, s, "slots");
	fd = pin_get(&s->pin, name);
	if (fd < 0)
		return fd == -ENOENT;
	stale = !bpf_obj_get_info_by_fd(s->programs_fd, &ours, &len) &&
		!bpf_obj_get_info_by_fd(fd, &pinned, &len) && ours.id != pinned.id;
	close(fd);
	return stale;
}

int module_slots_run(struct module_slots *s)
{
	int err = runner_put(s->next, s);

	modules_bpf__destroy(s->next);
	s->next = NULL;
	if (err)
		return err;
	grace_period();
	return is_stale(s) ? -ESTALE : 0;
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
