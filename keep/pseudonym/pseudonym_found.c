// SPDX-License-Identifier: GPL-2.0
/* Found frames with pseudonyms: see pseudonym_found.h. */
#include "pseudonym_found.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "pcapng/build.h"
#include "pcapng/receptions.h"
#include "pcapng/section.h"
#include "pseudonym_frame.h"
#include "pseudonym_key.h"
#include "pseudonym_text.h"
#include "wire/bytes.h"

#define INTERFACE_OPTIONS 16 /* where they begin in the block */
#define EPB_FLAGS 2
#define EPB_DROPCOUNT 4
#define OPTION_HEAD 4
#define RECEPTIONS_VALUE 5 /* enterprise and version, before the receptions */

/* A comment of the collector (saluki-files(5)). */
static const char unsettled[] = FRAME_UNSETTLED;

struct pseudonym_stage {
	struct pseudonyms names;
	struct pcapng_block block;
	struct found found;
	uint8_t frame[PCAPNG_FRAME_MAX], options[PCAPNG_BLOCK_MAX];
};

struct pseudonym_stage *pseudonym_stage_new(const char *key_file)
{
	struct pseudonym_stage *s = malloc(sizeof(*s));

	if (!s) {
		log_line("--pseudonyms: out of memory");
		return NULL;
	}
	if (pseudonym_key_read(&s->names, key_file)) {
		free(s);
		return NULL;
	}
	return s;
}

void pseudonym_stage_free(struct pseudonym_stage *s)
{
	if (!s)
		return;
	pseudonyms_free(&s->names);
	free(s);
}

const struct pseudonyms *pseudonym_counts(const struct pseudonym_stage *s)
{
	return &s->names;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Copies an option in its byte order. `to` is not behind the option. */
static uint8_t *move_option(uint8_t *to, const struct pcapng_option *o)
{
	memmove(to, o->value - OPTION_HEAD, OPTION_HEAD + o->len);
	return put_padding(to + OPTION_HEAD + o->len, o->len);
}

static bool is_receptions(const struct pcapng_option *o)
{
	return o->code == OPT_DATA && o->len > RECEPTIONS_VALUE &&
	       (o->len - RECEPTIONS_VALUE) % RECEPTION_LEN == 0 &&
	       load_be(o->value, 4) == ENTERPRISE && o->value[4] == RECEPTIONS_VERSION;
}

static bool is_harmless(const struct pcapng_option *o)
{
	switch (o->code) {
	case OPT_COMMENT:
		return o->len == strlen(unsettled) && !memcmp(o->value, unsettled, o->len);
	case EPB_FLAGS:
		return o->len == 4;
	case EPB_DROPCOUNT:
	case EPB_PACKETID:
		return o->len == 8;
	default:
		return is_receptions(o);
	}
}

static void take_options(struct pseudonym_stage *s)
{
	struct pcapng_block b = s->block;
	struct pcapng_option o;
	uint8_t *p = s->options;

	while (pcapng_option(&b, &o))
		if (is_harmless(&o))
			p = move_option(p, &o);
	s->block.options = s->options;
	s->block.end = p;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

/* A name is NAME:IF. Its parts get what they get alone. */
static void replace_name(struct pseudonyms *p, char *name, size_t len, const char *sensor)
{
	size_t of_sensor = strlen(sensor);

	if (len <= of_sensor || name[of_sensor] != ':' || memcmp(name, sensor, of_sensor) != 0)
		of_sensor = 0;
	pseudonym_text(p, name, of_sensor);
	pseudonym_text(p, name + of_sensor, len - of_sensor);
}

/* The name and the description are the sensor's. A filter, an address and others' texts go. */
static void take_interface(struct pseudonym_stage *s, struct section_interface *i)
{
	bool swapped = i->swapped;
	uint8_t *p = i->block + INTERFACE_OPTIONS;
	struct pcapng_option o;
	struct pcapng_block b;
	uint32_t len;

	if (i->is_pseudonymous)
		return;
	pcapng_block(&b, i->block, i->block_len, &swapped); /* it was read before */
	while (pcapng_option(&b, &o)) {
		uint8_t *value = p + OPTION_HEAD;

		if (o.code != IF_NAME && o.code != IF_DESCRIPTION)
			continue;
		p = move_option(p, &o);
		if (o.code == IF_NAME)
			replace_name(&s->names, (char *)value, o.len, i->sensor);
		else
			pseudonym_text(&s->names, (char *)value, o.len);
	}
	i->block_len = p + 4 - i->block;
	len = swapped ? __builtin_bswap32(i->block_len) : i->block_len;
	put32(i->block + 4, len);
	put32(p, len);
	pseudonym_text(&s->names, i->sensor, strlen(i->sensor));
	pseudonym_text(&s->names, i->name, strlen(i->name));
	pseudonym_text(&s->names, i->group, strlen(i->group));
	i->is_pseudonymous = true;
}

const struct found *pseudonym_found(struct pseudonym_stage *s, const struct found *f)
{
	take_interface(s, f->interface);
	for (uint32_t i = f->radios ? f->radios->copied : 0; f->radios && i < f->radios->count; i++)
		take_interface(s, &f->radios->list[i]);
	s->block = *f->block;
	s->block.frame = s->frame;
	s->block.kept = pseudonym_frame(&s->names, f->interface->linktype, s->frame,
					f->block->frame, f->block->kept, f->block->whole);
	take_options(s);
	s->found = *f;
	s->found.block = &s->block;
	return &s->found;
}
