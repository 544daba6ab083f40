// SPDX-License-Identifier: GPL-2.0
/* Consume: see consume.h. */
#include "consume.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/programs/program.h"
#include "common/log.h"

void consume_pin(char pin[CONSUME_PIN_LEN], const char *module)
{
	snprintf(pin, CONSUME_PIN_LEN, "module_events:%s", module);
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* With this descriptor the kernel refuses updates, deletions and writable mappings. */
static int get_to_read(const struct pin *p, const char *name)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);
	char path[sizeof(p->path) + CONSUME_PIN_LEN];
	int fd;

	snprintf(path, sizeof(path), "%s/%.*s", p->path, CONSUME_PIN_LEN - 1, name);
	fd = bpf_obj_get_opts(path, &opts);
	return fd < 0 ? -errno : fd;
}

static int open_map(struct module_handed *h, const struct pin *p, const char *pin, const char *map)
{
	unsigned int i = h->map_count;

	if (i == CONSUME_MAPS_MAX || strlen(map) >= CONSUME_MAP_NAME)
		return -E2BIG;
	h->maps[i].fd = get_to_read(p, pin);
	if (h->maps[i].fd < 0)
		return h->maps[i].fd;
	strcpy(h->maps[i].name, map);
	h->map_count++;
	return 0;
}

static int open_maps(struct module_handed *h, const struct pin *p)
{
	char prefix[CONSUME_PIN_LEN];
	size_t len = snprintf(prefix, sizeof(prefix), "module:%s:", h->name);
	DIR *d = opendir(p->path);
	struct dirent *e;
	int err = d ? 0 : -errno;

	/* Without d there is an error. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	while (!err && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, len))
			err = open_map(h, p, e->d_name, e->d_name + len);
	if (d)
		closedir(d);
	return err;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static int make_ring(struct module_handed *h, const struct module_slots *s)
{
	char pin[CONSUME_PIN_LEN];
	int err;

	if (s->consumers_fd < 0)
		return -ENOENT;
	h->ring_fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "saluki_events", 0, 0, h->ring_bytes, NULL);
	if (h->ring_fd < 0)
		return -errno;
	consume_pin(pin, h->name);
	err = pin_put(&s->pin, pin, h->ring_fd);
	err = err ?: module_slots_consumer(s, h->slot, h->ring_fd);
	if (err)
		pin_remove(&s->pin, pin);
	return err;
}

static int find(struct module_handed *h, const struct module_slots *s)
{
	int slot = module_slots_find(s, h->name);

	if (slot < 0) {
		log_line("%s: no module %s there; 'saluki module list' lists them", s->interface,
			 h->name);
		return slot;
	}
	h->slot = slot;
	h->loaded_ns = s->table.slots[slot].loaded_ns;
	return 0;
}

static int open_all(struct module_handed *h, struct module_slots *s)
{
	char suffix[CONSUME_PIN_LEN];
	int err = find(h, s);

	if (err)
		return err;
	snprintf(suffix, sizeof(suffix), LOCK_EVENTS "%s", h->name);
	err = lock_take(&h->lock, s->interface, suffix);
	if (err)
		return err;
	err = open_maps(h, &s->pin);
	err = err ?: make_ring(h, s);
	if (err) {
		log_line("%s: cannot hand out what %s has: %s", s->interface, h->name,
			 program_reason(err));
		return err;
	}
	h->pin = s->pin;
	h->pin.dir = fcntl(s->pin.dir, F_DUPFD_CLOEXEC, 0);
	return h->pin.dir < 0 ? -errno : 0;
}

int consume_open(struct module_handed *h, const char *interface, const char *module,
		 uint32_t ring_bytes)
{
	struct module_slots s;
	int err;

	memset(h, 0, sizeof(*h));
	lock_zero(&h->lock);
	pin_zero(&h->pin);
	h->name = module;
	h->ring_fd = -1;
	h->ring_bytes = ring_bytes;
	err = module_slots_open(&s, interface, true);
	err = err ?: open_all(h, &s);
	module_slots_close(&s);
	return err;
}

bool consume_goes_on(const struct module_handed *h)
{
	char pin[CONSUME_PIN_LEN];

	consume_pin(pin, h->name);
	return faccessat(h->pin.dir, pin, F_OK, 0) == 0;
}

/* The process that unloaded the module has removed the ring from the slot, which may have another
 * module now. */
static void take_out(const struct module_handed *h, const char *interface)
{
	char pin[CONSUME_PIN_LEN];
	struct module_slots s;

	if (module_slots_open(&s, interface, true) == 0 && consume_goes_on(h)) {
		module_slots_consumer(&s, h->slot, -1);
		consume_pin(pin, h->name);
		pin_remove(&s.pin, pin);
	}
	module_slots_close(&s);
}

void consume_close(struct module_handed *h, const char *interface)
{
	if (h->pin.dir >= 0 && consume_goes_on(h))
		take_out(h, interface);
	for (unsigned int i = 0; i < h->map_count; i++)
		close(h->maps[i].fd);
	if (h->ring_fd >= 0)
		close(h->ring_fd);
	if (h->pin.dir >= 0)
		close(h->pin.dir);
	lock_release(&h->lock);
}
