// SPDX-License-Identifier: GPL-2.0
/* Walk: see walk.h. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/stop.h"
#include "dissect/dissect.h"
#include "keep/folder/origin.h"
#include "pcapng/build.h"
#include "pcapng/receptions.h"
#include "pcapng/section.h"
#include "wire/bytes.h"

#define IDS (UINT16_MAX + 1)
#define LOOK_EVERY 4096 /* blocks: for a signal to stop */

int walk_init(struct walk *w)
{
	*w = (struct walk){ .index = index_build_new() };
	return w->index ? 0 : -ENOMEM;
}

void walk_free(struct walk *w)
{
	index_build_free(w->index);
	sections_free(&w->sections);
	free(w->sensors);
}

/* ---- sections and interfaces ----------------------------------------------------------------- */

static int begin_section(struct walk *w, struct pcapng_block *b)
{
	struct origin origin;

	origin_section(&origin, *b);
	w->is_merged = origin_is_unified(&origin);
	if (!w->sections.begun)
		w->is_ours = origin_is_ours(&origin);
	w->columns.trace = origin.trace;
	w->combo.left = 0;
	if (w->is_merged && !w->sensors)
		w->sensors = calloc(IDS, sizeof(*w->sensors));
	if (w->is_merged && !w->sensors)
		return -ENOMEM;
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
	if (w->sensors) {
		w->sensors[i->id].section = w->sections.begun;
		w->sensors[i->id].number = number;
		memcpy(w->sensors[i->id].name, i->sensor, sizeof(i->sensor));
	}
	return 0;
}

