// SPDX-License-Identifier: GPL-2.0
/* Interfaces: see interfaces.h. */
#include "interfaces.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include <saluki/linktype.h>

#include "collector/model/sensors.h"
#include "pcapng/section.h"
#include "wire/bytes.h"
#include "sensor.h"

/* ---- descriptions ---------------------------------------------------------------------------- */

#define PLACE_MAX 80 /* of a floor and two numbers as text */

/* The hash of an interface block's contents, without link type, constants and place: the file of
 * another collector may have another place. */
struct description {
	char application[64], os[128], group[GROUP_NAME_MAX];
	struct info_interface interface;
};

void interfaces_describe(struct sensor *s, const struct info *info)
{
	for (unsigned int n = 0; n < INFO_INTERFACES_MAX; n++) {
		struct description d = { .interface = info->interfaces[n] };
		uint8_t hash[crypto_generichash_BYTES_MIN];

		memcpy(d.application, info->application, sizeof(d.application));
		memcpy(d.os, info->os, sizeof(d.os));
		strcpy(d.group, s->group_name);
		crypto_generichash(hash, sizeof(hash), (uint8_t *)&d, sizeof(d), NULL, 0);
		s->output->interfaces.described[n] = load_word(hash);
		snprintf(s->output->interfaces.names[n], INTERFACES_NAME_MAX, "%.*s",
			 INTERFACES_NAME_MAX - 1, d.interface.name);
	}
}

const char *interfaces_name(const struct sensor *s, uint8_t interface, char number[4])
{
	const char *name = interface < INFO_INTERFACES_MAX ? s->output->interfaces.names[interface]
							   : "";

	if (*name)
		return name;
	snprintf(number, 4, "%u", interface);
	return number;
}

static uint64_t described(const struct sensor *s, uint8_t interface)
{
	return interface < INFO_INTERFACES_MAX ? s->output->interfaces.described[interface] : 0;
}

/* Where the sensor is, as a part of the comment. */
static void place_text(char *out, size_t room, const struct sensor_place *p)
{
	size_t len = 0;

	out[0] = 0;
	if (p->has_floor)
		len += snprintf(out + len, room - len, SECTION_PLACE SECTION_FLOOR "%d", p->floor);
	if (p->has_x)
		len += snprintf(out + len, room - len, "%sx=%.12g", len ? " " : SECTION_PLACE,
				p->x);
	if (p->has_y)
		snprintf(out + len, room - len, "%sy=%.12g", len ? " " : SECTION_PLACE, p->y);
}

static size_t block_write(uint8_t *out, const struct sensor *s, const struct combo_frame *f)
{
	char name[64], full_name[128], description[192], place[PLACE_MAX], comment[256];
	struct info_interface own = { 0 };
	struct info info;

	info_read(&info, s->info.text, s->info.len);
	if (f->interface < info.count)
		own = info.interfaces[f->interface];
	if (*own.name)
		snprintf(name, sizeof(name), "%s", own.name);
	else /* only its number is known */
		snprintf(name, sizeof(name), "%u", f->interface);
	snprintf(full_name, sizeof(full_name), "%s:%s", s->name, name);
	snprintf(description, sizeof(description), "sensor %s (id %u), interface %s%s%s", s->name,
		 s->id, name, *own.source ? " by " : "", own.source);
	place_text(place, sizeof(place), &s->place);
	snprintf(comment, sizeof(comment), "%s%s%s%s%s%s", info.application,
		 *own.keep ? ", keep " : "", own.keep, place, *s->group_name ? SECTION_GROUP : "",
		 s->group_name);
	return pcapng_interface(out, &(struct pcapng_interface){ .linktype = f->linktype,
								 .snaplen = own.snaplen,
								 .name = full_name,
								 .description = description,
								 .filter = own.filter,
								 .os = info.os,
								 .comment = comment });
}

/* ---- bounds ---------------------------------------------------------------------------------- */

void interfaces_begin(struct sensor *s, unsigned int section, uint64_t now_ns)
{
	struct interfaces *known = &s->output->interfaces;

	known->now_ns = now_ns;
	if (known->section == section)
		return;
	known->section = section;
	known->count = known->turn = known->made = 0;
}

void interfaces_forget(struct sensor *s)
{
	s->output->interfaces.section = 0;
}

void interfaces_run_end(struct sensor *s)
{
	s->output->interfaces.run++;
}

