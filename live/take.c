// SPDX-License-Identifier: GPL-2.0
/* Take: see take.h. */
#include "take.h"

#include <errno.h>
#include <stdlib.h>

#include "common/log.h"
#include "say.h"

/* ---- start ----------------------------------------------------------------------------------- */

static int choose(struct select *s, const struct live_options *o)
{
	char why[SELECT_WHY_MAX] = "out of memory";
	int err = select_init(s) ?: select_sensors(s, o->sensors) ?: select_group(s, o->group);

	if (err)
		log_line("%s", why);
	if (!err && o->channels)
		err = select_channels(s, o->channels, why);
	if (!err && (err = select_expression(s, o->expression, why)))
		log_line("filter '%.120s': %s", o->expression, why);
	return err;
}

int take_init(struct take *t, const struct live_options *o)
{
	int err = choose(&t->select, o);

	t->count = o->count;
	t->unplaced = calloc(LIVE_SENSORS_MAX, sizeof(*t->unplaced));
	if (!err && (interfaces_init(&t->interfaces) || !t->unplaced)) {
		log_line("out of memory");
		err = -ENOMEM;
	}
	if (err)
		take_free(t);
	return err;
}

void take_free(struct take *t)
{
	interfaces_free(&t->interfaces);
	select_free(&t->select);
	directory_free(&t->directory);
	free(t->unplaced);
	t->unplaced = NULL;
}

/* ---- the collector --------------------------------------------------------------------------- */

void take_source(struct take *t, const struct source *s)
{
	t->source = s;
	directory_free(&t->directory);
	interfaces_source(&t->interfaces);
}

void take_directory(struct take *t)
{
	char why[SELECT_WHY_MAX];

	if (!directory_update(&t->directory, t->source))
		return;
	select_apply(&t->select, &t->directory);
	if (t->warns && select_unknown(&t->select, &t->directory, why)) {
		say("%s", why);
		t->warns = false;
	}
}

int take_check(struct take *t)
{
	char why[SELECT_WHY_MAX];

	t->warns = true;
	if (!select_unknown(&t->select, &t->directory, why))
		return 0;
	log_line("%s", why);
	return -ENOENT;
}

/* ---- frames ---------------------------------------------------------------------------------- */

void take_missed(void *user, uint32_t sensor, uint64_t missed)
{
	struct take *t = user;
	struct interface *i;

	if (!missed || !t->select.wanted[sensor])
		return;
	t->missed += missed;
	t->lost = true;
	i = interfaces_of(&t->interfaces, sensor);
	if (i)
		i->missed += missed;
	else
		t->unplaced[sensor] += missed;
	t->unplaced_any = t->unplaced_any || !i;
}

static void place(struct take *t, uint32_t sensor)
{
	struct interface *i = t->unplaced[sensor] ? interfaces_of(&t->interfaces, sensor) : NULL;

	if (!i)
		return;
	i->missed += t->unplaced[sensor];
	t->unplaced[sensor] = 0;
}

/* Returns the frame's interface, whose block is in the stream; or -errno. */
static int interface_of(struct take *t, const struct live_record *r, const struct block *b)
{
	int is_new, number = interfaces_find(&t->interfaces, t->source, r, b->interface, &is_new);

	if (number == -ENOMEM)
		log_line("no memory for further interfaces");
	if (number < 0 || !is_new)
		return number;
	stream_interface(&t->stream, t->interfaces.list[number].block,
			 t->interfaces.list[number].len);
	place(t, r->sensor);
	return number;
}

static int take_packet(struct take *t, const struct live_record *r, const struct block *b)
{
	int number = interface_of(t, r, b);
	struct interface *i;

	if (number == -ENOENT) {
		take_missed(t, r->sensor, 1);
		return 0;
	}
	if (number < 0)
		return number;
	i = &t->interfaces.list[number];
	i->received++;
	i->last_ns = b->time_ns;
	if (!select_frame(&t->select, i->linktype, b))
		return 0;
	stream_packet(&t->stream, b, number);
	i->accepted++;
	t->accepted++;
	return 0;
}

/* Passes on what is known of a sensor's clock. Programs do not show it as a frame. */
static int take_clock(struct take *t, const struct live_record *r, const struct block *b)
{
	const struct interface *any;
	int number;

	if (b->interface == LIVE_ANY) {
		any = interfaces_of(&t->interfaces, r->sensor);
		number = any ? any - t->interfaces.list : -ENOENT;
	} else {
		number = interface_of(t, r, b);
	}
	if (number >= 0)
		stream_clock(&t->stream, b, number);
	return number == -ENOENT || number >= 0 ? 0 : number;
}

int take_record(struct take *t, const struct live_record *r, const uint8_t *blocks, uint64_t missed)
{
	uint32_t frames = 0;
	struct block b;
	int err;

	if (r->sensor >= t->directory.count)
		take_directory(t);
	if (!t->select.wanted[r->sensor])
		return 0;
	take_missed(t, r->sensor, missed);
	for (uint32_t at = 0; at < r->blocks_len; at += b.len) {
		if (block_read(&b, blocks + at, r->blocks_len - at) < 0)
			return -EBADMSG;
		if (b.is_clock && (err = take_clock(t, r, &b)))
			return err;
		if (b.type != BLOCK_PACKET)
			continue;
		frames++;
		err = take_packet(t, r, &b);
		if (err || take_is_done(t))
			return err;
	}
	return frames == r->frames ? 0 : -EBADMSG;
}

bool take_is_done(const struct take *t)
{
	return t->count && t->accepted >= t->count;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* All frames of a new sensor may have been missed. */
static void place_all(struct take *t)
{
	if (!t->unplaced_any || !t->directory.list)
		return;
	for (uint32_t n = 0; n < t->directory.count; n++) {
		int is_new, number;

		if (!t->unplaced[n])
			continue;
		number = interfaces_make(&t->interfaces, n, t->directory.list[n].name, &is_new);
		if (number < 0)
			continue;
		if (is_new)
			stream_interface(&t->stream, t->interfaces.list[number].block,
					 t->interfaces.list[number].len);
		place(t, n);
	}
	t->unplaced_any = false;
}

void take_statistics(struct take *t)
{
	place_all(t);
	for (uint32_t n = 0; n < t->interfaces.count; n++) {
		struct interface *i = &t->interfaces.list[n];

		if (i->told == i->received + i->missed)
			continue;
		i->told = i->received + i->missed;
		stream_statistics(&t->stream, i, n);
	}
	t->lost = false;
}

void take_report(const struct take *t)
{
	if (t->missed)
		log_line("%llu frame%s; this viewer was too slow for %llu others, which are in the "
			 "collector's files",
			 (unsigned long long)t->accepted, PLURAL(t->accepted),
			 (unsigned long long)t->missed);
	else
		log_line("%llu frame%s", (unsigned long long)t->accepted, PLURAL(t->accepted));
}
