// SPDX-License-Identifier: GPL-2.0
/* Pinned: see pinned.h. */
#include "pinned.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tap/adopt.h"
#include "agent/rings/mapped.h"
#include "agent/rings/ring.h"

bool pinned_is(const char *interface)
{
	char path[128];

	pin_path(path, sizeof(path), interface);
	if (strlen(path) + sizeof("/config") > sizeof(path))
		return false;
	strcat(path, "/config");
	return access(path, F_OK) == 0;
}

int pinned_open(struct pinned *p, const char *interface)
{
	struct pin pin;
	int fd, err;

	memset(p, 0, sizeof(*p));
	maps_zero(&p->maps);
	pin_zero(&pin);
	pin_path(pin.path, sizeof(pin.path), interface);
	fd = pin_get(&pin, "config");
	err = fd < 0 ? fd : config_read(fd, &p->config);
	if (fd >= 0)
		close(fd);
	p->filter_fd = pin_get(&pin, "filter");
	fd = pin_get(&pin, "counters");
	err = err ?: fd < 0 ? fd : counters_map(&p->counters, fd, p->config.cpus);
	if (fd >= 0)
		close(fd);
	err = err ?: maps_adopt(&p->maps, &p->config, &pin);
	if (err)
		pinned_close(p);
	return err;
}

void pinned_close(struct pinned *p)
{
	counters_unmap(&p->counters);
	if (p->filter_fd >= 0)
		close(p->filter_fd);
	p->filter_fd = -1;
	maps_free(&p->maps);
}

void pinned_counters(const struct pinned *p, struct saluki_counters *out)
{
	counters_sum(&p->counters, out);
}

int pinned_filter(const struct pinned *p, char *text, size_t len)
{
	struct saluki_filter *f = calloc(1, sizeof(*f));
	__u32 zero = 0;
	int err = -ENOMEM;

	if (f)
		err = bpf_map_lookup_elem(p->filter_fd, &zero, f) ? -errno : 0;
	snprintf(text, len, "%.*s", (int)sizeof(f->text) - 1, !err && f->len ? f->text : "");
	free(f);
	return err;
}

/* Found by their programs' pins: module:NAME. */
void pinned_modules(const char *interface, char *text, size_t len)
{
	static const char before[] = "module:";
	char path[64];
	size_t at = 0;
	struct dirent *e;
	DIR *dir;

	pin_path(path, sizeof(path), interface);
	dir = opendir(path);
	*text = 0;
	while (dir && at < len && (e = readdir(dir))) {
		const char *name = e->d_name + strlen(before);

		if (!strncmp(e->d_name, before, strlen(before)) && !strchr(name, ':'))
			at += snprintf(text + at, len - at, "%s%s", at ? ", " : "", name);
	}
	if (dir)
		closedir(dir);
}

static int fill_mapped(const struct pinned *p, uint64_t *used, uint64_t *size)
{
	struct mapped m;
	int err = mapped_map(&m, p->maps.mapped_fd, p->maps.ring_size, p->maps.mapped);

	if (err)
		return err;
	*size = (uint64_t)p->maps.ring_size * p->maps.mapped;
	for (uint32_t i = 0; i < m.lanes_len; i++)
		*used +=
			__atomic_load_n(&m.lanes[i].ring->head, __ATOMIC_ACQUIRE) - m.lanes[i].next;
	mapped_unmap(&m);
	return 0;
}

int pinned_ring_fill(const struct pinned *p, uint64_t *used, uint64_t *size)
{
	struct ring r;
	int err;

	*used = *size = 0;
	if (p->maps.mapped)
		return fill_mapped(p, used, size);
	err = ring_map(&r, p->maps.ring_fd, p->maps.ring_size);
	if (err)
		return err;
	*size = p->maps.ring_size;
	*used = ring_produced(&r) - r.next;
	ring_unmap(&r);
	return 0;
}

/* Counts the frames among at most `max` records, even if the positions are corrupt. Modules' events
 * are no frames. */
static uint64_t frames_in_mapped(const struct pinned *p, uint64_t max)
{
	const struct saluki_record *record;
	struct mapped m;
	uint64_t n = 0;

	if (mapped_map(&m, p->maps.mapped_fd, p->maps.ring_size, p->maps.mapped))
		return 0;
	while (max-- && (record = mapped_next(&m)))
		n += record->linktype != SALUKI_LINKTYPE_EVENT;
	mapped_unmap(&m);
	return n;
}

static uint64_t frames_in_ring(const struct pinned *p, uint64_t max)
{
	const struct saluki_record *record;
	struct ring r;
	uint64_t n = 0;
	size_t len;

	if (ring_map(&r, p->maps.ring_fd, p->maps.ring_size))
		return 0;
	while (max-- && (record = ring_next(&r, &len)))
		n += record->linktype != SALUKI_LINKTYPE_EVENT;
	ring_unmap(&r);
	return n;
}

uint64_t pinned_in_ring(const struct pinned *p)
{
	uint64_t max = p->maps.ring_size / sizeof(struct saluki_record);

	return p->maps.mapped ? frames_in_mapped(p, max * p->maps.mapped) : frames_in_ring(p, max);
}
