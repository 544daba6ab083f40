// SPDX-License-Identifier: GPL-2.0
/* Load: see load.h. */
#include "load.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/programs/program.h"
#include "agent/rings/mapped.h"
#include "common/log.h"
#include "consume.h"
#include "serial.h"
#include "shape.h"

#define PIN_LEN CONSUME_PIN_LEN

_Static_assert(SALUKI_EVENT_NAME > MODULE_NAME_MAX && SALUKI_EVENT_MAX == MODULE_EVENT_MAX,
	       "what is in the ring is what modules are");

/* ---- pins ------------------------------------------------------------------------------------ */

#define PINS "module:"
#define STAGED "module_new:" /* until it runs; pin_clear_modules() removes them too */

/* `map` NULL: the pin of the program. */
static void pin_of(char out[PIN_LEN], const char *prefix, const struct module_checked *c,
		   const struct bpf_map *map)
{
	snprintf(out, PIN_LEN, "%s%s%s%s", prefix, c->signature.name, map ? ":" : "",
		 map ? bpf_map__name(map) : "");
	for (char *p = out; *p; p++)
		*p = *p == '.' ? '_' : *p; /* bpffs allows no dots: .bss, .data */
}

static bool is_pinned(const struct bpf_map *map)
{
	return bpf_map__fd(map) >= 0 && strcmp(bpf_map__name(map), SHAPE_VIEW);
}

/* Calls a function for each pin of a module: its program and its maps. */
static void each_pin(const struct pin *p, const char *prefix, const char *name,
		     void (*take)(const struct pin *, const char *pinned))
{
	char begin[PIN_LEN];
	struct dirent *e;
	DIR *d = opendir(p->path);
	size_t len = snprintf(begin, sizeof(begin), "%s%s", prefix, name);

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, begin, len) && (!e->d_name[len] || e->d_name[len] == ':'))
			take(p, e->d_name);
	if (d)
		closedir(d);
}

/* Pins a module that does not run yet. */
static int stage_pins(const struct module_slots *s, const struct module_checked *c)
{
	char name[PIN_LEN];
	struct bpf_map *map;
	int err;

	each_pin(&s->pin, STAGED, c->signature.name, pin_remove); /* left by a killed load */
	pin_of(name, STAGED, c, NULL);
	err = pin_put(&s->pin, name, bpf_program__fd(c->prog));
	bpf_object__for_each_map(map, c->obj)
	{
		if (err || !is_pinned(map))
			continue;
		pin_of(name, STAGED, c, map);
		err = pin_put(&s->pin, name, bpf_map__fd(map));
	}
	return err;
}

static void use_pin(const struct pin *p, const char *staged)
{
	char name[PIN_LEN];

	snprintf(name, sizeof(name), PINS "%s", staged + strlen(STAGED));
	pin_rename(p, staged, name);
}

static void remove_pin_alone(const struct pin *p, const char *pinned)
{
	char staged[sizeof(p->path) + PIN_LEN];

	snprintf(staged, sizeof(staged), "%s/" STAGED "%s", p->path, pinned + strlen(PINS));
	if (access(staged, F_OK))
		pin_remove(p, pinned);
}

/* Renames the pins when the module runs. They replace those of a module of the same name, which may
 * have had more. */
static void use_pins(const struct pin *p, const char *name)
{
	each_pin(p, PINS, name, remove_pin_alone);
	each_pin(p, STAGED, name, use_pin);
}

/* ---- the slot -------------------------------------------------------------------------------- */

/* A module of priority 100 is never skipped. One of priority 0 is skipped when half of the ring is
 * full, until only a quarter is. */
static void set_shedding(struct saluki_slot *slot, const struct saluki_config *c, uint32_t priority)
{
	uint64_t size = c->ring_size;

	slot->priority = priority;
	slot->sheds = priority < 100;
	slot->shed_at = size / 2 + size * 2 / 5 * priority / 100;
	slot->back_at = slot->shed_at / 2;
}

/* Returns the groups that begin inside the module's access extent. Pseudonyms for others are not
 * computed. */
static uint32_t within_reach(uint32_t reach)
{
	return (SALUKI_REACHES(reach, addr) ? VIEW_MAC : 0) |
	       (SALUKI_REACHES(reach, saddr) ? VIEW_IP : 0) |
	       (SALUKI_REACHES(reach, ssid) ? VIEW_SSID : 0);
}

static void fill_slot(struct saluki_slot *slot, const struct saluki_config *config,
		      const struct module_checked *c)
{
	const struct module_grant *g = &c->grant;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	memset(slot, 0, sizeof(*slot));
	slot->used = 1;
	slot->shown = g->shown;
	slot->hashed = g->hashed & within_reach(c->verified.reach);
	slot->prefix = g->prefix & within_reach(c->verified.reach);
	slot->payload = g->payload;
	slot->events = g->events;
	slot->serial = c->signature.serial;
	slot->loaded_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	slot->map_memory = c->map_memory;
	slot->instructions = c->verified.instructions;
	slot->reach = c->verified.reach;
	slot->kernel_proof = c->verified.proof == PROOF_KERNEL;
	snprintf(slot->name, sizeof(slot->name), "%s", c->signature.name);
	memcpy(slot->hash, c->signature.object, sizeof(slot->hash));
	set_shedding(slot, config, g->priority);
}

