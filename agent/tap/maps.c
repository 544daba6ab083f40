// SPDX-License-Identifier: GPL-2.0
/*
 * Maps: see maps.h. They are made from the BPF object's definitions, so that they have BTF and
 * bpftool shows their fields by name.
 */
#include "maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <saluki/record.h>

#include "capture.skel.h"
#include "agent/programs/program.h"
#include "agent/rings/journal.h"
#include "agent/rings/mapped.h"
#include "common/log.h"

#define RING_BELL_SIZE 4096 /* the smallest ring buffer on most machines: a page */

/* Tried first, as it tells "not permitted" and "too old" from "cannot load". */
int maps_ring_supported(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "saluki_probe", 0, 0, 4096, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Checks whether the mapped ring works here: see bpf/mapped.h. Returns NULL, or the reason. */
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

int maps_mapped_supported(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (mapped_unsound())
		return -EOPNOTSUPP;
	/* The default size. Before Linux 6.0 a value cannot be that large. */
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "saluki_probe", sizeof(__u32),
			    mapped_value_size(4 << 20), 1, &opts);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Returns the highest online CPU's number plus one. It ends the list: "0-3,8-11". */
static uint32_t cpus_online(void)
{
	char list[4096] = ""; /* sysfs's limit on most machines */
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

/* Returns how many mapped rings --ring auto makes, if the kernel can; 0: the BPF ring buffer. Each
 * possible CPU gets one, so that none is without when it comes online later. */
static uint32_t rings_by_default(const struct maps *m)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (mapped_unsound() || m->ring_size > MAPPED_SIZE_MAX ||
	    !mapped_affordable(m->ring_size, m->cpus, memory) || !program_exchange_works())
		return 0;
	return m->cpus;
}

static int maps_make(struct maps *m)
{
	struct capture_bpf *skel = capture_bpf__open();
	int err = skel ? 0 : -errno;

	if (!err) {
		/* With mapped rings the ring buffer is only the doorbell. */
		bpf_map__set_max_entries(skel->maps.saluki_ring,
					 m->mapped ? RING_BELL_SIZE : m->ring_size);
		if (m->mapped) {
			bpf_map__set_max_entries(skel->maps.saluki_mapped, m->mapped);
			bpf_map__set_value_size(skel->maps.saluki_mapped,
						mapped_value_size(m->ring_size));
		}
		bpf_map__set_value_size(skel->maps.saluki_journal,
					journal_size(m->mapped ? m->mapped : 1));
		bpf_map__set_autocreate(skel->maps.saluki_counters, false);
		bpf_map__set_autocreate(skel->maps.saluki_config, false);
		bpf_map__set_autocreate(skel->maps.saluki_filter, false);
		bpf_map__set_autocreate(skel->maps.saluki_slots, false);
		maps_alone(skel);
		err = capture_bpf__load(skel);
	}
	if (!err) {
		m->ring_fd = dup(bpf_map__fd(skel->maps.saluki_ring));
		m->mapped_fd = dup(bpf_map__fd(skel->maps.saluki_mapped));
		m->wakeup_fd = dup(bpf_map__fd(skel->maps.saluki_wakeup));
		m->journal_fd = dup(bpf_map__fd(skel->maps.saluki_journal));
	}
	capture_bpf__destroy(skel);
	return err;
}

void maps_alone(struct capture_bpf *skel)
{
	bpf_program__set_autoload(skel->progs.saluki_xdp, false);
	bpf_program__set_autoload(skel->progs.saluki_tc_ingress, false);
	bpf_program__set_autoload(skel->progs.saluki_tc_egress, false);
}

void maps_zero(struct maps *m)
{
	/* m is never NULL. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	memset(m, 0, sizeof(*m));
	m->ring_fd = m->mapped_fd = m->wakeup_fd = m->journal_fd = -1;
}

int maps_init(struct maps *m, const struct capture_options *o)
{
	int err;

	maps_zero(m);
	m->ring_size = o->ring_size;
	m->cpus = libbpf_num_possible_cpus();
	if (o->ring == RING_MAPPED) {
		if (mapped_unsound()) {
			log_line("%s: --ring mapped: %s; use --ring bpf", o->interfaces[0],
				 mapped_unsound());
			return -EOPNOTSUPP;
		}
		/* A ring for each CPU up to the highest online one: there can be hundreds of
		 * possible CPUs. */
		m->mapped = cpus_online();
	}
	if (o->ring == RING_AUTO)
		m->mapped = rings_by_default(m);
	err = maps_make(m);
	if (o->ring == RING_AUTO && m->mapped && (err == -E2BIG || err == -ENOMEM)) {
		m->mapped = 0;
		err = maps_make(m);
	}
	if (err == -ENOMEM)
		log_line("%s: no memory for a ring of %u KiB%s; see -B", o->interfaces[0],
			 m->ring_size / 1024, m->mapped ? " for each CPU" : "");
	else if (err == -E2BIG && m->mapped)
		log_line("%s: this kernel makes no mapped ring of %u KiB (Linux 6.0 does); use a "
			 "smaller -B, or --ring bpf",
			 o->interfaces[0], m->ring_size / 1024);
	else if (err)
		log_line("%s: cannot make the capture maps: %s", o->interfaces[0],
			 program_reason(err));
	return err;
}

/* The maps and the names of their pins. */
static int *maps_by_name(struct maps *m, unsigned int i, const char **name)
{
	static const char *const names[] = { "ring", "wakeup", "journal", "mapped" };
	int *const fds[] = { &m->ring_fd, &m->wakeup_fd, &m->journal_fd, &m->mapped_fd };

	if (i == sizeof(fds) / sizeof(fds[0]))
		return NULL;
	*name = names[i];
	return fds[i];
}

/* Checks that a map has the config's size: it will be mapped and read with this size. */
static int check_size(int fd, uint32_t max_entries, uint64_t value_size)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	return info.max_entries == max_entries && info.value_size == value_size ? 0 : -EBADMSG;
}

int maps_adopt(struct maps *m, const struct saluki_config *c, const struct pin *p)
{
	const char *name;
	int *fd;

	maps_zero(m);
	m->ring_size = c->ring_size;
	m->mapped = c->mapped;
	m->cpus = c->cpus;
	for (unsigned int i = 0; (fd = maps_by_name(m, i, &name)); i++) {
		*fd = pin_get(p, name);
		if (*fd < 0)
			return *fd;
	}
	if (m->mapped)
		return check_size(m->mapped_fd, m->mapped, mapped_value_size(m->ring_size));
	return check_size(m->ring_fd, m->ring_size, 0);
}

int maps_pin(const struct maps *m, const struct pin *p)
{
	struct maps copy = *m;
	const char *name;
	int err = 0, *fd;

	for (unsigned int i = 0; !err && (fd = maps_by_name(&copy, i, &name)); i++)
		err = pin_put(p, name, *fd);
	return err;
}

void maps_free(struct maps *m)
{
	const char *name;
	int *fd;

	for (unsigned int i = 0; (fd = maps_by_name(m, i, &name)); i++)
		if (*fd >= 0)
			close(*fd);
	maps_zero(m);
}
