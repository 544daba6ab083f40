// SPDX-License-Identifier: GPL-2.0
/* Coverage: see coverage.h. */
#include "coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ULL(x) ((unsigned long long)(x))
#define ROOM_FIRST 16
#define JOIN_NS 10000000 /* largest drift of a disciplined clock within a part of a dwell */

int coverage_read(struct dwell *d, const struct combo_event *e)
{
	if (dwell_read(d, e->bytes, e->len) || d->interface >= INFO_INTERFACES_MAX)
		return -EBADMSG;
	return 0;
}

/* Makes room for another channel. Returns whether there is. */
static bool make_room(struct coverage_interface *i)
{
	unsigned int room = i->room ? 2 * i->room : ROOM_FIRST;
	struct coverage_channel *list;

	if (i->count < i->room)
		return true;
	if (room > COVERAGE_CHANNELS_MAX)
		return false;
	list = realloc(i->list, room * sizeof(*list));
	if (!list)
		return false;
	i->last = NULL; /* realloc() may have moved it */
	i->list = list;
	i->room = room;
	return true;
}

/* Finds or adds a channel. Returns NULL if it is new and there is no room. */
static struct coverage_channel *channel_find(struct coverage_interface *i,
					     const struct radio_channel *channel)
{
	for (unsigned int n = 0; n < i->count; n++)
		if (channel_is(&i->list[n].channel, channel))
			return &i->list[n];
	if (!make_room(i))
		return NULL;
	i->list[i->count] = (struct coverage_channel){ .channel = *channel };
	return &i->list[i->count++];
}

static void interface_add(struct coverage_interface *i, const struct dwell *d)
{
	const struct radio_channel channel = { d->mhz, d->width, d->center };
	uint64_t begin_ns = d->up_ns ?: d->from_ns, end_ns = begin_ns + (d->to_ns - d->from_ns);
	bool joins = begin_ns - i->last_ns + JOIN_NS <= 2 * JOIN_NS && !d->switch_ns && !d->error;
	struct coverage_channel *c = channel_find(i, &channel);

	if (!i->from_ns || d->from_ns < i->from_ns)
		i->from_ns = d->from_ns;
	if (d->to_ns > i->to_ns)
		i->to_ns = d->to_ns;
	if (!i->begin_ns || begin_ns < i->begin_ns)
		i->begin_ns = begin_ns;
	if (end_ns > i->end_ns)
		i->end_ns = end_ns;
	joins = joins && c == i->last;
	i->last = d->error ? NULL : c;
	i->last_ns = end_ns;
	if (!c) {
		i->others++;
		return;
	}
	c->dwells += !d->error && !joins;
	c->failures += d->error != 0;
	c->listened_ns += d->to_ns - d->from_ns;
	c->frames += d->frames;
	c->marked += d->marked;
	c->switch_ns += d->switch_ns;
}

void coverage_add(struct coverage **c, const struct dwell *d)
{
	if (!*c)
		*c = calloc(1, sizeof(**c));
	if (*c)
		interface_add(&(*c)->of[d->interface], d);
}

void coverage_free(struct coverage **c)
{
	for (unsigned int n = 0; *c && n < INFO_INTERFACES_MAX; n++)
		free((*c)->of[n].list);
	free(*c);
	*c = NULL;
}

/* ---- output ---------------------------------------------------------------------------------- */

const struct coverage_interface *coverage_of(const struct coverage *c, unsigned int interface)
{
	if (!c || interface >= INFO_INTERFACES_MAX)
		return NULL;
	return c->of[interface].count || c->of[interface].others ? &c->of[interface] : NULL;
}

/* Returns the share of the time from the interface's first dwell to the end of its last, in
 * millionths. At most 1,000,000, even if dwells overlap. */
static unsigned int share(const struct coverage_interface *i, uint64_t ns)
{
	double part = i->end_ns > i->begin_ns ? (double)ns / (i->end_ns - i->begin_ns) : 0;

	return (part < 1 ? part : 1) * 1e6 + 0.5;
}

static void print_channel(FILE *out, const struct coverage_interface *i,
			  const struct coverage_channel *c)
{
	unsigned int tenths = (share(i, c->listened_ns) + 500) / 1000;
	uint64_t whole_ds = (i->end_ns - i->begin_ns) / 100000000;
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &c->channel);
	fprintf(out, "channel %s: %u.%u %% of %llu.%llu s, %llu frames, %llu dwells", text,
		tenths / 10, tenths % 10, ULL(whole_ds / 10), ULL(whole_ds % 10), ULL(c->frames),
		ULL(c->dwells));
	if (c->marked)
		fprintf(out, ", %llu marked", ULL(c->marked));
	if (c->failures)
		fprintf(out, ", %llu failures", ULL(c->failures));
	putc('\n', out);
}

void coverage_print(FILE *out, const char *before, const struct coverage_interface *i)
{
	for (unsigned int n = 0; n < i->count; n++) {
		fputs(before, out);
		print_channel(out, i, &i->list[n]);
	}
	if (i->others)
		fprintf(out, "%sother channels: %llu dwells\n", before, ULL(i->others));
}
