// SPDX-License-Identifier: GPL-2.0
/* Walk: see walk.h. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/stop.h"
#include "dissect/dissect.h"
#include "keep/folder/origin.h"
#include "pcapng/receptions.h"
#include "wire/bytes.h"

#define IDS (UINT16_MAX + 1)

int walk_init(struct walk *w)
{
	*w = (struct walk){ .index = index_build_new() };
	return w->index ? 0 : -ENOMEM;
}

void walk_free(struct walk *w)
{
	index_build_free(w->index);
	sections_free(&w->sections);
	free(w->numbers);
}

/* ---- sections and interfaces ----------------------------------------------------------------- */

static int begin_section(struct walk *w, struct pcapng_block *b)
{
	struct origin origin;

	origin_section(&origin, *b);
	w->is_merged = origin.is_merged;
	w->combo.left = 0;
	if (w->is_merged && !w->numbers)
		w->numbers = malloc(IDS * sizeof(*w->numbers));
	if (w->is_merged && !w->numbers)
		return -ENOMEM;
	if (w->is_merged)
		memset(w->numbers, 0xff, IDS * sizeof(*w->numbers));
	return sections_block(&w->sections, b);
}

static int describe(struct walk *w, struct pcapng_block *b)
{
	int err = sections_block(&w->sections, b), number;
	struct section_interface *i;

	if (err)
		return err;
	i = &w->sections.list[w->sections.count - 1];
	if (!*i->sensor)
		return 0;
	number = index_sensor(w->index, i->sensor, i->group, i->id);
	if (number < 0)
		return number;
	i->number = number;
	if (w->numbers)
		w->numbers[i->id] = number;
	return 0;
}

/* ---- combos ---------------------------------------------------------------------------------- */

static int combo(struct walk *w, struct pcapng_block b)
{
	const struct combo_name *of = &w->combo.name;
	struct combo_name name;
	struct pcapng_option o;
	bool named = false;

	while (!named && pcapng_option(&b, &o))
		named = o.code == OPT_CUSTOM && combo_name_read(&name, o.value, o.len);
	if (!combo_place_block(&w->combo, named ? &name : NULL))
		return 0;
	return index_combo(w->index, &(struct index_run){ .sensor = of->sensor,
							  .run = of->run,
							  .next = of->count + 1,
							  .accounted = of->first + of->frames });
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The sensors that have heard a transmission. */
static int heard_by(struct walk *w, struct pcapng_block b, int64_t ns)
{
	struct trace_receptions r = trace_receptions(&b);
	int err = 0;

	for (uint32_t i = 0; !err && i < r.count; i++) {
		int32_t number = w->numbers[trace_reception(&r, i).sensor];

		if (number >= 0)
			err = index_heard(w->index, number, ns);
	}
	return err;
}

static int addresses(struct walk *w, const struct pcapng_block *b, uint16_t linktype)
{
	const uint8_t *list[DISSECT_ADDRESSES_MAX];
	struct dissection d;
	unsigned int count;
	int err = 0;

	dissect_frame(&d, linktype, b->frame, b->kept, b->whole);
	count = dissect_addresses(&d, list);
	for (unsigned int i = 0; !err && i < count; i++)
		err = index_address(w->index, list[i]);
	return err;
}

static int frame(struct walk *w, struct pcapng_block *b)
{
	struct section_interface *i = sections_interface(&w->sections, b);
	int64_t ns;
	int err = 0;

	if (!i)
		return -EBADMSG;
	ns = sections_ns(i, b);
	index_frame(w->index, ns);
	if (w->is_merged)
		err = heard_by(w, *b, ns);
	else if (i->number >= 0)
		err = index_heard(w->index, i->number, ns);
	return err ?: addresses(w, b, i->linktype) ?: combo(w, *b);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool is_module_event(const struct pcapng_block *b)
{
	uint32_t enterprise;

	if (b->type != BLOCK_CUSTOM || b->len < 20)
		return false;
	memcpy(&enterprise, b->end - b->len + 12, 4);
	return enterprise == ENTERPRISE;
}

static int block(struct walk *w, struct pcapng_block *b)
{
	switch (b->type) {
	case BLOCK_SECTION:
		return begin_section(w, b);
	case BLOCK_INTERFACE:
		return describe(w, b);
	case BLOCK_PACKET:
		return frame(w, b);
	case BLOCK_STATISTICS:
		return combo(w, *b);
	case BLOCK_CUSTOM:
		return is_module_event(b) ? combo(w, *b) : 0;
	default:
		return 0;
	}
}

int walk_blocks(struct walk *w, struct blocks *blocks)
{
	struct pcapng_block b;
	uint64_t at = blocks->at;
	int64_t n;
	int err = 0;

	while (!err && (n = blocks_next(blocks, &b)) > 0) {
		bool describes = b.type == BLOCK_SECTION || b.type == BLOCK_INTERFACE;

		err = index_block(w->index, at, describes) ?: block(w, &b);
		at = blocks->at;
		if (!err && stop_count())
			err = -EINTR;
	}
	return err ?: n;
}
