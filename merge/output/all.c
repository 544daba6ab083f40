// SPDX-License-Identifier: GPL-2.0
/* All: see all.h. In: transmissions in the order of their time. Receptions of later ones may be
 * earlier, by ALL_WAIT_NS at most. */
#include "all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcapng/build.h"
#include "merge/air/match.h"
#include "merge/frame/identity.h"
#include "merge/model/chunk.h"

#define ALL_WAIT_NS (2 * MATCH_OPEN_NS)

/* A reception that waits for its turn. */
struct all_waiting {
	int64_t unified_ns;
	uint64_t number; /* of the transmission; 0: none */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole, radio;
};

void all_init(struct all *a, struct outlet *o, const struct sensors *s)
{
	*a = (struct all){ .outlet = o,
			   .sensors = s,
			   .pool = { .size = sizeof(struct all_waiting) } };
}

static void give_back(struct all *a, struct all_waiting *w)
{
	chunk_release(w->chunk);
	pool_put(&a->pool, w);
}

void all_free(struct all *a)
{
	struct all_waiting *w;

	while ((w = order_get(&a->order, INT64_MAX)))
		give_back(a, w);
	order_free(&a->order);
	pool_free(&a->pool);
	free(a->received);
	a->received = NULL;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int radios_grow(struct all *a)
{
	uint32_t room = a->sensors->radio_count + 64;
	uint64_t *more;

	if (a->sensors->radio_count <= a->radio_room)
		return 0;
	more = realloc(a->received, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + a->radio_room, 0, (room - a->radio_room) * sizeof(*more));
	a->received = more;
	a->radio_room = room;
	return 0;
}

static size_t radio(uint8_t *block, const struct input_radio *r)
{
	size_t len = block_interface(block, r->options, r->options_len);

	memcpy(block + 8, &r->linktype, sizeof(r->linktype));
	return len;
}

/* The file's first blocks, and those of new radios. */
static int describe(struct all *a)
{
	int err = radios_grow(a);
	uint8_t *p;

	while (!err && (!a->begun || a->radios < a->sensors->radio_count)) {
		p = outlet_room(a->outlet, BLOCK_ROOM + RADIO_OPTIONS_MAX);
		if (!p)
			return a->outlet->err;
		outlet_used(a->outlet, a->begun ? radio(p, &a->sensors->radios[a->radios])
						: block_section(p, OUTLET_APPLICATION, NULL));
		a->radios += a->begun;
		a->begun = true;
	}
	return err;
}

static int next_file(struct all *a)
{
	a->begun = false;
	a->radios = 0;
	return outlet_next(a->outlet);
}

static int put(struct all *a, const struct all_waiting *w)
{
	int err = outlet_is_full(a->outlet) ? next_file(a) : 0;
	uint8_t *block, *p;

	err = err ?: describe(a);
	if (err)
		return err;
	block = outlet_room(a->outlet, w->kept + BLOCK_ROOM);
	if (!block)
		return a->outlet->err;
	p = block_packet(block, w->radio, w->unified_ns, w->frame, w->kept, w->whole);
	if (w->number)
		p = put_option(p, EPB_PACKETID, &w->number, 8);
	outlet_used(a->outlet, block_end(block, p));
	a->received[w->radio]++;
	if (w->unified_ns > a->newest_ns)
		a->newest_ns = w->unified_ns;
	return 0;
}

static int put_before(struct all *a, int64_t unified_ns)
{
	struct all_waiting *w;
	int err = 0;

	while (!err && (w = order_get(&a->order, unified_ns))) {
		err = put(a, w);
		give_back(a, w);
	}
	return err;
}

static int wait_all(struct all *a, const struct transmission *t, const struct heard *h)
{
	int err = 0;

	for (; h && !err; h = h->next) {
		struct all_waiting *w = pool_get(&a->pool);

		if (!w)
			return -ENOMEM;
		*w = (struct all_waiting){
			.unified_ns = h->unified_ns,
			.number = t->number,
			.chunk = chunk_hold(h->chunk),
			.frame = h->frame,
			.kept = h->kept,
			.whole = h->whole,
			.radio = h->radio,
		};
		err = order_put(&a->order, w->unified_ns, a->arrived++, w);
		if (err)
			give_back(a, w);
	}
	return err;
}

int all_take(void *all, const struct transmission *t)
{
	struct all *a = all;
	int err = wait_all(a, t, t->first);

	err = err ?: wait_all(a, t, t->damaged);
	if (t->class != FRAME_OPAQUE)
		ledger_transmission(&a->ledger, t);
	return err ?: put_before(a, transmission_ns(t) - ALL_WAIT_NS);
}

static int statistics(struct all *a, uint32_t on, const char *comment)
{
	uint8_t *p = outlet_room(a->outlet, BLOCK_ROOM);

	if (!p)
		return a->outlet->err;
	outlet_used(a->outlet, block_statistics(p, on, a->newest_ns,
						on < a->radios ? a->received[on] : 0, comment));
	return 0;
}

/* Statistics are of an interface, so that one must be there. */
static int any_interface(struct all *a)
{
	uint8_t *p = outlet_room(a->outlet, BLOCK_ROOM);

	if (!p)
		return a->outlet->err;
	outlet_used(a->outlet, block_interface_named(p, "none", "no sensor"));
	return 0;
}

int all_finish(struct all *a)
{
	char text[LEDGER_TEXT_MAX];
	int err = put_before(a, INT64_MAX);

	err = err ?: describe(a);
	if (!err && !a->radios)
		err = any_interface(a);
	for (uint32_t i = 0; !err && i < a->radios; i++)
		err = statistics(a, i, NULL);
	ledger_write(&a->ledger, text);
	return err ?: statistics(a, 0, text) ?: outlet_finish(a->outlet);
}