/* Returns a sensor that the section has described, or NULL. */
static const struct walk_sensor *sensor(const struct walk *w, uint16_t id)
{
	const struct walk_sensor *s = &w->sensors[id];

	return s->section == w->sections.begun ? s : NULL;
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* What a block's options say. */
struct said {
	struct combo_name name;
	bool named, unsettled;
};

static void read_options(struct said *s, struct pcapng_block b)
{
	static const char unsettled[] = FRAME_UNSETTLED;
	struct pcapng_option o;

	s->named = s->unsettled = false;
	while (pcapng_option(&b, &o)) {
		if (o.code == OPT_CUSTOM && !s->named)
			s->named = combo_name_read(&s->name, o.value, o.len);
		else if (o.code == OPT_COMMENT && o.len == sizeof(unsettled) - 1)
			s->unsettled = !memcmp(o.value, unsettled, o.len);
	}
}

static int combo(struct walk *w, const struct said *s)
{
	const struct combo_name *of = &w->combo.name;

	if (!combo_place_block(&w->combo, s->named ? &s->name : NULL))
		return 0;
	return index_combo(w->index, &(struct index_run){ .sensor = of->sensor,
							  .run = of->run,
							  .next = of->count + 1,
							  .accounted = of->first + of->frames });
}

/* ---- frames ---------------------------------------------------------------------------------- */

static const char *sensor_name(void *walk, uint16_t id)
{
	const struct walk_sensor *s = sensor(walk, id);

	return s ? s->name : "";
}

/* A transmission, and the sensors that have heard it. */
static int transmission(struct walk *w, const struct row *r)
{
	struct pcapng_block b = *r->block;
	struct trace_receptions of = trace_receptions(&b);
	int err = 0;

	if (!of.count) /* of saluki-merge --all: a reception on its sensor's interface */
		return -ENOENT;
	for (uint32_t i = 0; !err && i < of.count; i++) {
		const struct walk_sensor *s = sensor(w, trace_reception(&of, i).sensor);

		if (s)
			err = index_heard(w->index, s->number, r->ns);
	}
	return err ?: columns_transmission(&w->columns, r, &of, sensor_name, w);
}

/* A frame, as one sensor has captured it. */
static int capture(struct walk *w, struct row *r, const struct said *s)
{
	int err = r->interface->number < 0 ? 0 : index_heard(w->index, r->interface->number, r->ns);

	if (s->named)
		w->number = 0;
	if (s->named || w->combo.left) {
		r->combo = s->named ? &s->name : &w->combo.name;
		r->number = w->number++;
	}
	r->unsettled = s->unsettled;
	return err ?: columns_frame(&w->columns, r) ?: combo(w, s);
}

static int addresses(struct walk *w, const struct dissection *d)
{
	const uint8_t *list[DISSECT_ADDRESSES_MAX];
	unsigned int count = dissect_addresses(d, list);
	int err = 0;

	for (unsigned int i = 0; !err && i < count; i++)
		err = index_address(w->index, list[i]);
	return err;
}

static int frame(struct walk *w, struct pcapng_block *b, uint64_t at)
{
	struct section_interface *i = sections_interface(&w->sections, b);
	struct dissection d;
	struct row r = { .interface = i, .dissection = &d, .block = b, .at = at };
	struct said s;
	int err;

	if (!i)
		return -EBADMSG;
	r.ns = sections_ns(i, b);
	dissect_frame(&d, i->linktype, b->frame, b->kept, b->whole);
	index_frame(w->index, r.ns);
	err = addresses(w, &d);
	if (!err && w->is_merged) {
		err = transmission(w, &r);
		if (err != -ENOENT)
			return err;
		err = 0;
	}
	if (err)
		return err;
	read_options(&s, *b);
	return capture(w, &r, &s);
}

/* ---- other blocks ---------------------------------------------------------------------------- */

static int statistics(struct walk *w, struct pcapng_block *b)
{
	struct section_interface *i = sections_interface(&w->sections, b);
	struct said s;

	read_options(&s, *b);
	if (s.named)
		w->number = 0;
	return combo(w, &s) ?: i ? columns_statistics(&w->columns, i, b) : 0;
}

/* A module's event: enterprise, length of its line, the line, options. Others' blocks do not
 * count. */
static int event(struct walk *w, struct pcapng_block *b)
{
	const uint8_t *begin = b->end + 4 - b->len;
	uint32_t enterprise, len;
	struct said s;

	if (b->len < MODULE_EVENT_HEAD + 4)
		return 0;
	memcpy(&enterprise, begin + 8, 4);
	if (enterprise != ENTERPRISE)
		return 0;
	len = load_be(begin + 12, 4);
	if (len > b->len - MODULE_EVENT_HEAD - 4)
		return 0;
	b->options = begin + MODULE_EVENT_HEAD + ((len + 3) & ~3u);
	read_options(&s, *b);
	if (s.named)
		w->number = 0;
	return columns_event(&w->columns, (const char *)begin + MODULE_EVENT_HEAD, len)
		       ?: combo(w, &s);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int block(struct walk *w, struct pcapng_block *b, uint64_t at)
{
	switch (b->type) {
	case BLOCK_SECTION:
		return begin_section(w, b);
	case BLOCK_INTERFACE:
		return describe(w, b);
	case BLOCK_PACKET:
		return frame(w, b, at);
	case BLOCK_STATISTICS:
		return statistics(w, b);
	case BLOCK_CUSTOM:
		return event(w, b);
	default:
		return 0;
	}
}

int walk_blocks(struct walk *w, struct blocks *blocks)
{
	struct pcapng_block b;
	uint64_t at = blocks->at, count = 0;
	int64_t n;
	int err = 0;

	while (!err && (n = blocks_next(blocks, &b)) > 0) {
		bool describes = b.type == BLOCK_SECTION || b.type == BLOCK_INTERFACE;

		err = index_block(w->index, at, describes) ?: block(w, &b, at);
		at = blocks->at;
		/* Signals come only while something waits for them. */
		if (!err && ++count % LOOK_EVERY == 0)
			err = stop_wait(-1, 0, 0);
	}
	return err ?: n;
}