/* Derives a 128-bit key from a secret, for one use. */
static void key_for(__u64 out[2], const uint8_t secret[KEY_LEN], const char *use)
{
	uint8_t key[16];

	crypto_generichash(key, sizeof(key), (const uint8_t *)use, strlen(use), secret, KEY_LEN);
	memcpy(out, key, sizeof(key));
	sodium_memzero(key, sizeof(key));
}

/* Whether a loaded module's view depends on this key. */
static bool is_used(const struct saluki_slot_table *t, bool anonymise)
{
	for (int i = 0; i < SALUKI_MODULES_MAX; i++) {
		const struct saluki_slot *s = &t->slots[i];

		if (s->used && (anonymise ? s->hashed | s->prefix : s->shown & VIEW_LABEL))
			return true;
	}
	return false;
}

/* Sets one of the table's keys from `secret`, for all modules. */
static void set_key(struct module_slots *s, __u64 key[2], const uint8_t secret[KEY_LEN],
		    bool anonymise)
{
	__u64 new[2];

	key_for(new, secret, anonymise ? "saluki anonymise" : "saluki trajectory");
	if (is_used(&s->table, anonymise) && memcmp(new, key, sizeof(new)))
		log_line("%s: %s are by another key from now on, for modules that run already, too",
			 s->interface, anonymise ? "hidden addresses and names" : "labels");
	memcpy(key, new, sizeof(new));
	sodium_memzero(new, sizeof(new));
}

/* Sets the keys that the policy has, and leaves the others. */
static void set_keys(struct module_slots *s, const struct module_checked *c)
{
	if (c->grant.hashed | c->grant.prefix)
		set_key(s, s->table.anonymise, c->secrets.anonymise, true);
	if (c->grant.shown & VIEW_LABEL)
		set_key(s, s->table.trajectory, c->secrets.trajectory, false);
}

static int put_program(const struct module_slots *s, int slot, int fd)
{
	__u32 place = SALUKI_SLOT_FIRST + slot;

	return bpf_map_update_elem(s->programs_fd, &place, &fd, BPF_ANY) ? -errno : 0;
}

/* Ends the module's consumer, which has read all events. */
static void end_consumer(const struct module_slots *s, int slot, const char *name)
{
	char pin[PIN_LEN];

	module_slots_consumer(s, slot, -1);
	consume_pin(pin, name);
	pin_remove(&s->pin, pin); /* last, as the consumer sees it */
}

/* ---- load and unload ------------------------------------------------------------------------- */

static int cannot_load(const struct module_slots *s, const struct module_checked *c, int err)
{
	if (err)
		log_line("%s: cannot load %s: %s", s->interface, c->signature.name,
			 program_reason(err));
	return err;
}

/* Prepares the module in its slot, without running it. It will replace the one in slot `old`, if
 * any. */
static int make_ready(struct module_slots *s, const struct module_checked *c, int slot, int old)
{
	int err = module_slots_clear_counters(s, slot);

	err = err ?: put_program(s, slot, bpf_program__fd(c->prog));
	err = err ?: stage_pins(s, c);
	if (err)
		return err;
	if (old >= 0)
		s->table.slots[old].used = 0;
	set_keys(s, c);
	fill_slot(&s->table.slots[slot], &s->config, c);
	return module_slots_ready(s);
}

/* Order: the new module is complete, then its serial is stored, then the table switches from the
 * old module to the new one. The pins get their names last: until then the old module's pins are
 * right. */
int module_load(struct module_slots *s, const struct module_checked *c)
{
	int old = module_slots_find(s, c->signature.name), slot = module_slots_find(s, NULL), err;

	if (slot < 0) {
		log_line("%s: it has %d modules, and there is room for no more; 'saluki module "
			 "unload' takes one away",
			 s->interface, SALUKI_MODULES_MAX);
		return -ENOSPC;
	}
	err = cannot_load(s, c, make_ready(s, c, slot, old));
	err = err ?: serial_keep(c->signature.name, c->signature.serial);
	err = err ?: cannot_load(s, c, module_slots_run(s));
	if (err) {
		each_pin(&s->pin, STAGED, c->signature.name, pin_remove);
		module_slots_remove(s, slot);
		return err;
	}
	use_pins(&s->pin, c->signature.name);
	if (old >= 0) {
		module_slots_remove(s, old);
		end_consumer(s, old, c->signature.name);
	}
	return 0;
}

int module_unload(struct module_slots *s, const char *name)
{
	int slot = module_slots_find(s, name), err;

	if (slot < 0) {
		log_line("%s: no module %s there; 'saluki module list' lists them", s->interface,
			 name);
		return -ENOENT;
	}
	s->table.slots[slot].used = 0;
	err = module_slots_ready(s) ?: module_slots_run(s);
	if (err) {
		log_line("%s: cannot unload %s: %s", s->interface, name, program_reason(err));
		return err;
	}
	module_slots_remove(s, slot);
	each_pin(&s->pin, PINS, name, pin_remove);
	each_pin(&s->pin, STAGED, name, pin_remove);
	end_consumer(s, slot, name);
	return 0;
}