static unsigned int extra_left(const struct interfaces *known)
{
	uint64_t used_ns =
		known->extra_until_ns > known->now_ns ? known->extra_until_ns - known->now_ns : 0;
	uint64_t used = (used_ns + INTERFACES_EXTRA_NS - 1) / INTERFACES_EXTRA_NS;

	return used < INTERFACES_EXTRA_MAX ? INTERFACES_EXTRA_MAX - used : 0;
}

unsigned int interfaces_left(const struct sensor *s)
{
	const struct interfaces *known = &s->output->interfaces;
	unsigned int free =
		known->made < INTERFACES_BLOCKS_MAX ? INTERFACES_BLOCKS_MAX - known->made : 0;

	return free + extra_left(known);
}

static void count_block(struct interfaces *known)
{
	if (known->made++ < INTERFACES_BLOCKS_MAX)
		return;
	if (known->extra_until_ns < known->now_ns)
		known->extra_until_ns = known->now_ns;
	known->extra_until_ns += INTERFACES_EXTRA_NS;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool same_kind(const struct interfaces_block *b, const struct combo_frame *f)
{
	return b->linktype == f->linktype && b->interface == f->interface;
}

static bool fits(const struct interfaces_block *b, const struct sensor *s,
		 const struct combo_frame *f)
{
	return same_kind(b, f) && b->run == s->output->interfaces.run &&
	       b->described == described(s, f->interface);
}

/* Whether block `a` is better than `b`: by description, then by id. */
static bool better(const struct interfaces_block *a, const struct interfaces_block *b,
		   const struct sensor *s)
{
	uint64_t wanted = described(s, a->interface);

	if ((a->described == wanted) != (b->described == wanted))
		return a->described == wanted;
	return a->id > b->id;
}

/* Returns a block that describes the frame; if the sensor may have no further block, the best of
 * its kind; or -1. */
static int block_find(const struct sensor *s, const struct combo_frame *f)
{
	const struct interfaces *known = &s->output->interfaces;
	int best = -1;

	for (unsigned int i = 0; i < known->count; i++) {
		const struct interfaces_block *b = &known->list[i];

		if (fits(b, s, f))
			return i;
		if (same_kind(b, f) && (best < 0 || better(b, &known->list[best], s)))
			best = i;
	}
	return interfaces_left(s) ? -1 : best;
}

/* Whether a newer block of the same kind exists, or will exist with this frame's. */
static bool outdated(const struct interfaces *known, unsigned int i, const struct combo_frame *f)
{
	const struct interfaces_block *b = &known->list[i];

	if (same_kind(b, f))
		return true;
	for (unsigned int n = 0; n < known->count; n++)
		if (known->list[n].id > b->id && known->list[n].linktype == b->linktype &&
		    known->list[n].interface == b->interface)
			return true;
	return false;
}

/* Chooses the block to forget: an outdated one, so that each kind keeps one. If a sensor has more
 * kinds of frames than we remember, some get a second block. They are forgotten in turn, so that
 * those of one combo do not evict each other. */
static unsigned int slot_take(struct interfaces *known, const struct combo_frame *f)
{
	if (known->count < INTERFACES_BLOCKS_MAX)
		return known->count++;
	for (unsigned int n = 0; n < INTERFACES_BLOCKS_MAX; n++) {
		unsigned int i = known->turn++ % INTERFACES_BLOCKS_MAX;

		if (outdated(known, i, f))
			return i;
	}
	return known->turn++ % INTERFACES_BLOCKS_MAX;
}

static unsigned int block_begin(struct sensor *s, const struct combo_frame *f, uint32_t id)
{
	struct interfaces *known = &s->output->interfaces;
	unsigned int slot = slot_take(known, f);

	count_block(known);
	known->list[slot] = (struct interfaces_block){ .described = described(s, f->interface),
						       .linktype = f->linktype,
						       .interface = f->interface,
						       .run = known->run,
						       .id = id,
						       .first_ns = f->time_ns,
						       .last_ns = f->time_ns };
	return slot;
}

/* A block of an earlier run may be reused; its counts start again. */
static struct interfaces_block *block_use(struct sensor *s, unsigned int i, uint64_t first_ns)
{
	struct interfaces_block *b = &s->output->interfaces.list[i];

	if (b->run != s->output->interfaces.run) {
		b->run = s->output->interfaces.run;
		b->first_ns = b->last_ns = first_ns;
		b->frames = 0;
	}
	return b;
}

bool interfaces_known(const struct sensor *s, uint16_t linktype, uint8_t interface)
{
	const struct combo_frame f = { .linktype = linktype, .interface = interface };

	for (unsigned int i = 0; i < s->output->interfaces.count; i++)
		if (same_kind(&s->output->interfaces.list[i], &f))
			return true;
	return false;
}

uint32_t interfaces_frame(struct sensor *s, const struct combo_frame *f, uint32_t next,
			  uint8_t *block, size_t *len)
{
	struct interfaces *known = &s->output->interfaces;
	struct interfaces_block *b;

	*len = 0;
	/* Almost always it is the last frame's block. */
	if (known->last >= known->count || !fits(&known->list[known->last], s, f)) {
		int found = block_find(s, f);

		if (found < 0) {
			*len = block_write(block, s, f);
			found = block_begin(s, f, next);
		}
		known->last = found;
	}
	b = block_use(s, known->last, f->time_ns);
	b->last_ns = f->time_ns;
	b->frames++;
	return b->id;
}

/* ---- dwells ---------------------------------------------------------------------------------- */

/* Returns the interface's newest block that fits, with any link type; with `any`, the best one. */
static int block_of_interface(const struct sensor *s, uint8_t interface, bool any)
{
	const struct interfaces *known = &s->output->interfaces;
	int best = -1;

	for (unsigned int i = 0; i < known->count; i++) {
		const struct interfaces_block *b = &known->list[i];
		bool right = b->run == known->run && b->described == described(s, interface);

		if (b->interface == interface && (right || any) &&
		    (best < 0 || better(b, &known->list[best], s)))
			best = i;
	}
	return best;
}

bool interfaces_dwell_known(const struct sensor *s, uint8_t interface)
{
	return block_of_interface(s, interface, true) >= 0;
}

uint32_t interfaces_dwell(struct sensor *s, const struct dwell *d, uint32_t next, uint8_t *block,
			  size_t *len)
{
	int linktype = linktypes_80211(&s->linktypes);
	struct combo_frame f = { .linktype = linktype < 0 ? LINKTYPE_RADIOTAP : linktype,
				 .interface = d->interface,
				 .time_ns = d->to_ns };
	int found = block_of_interface(s, d->interface, false);
	struct interfaces_block *b;

	*len = 0;
	if (found < 0 && !interfaces_left(s))
		found = block_of_interface(s, d->interface, true);
	if (found < 0) {
		*len = block_write(block, s, &f);
		found = block_begin(s, &f, next);
		s->output->interfaces.list[found].first_ns = d->from_ns;
	}
	b = block_use(s, found, d->from_ns);
	if (d->to_ns > b->last_ns)
		b->last_ns = d->to_ns;
	return b->id;
}

/* ---- the whole sensor ------------------------------------------------------------------------ */

bool interfaces_any(const struct sensor *s)
{
	return s->output->interfaces.count;
}

uint32_t interfaces_newest(struct sensor *s, const struct combo_frame *f, uint32_t next,
			   uint8_t *block, size_t *len)
{
	const struct interfaces *known = &s->output->interfaces;
	uint32_t id = 0;

	*len = 0;
	for (unsigned int i = 0; i < known->count; i++)
		id = known->list[i].id > id ? known->list[i].id : id;
	if (known->count)
		return id;
	*len = block_write(block, s, f);
	return known->list[block_begin(s, f, next)].id;
}

/* ---- statistics ------------------------------------------------------------------------------ */

bool interfaces_present(const struct sensor *s, unsigned int i)
{
	return s->output->interfaces.list[i].run == s->output->interfaces.run;
}

bool interfaces_is_first(const struct sensor *s, unsigned int i)
{
	unsigned int first = 0;

	while (!interfaces_present(s, first) || s->output->interfaces.list[first].interface !=
							s->output->interfaces.list[i].interface)
		first++;
	return first == i;
}

void interfaces_statistics(const struct sensor *s, unsigned int i, struct pcapng_statistics *st)
{
	const struct interfaces_block *list = s->output->interfaces.list, *b = &list[i];
	const struct totals *t = &s->ledger.now.sensor;
	struct totals_interface counted = { 0 };

	if (interfaces_is_first(s, i) && b->interface < t->interface_count)
		counted = t->interfaces[b->interface];
	st->interface = b->id;
	st->start_ns = b->first_ns;
	st->time_ns = b->last_ns;
	st->received = counted.seen;
	st->dropped = counted.ring_full + counted.copy_failed;
	st->accepted = counted.seen - counted.filtered;
	st->os_dropped = counted.ring_full;
	st->delivered = b->frames;
}
