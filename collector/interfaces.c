// SPDX-License-Identifier: GPL-2.0
/* Interfaces: see interfaces.h. */
#include "interfaces.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include <saluki/linktype.h>

#include "sensors.h"
#include "wire/bytes.h"

/* ---- descriptions ---------------------------------------------------------------------------- */

/* What an interface block says, but for its link type and what does not change. */
struct description {
	char application[64], os[128];
	struct info_interface interface;
};

void interfaces_describe(struct sensor *s, const struct info *info)
{
	for (unsigned int n = 0; n < INFO_INTERFACES_MAX; n++) {
		struct description d = { .interface = info->interfaces[n] };
		uint8_t hash[crypto_generichash_BYTES_MIN];

		memcpy(d.application, info->application, sizeof(d.application));
		memcpy(d.os, info->os, sizeof(d.os));
		crypto_generichash(hash, sizeof(hash), (uint8_t *)&d, sizeof(d), NULL, 0);
		s->interfaces.described[n] = load_word(hash);
		snprintf(s->interfaces.names[n], INTERFACES_NAME_MAX, "%.*s",
			 INTERFACES_NAME_MAX - 1, d.interface.name);
	}
}

const char *interfaces_name(const struct sensor *s, uint8_t interface, char number[4])
{
	const char *name = interface < INFO_INTERFACES_MAX ? s->interfaces.names[interface] : "";

	if (*name)
		return name;
	snprintf(number, 4, "%u", interface);
	return number;
}

static uint64_t described(const struct sensor *s, uint8_t interface)
{
	return interface < INFO_INTERFACES_MAX ? s->interfaces.described[interface] : 0;
}

static size_t block_write(uint8_t *out, const struct sensor *s, const struct combo_frame *f)
{
	char name[64], full_name[128], description[192], comment[192];
	struct info_interface own = { 0 };
	struct info info;

	info_read(&info, s->info.text, s->info.len);
	if (f->interface < info.count)
		own = info.interfaces[f->interface];
	if (*own.name)
		snprintf(name, sizeof(name), "%s", own.name);
	else /* a number is all that is known of it */
		snprintf(name, sizeof(name), "%u", f->interface);
	snprintf(full_name, sizeof(full_name), "%s:%s", s->name, name);
	snprintf(description, sizeof(description), "sensor %s (id %u), interface %s%s%s", s->name,
		 s->id, name, *own.source ? " by " : "", own.source);
	snprintf(comment, sizeof(comment), "%s%s%s", info.application, *own.keep ? ", keep " : "",
		 own.keep);
	return pcapng_interface(out, &(struct pcapng_interface){ .linktype = f->linktype,
								 .snaplen = own.snaplen,
								 .name = full_name,
								 .description = description,
								 .filter = own.filter,
								 .os = info.os,
								 .comment = comment });
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool same_kind(const struct interfaces_block *b, const struct combo_frame *f)
{
	return b->linktype == f->linktype && b->interface == f->interface;
}

static bool fits(const struct interfaces_block *b, const struct sensor *s,
		 const struct combo_frame *f)
{
	return same_kind(b, f) && b->described == described(s, f->interface);
}

/* Returns the place of a block that says what is to be said of a frame, or, where there is no room
 * for another one, of the newest of its kind; -1 where there is none. */
static int block_find(const struct sensor *s, const struct combo_frame *f)
{
	const struct interfaces *known = &s->interfaces;
	int newest = -1;

	for (unsigned int i = 0; i < known->count; i++) {
		if (fits(&known->list[i], s, f))
			return i;
		if (same_kind(&known->list[i], f) &&
		    (newest < 0 || known->list[i].id > known->list[newest].id))
			newest = i;
	}
	return known->count == INTERFACES_BLOCKS_MAX ? newest : -1;
}

static unsigned int block_begin(struct sensor *s, const struct combo_frame *f, uint32_t id)
{
	struct interfaces *known = &s->interfaces;
	/* A sensor with more kinds of frames than we remember gets some described twice; in turn,
	 * so that those of one combo do not drive each other out. */
	unsigned int slot = known->count < INTERFACES_BLOCKS_MAX
				    ? known->count++
				    : known->turn++ % INTERFACES_BLOCKS_MAX;

	known->list[slot] = (struct interfaces_block){ .described = described(s, f->interface),
						       .linktype = f->linktype,
						       .interface = f->interface,
						       .id = id,
						       .first_ns = f->time_ns,
						       .last_ns = f->time_ns };
	return slot;
}

uint32_t interfaces_frame(struct sensor *s, const struct combo_frame *f, uint32_t next,
			  uint8_t *block, size_t *len)
{
	struct interfaces *known = &s->interfaces;
	struct interfaces_block *b;

	*len = 0;
	/* Nearly always it is that of the frame before. */
	if (known->last >= known->count || !fits(&known->list[known->last], s, f)) {
		int found = block_find(s, f);

		if (found < 0) {
			*len = block_write(block, s, f);
			found = block_begin(s, f, next);
		}
		known->last = found;
	}
	b = &known->list[known->last];
	b->last_ns = f->time_ns;
	b->frames++;
	return b->id;
}

static int block_of_interface(const struct sensor *s, uint8_t interface)
{
	const struct interfaces *known = &s->interfaces;
	int newest = -1;

	for (unsigned int i = 0; i < known->count; i++) {
		const struct interfaces_block *b = &known->list[i];

		if (b->interface == interface && b->described == described(s, interface) &&
		    (newest < 0 || b->id > known->list[newest].id))
			newest = i;
	}
	return newest;
}

uint32_t interfaces_dwell(struct sensor *s, const struct dwell *d, uint32_t next, uint8_t *block,
			  size_t *len)
{
	struct combo_frame f = { .linktype = LINKTYPE_RADIOTAP,
				 .interface = d->interface,
				 .time_ns = d->to_ns };
	int found = block_of_interface(s, d->interface);

	*len = 0;
	if (found < 0)
		found = block_find(s, &f); /* where there is no room for another one */
	if (found < 0) {
		*len = block_write(block, s, &f);
		found = block_begin(s, &f, next);
		s->interfaces.list[found].first_ns = d->from_ns;
	}
	if (d->to_ns > s->interfaces.list[found].last_ns)
		s->interfaces.list[found].last_ns = d->to_ns;
	return s->interfaces.list[found].id;
}

bool interfaces_is_first(const struct sensor *s, unsigned int i)
{
	unsigned int first = 0;

	while (s->interfaces.list[first].interface != s->interfaces.list[i].interface)
		first++;
	return first == i;
}

void interfaces_statistics(const struct sensor *s, unsigned int i, struct pcapng_statistics *st)
{
	const struct interfaces_block *list = s->interfaces.list, *b = &list[i];
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
