// SPDX-License-Identifier: GPL-2.0
/* Output rotate: see output_rotate.h. */
#include "output_rotate.h"

#include <stdio.h>

#include "collector/model/sensors.h"
#include "common/monotonic.h"
#include "interfaces.h"
#include "output_file.h"
#include "output_flush.h"
#include "output_hold.h"
#include "pcapng.h"
#include "recover.h"
#include "sensor.h"
#include "wire/info.h"

#define ULL(x) ((unsigned long long)(x))

#define ROTATE_RETRY_NS 10000000000ULL

_Static_assert(COVERAGE_TEXT_MAX <= PCAPNG_COVERAGE_MAX, "all channels fit into a comment");

/* ---- statistics ------------------------------------------------------------------------------ */

/* Readers need the clock offset to compare stamps of several sensors. */
static void distance(FILE *text, const struct sensor *s)
{
	struct info i;

	info_read(&i, s->info.text, s->info.len);
	if (i.round_trip_us)
		fprintf(text, "round trip %llu us, clock %llu us %s", ULL(i.round_trip_us),
			ULL(i.ahead_us ?: i.behind_us), i.ahead_us ? "ahead" : "behind");
}

/* Writes the coverage of the i-th block's interface to `text`. Returns NULL if it has none. */
static const char *coverage_text(const struct sensor *s, unsigned int i, char *text, size_t size)
{
	const struct coverage_interface *c =
		coverage_of(s->coverage, s->output->interfaces.list[i].interface);
	FILE *f = c && interfaces_is_first(s, i) ? fmemopen(text, size, "w") : NULL;

	if (!f)
		return NULL;
	coverage_print(f, "", c);
	fclose(f);
	return text;
}

static void statistics(struct output *out, struct sensor *s)
{
	char covered[PCAPNG_COVERAGE_MAX];
	char line[800] = "";
	FILE *text = fmemopen(line, sizeof(line), "w");
	bool first = true;

	if (text) {
		ledger_print(text, s->name, &s->ledger);
		distance(text, s);
		fclose(text);
	}
	for (unsigned int i = 0; i < s->output->interfaces.count; i++) {
		struct pcapng_statistics st = { .comment = first ? line : NULL };

		if (!interfaces_present(s, i))
			continue;
		first = false;
		st.coverage = coverage_text(s, i, covered, sizeof(covered));
		interfaces_statistics(s, i, &st);
		if (output_too_large(out, PCAPNG_STATISTICS_MAX) ||
		    !output_make_room(out, PCAPNG_STATISTICS_MAX))
			return; /* frames are worth more than their statistics */
		out->len += pcapng_statistics(out->buffer + out->len, &st);
	}
}

void output_statistics(struct output *out, struct sensor *s)
{
	uint64_t before = out->size + out->len, after;

	if (output_holds(out, s))
		return; /* frames are worth more than their statistics */
	statistics(out, s);
	after = out->size + out->len; /* less than before, if the buffer could not be written */
	budget_spend(&out->budget, out->sensors, s, after > before ? after - before : 0,
		     monotonic_ns());
}

/* ---- files ----------------------------------------------------------------------------------- */

void output_section_end(struct output *out)
{
	unsigned int section = out->section;

	output_flush(out); /* so that the ledgers are up to date */
	if (out->len)
		return; /* it failed: the section has no interfaces */
	for (unsigned int i = 0; i < out->sensors->count && out->section == section; i++)
		if (out->sensors->list[i]->output->interfaces.section == section)
			output_statistics(out, out->sensors->list[i]);
	output_flush(out);
}

static void rotate(struct output *out, uint64_t now_ns)
{
	if (out->ended)
		output_flush(out); /* a run may have ended since */
	else
		output_section_end(out);
	if (out->hold.on)
		return; /* the buffer belongs to this file */
	out->opened_ns = now_ns;
	if (output_file_next(out)) {
		out->no_rotation_until_ns = now_ns + ROTATE_RETRY_NS;
		if (output_too_large(out, PCAPNG_META_MAX))
			return; /* a header that does not fit would wait for ever */
	}
	output_section_begin(out);
	output_flush(out); /* the new file is valid from the start */
	recover_save(out); /* this is now the state's file */
}

static bool may_rotate(const struct output *out, uint64_t now_ns)
{
	return out->regular && !out->broken && !out->hold.on && now_ns >= out->no_rotation_until_ns;
}

static bool is_due(const struct output *out, uint64_t now_ns)
{
	return out->o->rotate_s && now_ns >= out->opened_ns + out->o->rotate_s * 1000000000ULL;
}

static bool is_full(const struct output *out, size_t more)
{
	uint64_t most = out->o->rotate_bytes ?: UINT64_MAX;

	return out->size + out->len + more > most || output_too_large(out, more + OUTPUT_BUFFER);
}

void output_rotate_before(struct output *out, size_t more, uint64_t now_ns)
{
	if (may_rotate(out, now_ns) &&
	    (out->ended || is_due(out, now_ns) || (!out->fresh && is_full(out, more))))
		rotate(out, now_ns);
}

void output_end_due(struct output *out, uint64_t now_ns)
{
	if (!may_rotate(out, now_ns) || out->fresh || out->ended || !is_due(out, now_ns))
		return;
	output_section_end(out);
	out->ended = !out->len;
}
