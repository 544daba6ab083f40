// SPDX-License-Identifier: GPL-2.0
/* Output: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>
#include <saluki/version.h>

#include "collector/files/limit.h"
#include "output_file.h"
#include "output_hold.h"
#include "pcapng.h"
#include "recover.h"
#include "event_json.h"
#include "collector/model/sensors.h"
#include "wire/info.h"
#include "wire/tryst.h"
#include "sensor.h"

#define ULL(x) ((unsigned long long)(x))

#define ROTATE_RETRY_NS 10000000000ULL

/* Interface blocks that a combo can make: for its frames, and for its dwells. */
#define BLOCKS_MAX (COMBO_KINDS_MAX + INFO_INTERFACES_MAX)

_Static_assert(BLOCKS_MAX <= INTERFACES_BLOCKS_MAX,
	       "those of one combo do not drive each other out");
/* What a combo can be in the buffer, behind a section header: it is written in one piece. */
_Static_assert(2 * PCAPNG_META_MAX + PCAPNG_NAME_LEN + COMBO_BYTES_MAX +
			       COMBO_FRAMES_MAX * (PCAPNG_PACKET_OVERHEAD + PCAPNG_UNSETTLED_LEN) +
			       COMBO_EVENTS_MAX * PCAPNG_MODULE_EVENT_MAX +
			       BLOCKS_MAX * PCAPNG_META_MAX <=
		       OUTPUT_BUFFER,
	       "a combo fits into the buffer");
_Static_assert(PCAPNG_DWELL_MAX <= PCAPNG_MODULE_EVENT_MAX &&
		       EVENT_JSON_MAX + PCAPNG_NAME_LEN + 32 <= PCAPNG_MODULE_EVENT_MAX,
	       "what a module has said is the largest of events");
/* A file is changed before a combo of which it may have no room, as output_combo reckons. */
_Static_assert(1000000 - (PCAPNG_NAME_LEN + COMBO_BYTES_MAX +
			  COMBO_FRAMES_MAX * (PCAPNG_PACKET_OVERHEAD + PCAPNG_UNSETTLED_LEN) +
			  COMBO_EVENTS_MAX * PCAPNG_MODULE_EVENT_MAX) >=
		       1000000 / FILES_SIZE_PART,
	       "with the least -C a file is as large as limit.h wants it");
_Static_assert(COVERAGE_TEXT_MAX <= PCAPNG_COVERAGE_MAX, "all channels fit into a comment");

static void section_begin(struct output *out)
{
	struct utsname u;
	char os[256];

	uname(&u);
	snprintf(os, sizeof(os), "%s %s %s", u.sysname, u.release, u.machine);
	out->len += pcapng_section(out->buffer + out->len, os, "saluki-collector " SALUKI_VERSION);
	out->section++;
	out->interfaces = 0;
}

/* ---- flush ----------------------------------------------------------------------------------- */

/* What there is of a sensor's run up to here needs never come again. */
static void settle(struct output *out, struct sensor *s)
{
	struct output_sensor *o = s->output;

	o->settled = o->next;
	written_put(&out->names, s->id, o->run, o->next, o->accounted);
	sensors_due(out->sensors, s, monotonic_ns());
}

static void settle_pending(struct output *out, bool written)
{
	struct sensor *s;

	while ((s = out->pending)) {
		out->pending = s->output->next_pending;
		s->output->pending = false;
		ledger_flushed(&s->ledger, written);
		settle(out, s);
	}
}

static void write_failed(struct output *out, int err)
{
	out->write_errors++;
	out->gone = err == -EPIPE;
	if (!out->told)
		log_line("%s: %s; frames are counted as lost until it can be written again",
			 out->name, strerror(-err));
	out->broken = out->told = true;
	out->failed_ns = monotonic_ns();
}

/* The buffer is written or lost: it is settled either way. */
static void buffer_done(struct output *out, bool written)
{
	event_log_flush(&out->lines, out->buffer, written);
	out->len = 0;
	out->buffered_since_ns = 0;
	settle_pending(out, written);
	if (!written)
		section_begin(out); /* the interface blocks in the buffer are lost too */
	if (out->reopen)
		event_log_close(&out->lines);
	out->reopen = false;
}

/* Writes what is in the buffer. Returns whether the buffer is free: on a full disk it is not, and
 * keeps what it has. */
static bool output_flush(struct output *out)
{
	int err = 0;

	if (hold_must_wait(out))
		return false;
	if (out->len)
		err = hold_ask(out) ?: output_file_write(out);
	if (hold_is_full(out, err)) {
		hold_begin(out, err);
		return false;
	}
	hold_end(out);
	if (err) {
		write_failed(out, err);
	} else {
		out->broken = false;
		out->size += out->len;
	}
	buffer_done(out, !err);
	return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool make_room(struct output *out, size_t len)
{
	return out->len + len <= OUTPUT_BUFFER || output_flush(out);
}

/* Whether the file, with so many bytes more, is larger than it may be. */
static bool too_large(const struct output *out, size_t more)
{
	return out->size + out->len + more > out->size_max;
}

static bool file_full(const struct output *out, size_t more, uint64_t now_ns)
{
	uint64_t rotate = out->o->rotate_bytes ?: UINT64_MAX;

	return out->regular && !out->broken && !out->hold.on && !out->fresh &&
	       now_ns >= out->no_rotation_until_ns &&
	       (out->size + out->len + more > rotate || too_large(out, more + OUTPUT_BUFFER));
}

/* What stamps of several sensors are compared by. */
static void distance(FILE *text, const struct sensor *s)
{
	struct info i;

	info_read(&i, s->info.text, s->info.len);
	if (i.round_trip_us)
		fprintf(text, "round trip %llu us, clock %llu us %s", ULL(i.round_trip_us),
			ULL(i.ahead_us ?: i.behind_us), i.ahead_us ? "ahead" : "behind");
}

/* Of the interface of the i-th block, in that; NULL: there is none. */
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
		if (too_large(out, PCAPNG_STATISTICS_MAX) || !make_room(out, PCAPNG_STATISTICS_MAX))
			return; /* frames are worth more than what is said of them */
		out->len += pcapng_statistics(out->buffer + out->len, &st);
	}
}

/* The sensor says how long these blocks are, and when its run ends: so they are charged to it. */
static void statistics_charge(struct output *out, struct sensor *s)
{
	uint64_t before = out->size + out->len, after;

	if (output_holds(out, s))
		return; /* frames are worth more than what is said of them */
	statistics(out, s);
	after = out->size + out->len; /* less than before, if the buffer could not be written */
	budget_spend(&out->budget, out->sensors, s, after > before ? after - before : 0,
		     monotonic_ns());
}

void output_run_end(struct output *out, struct sensor *s)
{
	output_flush(out); /* so that the ledger knows what is written */
	if (s->output->interfaces.section == out->section)
		statistics_charge(out, s);
	interfaces_run_end(s);
}

/* The sensors' side of the ledger, as far as it is known now. */
static void section_end(struct output *out)
{
	unsigned int section = out->section;

	output_flush(out); /* so that the ledgers know what is written */
	if (out->len)
		return; /* it failed: no interfaces are left to speak of */
	for (unsigned int i = 0; i < out->sensors->count && out->section == section; i++)
		if (out->sensors->list[i]->output->interfaces.section == section)
			statistics_charge(out, out->sensors->list[i]);
	output_flush(out);
}

/* Where no new file can be had, this one goes on. */
static void rotate(struct output *out, uint64_t now_ns)
{
	section_end(out);
	if (out->hold.on)
		return; /* what is in the buffer belongs to this file */
	out->opened_ns = now_ns;
	if (output_file_next(out)) {
		out->no_rotation_until_ns = now_ns + ROTATE_RETRY_NS;
		if (too_large(out, PCAPNG_META_MAX))
			return; /* a header that does not fit would wait for ever */
	}
	section_begin(out);
	output_flush(out); /* the file is one from its first moment */
	recover_save(out); /* which this one now is */
}

/* ---- combos ---------------------------------------------------------------------------------- */

void output_run_begin(struct output *out, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted)
{
	struct output_sensor *o = s->output;

	output_is_written(out, s);
	o->run = run;
	o->next = o->settled = next;
	o->accounted = accounted;
}

void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted)
{
	s->output->next = next;
	s->output->accounted = accounted;
	if (!s->output->pending)
		settle(out, s);
}

static void mark_pending(struct output *out, struct sensor *s)
{
	if (s->output->pending)
		return;
	s->output->pending = true;
	s->output->next_pending = out->pending;
	out->pending = s;
}

bool output_is_written(struct output *out, const struct sensor *s)
{
	if (s->output->pending)
		output_flush(out);
	return !s->output->pending;
}

bool output_holds(const struct output *out, const struct sensor *s)
{
	return out->hold.on || s->output->disk_spent >= budget_share(&out->budget);
}

bool output_reserve(struct output *out, const struct combo_name *name, size_t bytes,
		    uint64_t now_ns)
{
	size_t len = PCAPNG_NAME_LEN + bytes + name->frames * PCAPNG_PACKET_OVERHEAD +
		     name->events * PCAPNG_MODULE_EVENT_MAX;

	if (file_full(out, len, now_ns))
		rotate(out, now_ns);
	len += BLOCKS_MAX * PCAPNG_META_MAX;
	if (too_large(out, len)) {
		/* The next file could not be had yet. What is in the buffer still fits here. */
		if (output_flush(out))
			hold_begin(out, -EFBIG);
		return false;
	}
	if (!out->hold.on && make_room(out, len) && !event_log_have_room(&out->lines, name->events))
		output_flush(out);
	return !out->hold.on;
}

void output_combo(struct output *out, struct sensor *s, struct combo_name name)
{
	out->combo_at = out->len;
	name.sensor = s->id;
	name.run = s->output->run;
	out->combo = name;
	out->unnamed = true;
	out->fresh = false;
	s->output->next = name.count + 1;
	s->output->accounted = name.first + name.frames;
	mark_pending(out, s);
}

void output_combo_end(struct output *out, struct sensor *s, uint64_t now_ns)
{
	budget_spend(&out->budget, out->sensors, s, out->len - out->combo_at, now_ns);
}

/* The name is in the combo's first block. */
static const struct combo_name *name_take(struct output *out, uint64_t now_ns)
{
	bool unnamed = out->unnamed;

	out->unnamed = false;
	if (!out->buffered_since_ns)
		out->buffered_since_ns = now_ns;
	return unnamed ? &out->combo : NULL;
}

void output_dwell(struct output *out, struct sensor *s, const struct dwell *d, uint64_t now_ns)
{
	uint32_t interface;
	size_t len;

	interfaces_begin(s, out->section, now_ns);
	interface = interfaces_dwell(s, d, out->interfaces, out->buffer + out->len, &len);
	out->interfaces += len > 0;
	out->len += len;
	out->len += pcapng_dwell(out->buffer + out->len, interface, d, name_take(out, now_ns));
}

void output_module_event(struct output *out, struct sensor *s, const struct module_event *said,
			 unsigned int number, uint64_t now_ns)
{
	struct event_json_id id = { s->output->run, out->combo.count, number };
	char line[EVENT_JSON_MAX], interface[4];
	size_t len;

	len = event_json(line, said, s->name, interfaces_name(s, said->interface, interface), &id);
	event_log_add(&out->lines, said->name, &s->output->names, s->name,
		      out->len + PCAPNG_SAID_HEAD, len);
	interfaces_begin(s, out->section, now_ns);
	out->len += pcapng_module_event(out->buffer + out->len, line, len, name_take(out, now_ns));
}

void output_reopen(struct output *out)
{
	if (!out->lines.folder)
		return;
	out->reopen = true;
	if (output_flush(out))
		recover_save(out); /* lines in front of it are in files that may have left */
}

void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f,
		  uint64_t now_ns)
{
	uint32_t interface;
	size_t len;

	interfaces_begin(s, out->section, now_ns);
	interface = interfaces_frame(s, f, out->interfaces, out->buffer + out->len, &len);
	out->interfaces += len > 0;
	out->len += len;
	out->len += pcapng_packet(out->buffer + out->len, interface, f, name_take(out, now_ns));
	s->ledger.pending++;
}

/* ---------------------------------------------------------------------------------------------- */

int output_init(struct output *out, const struct collector_options *o, struct sensors *sensors,
		int files, struct signals *orders)
{
	int err;

	out->o = o;
	out->sensors = sensors;
	out->files = files;
	out->orders = orders;
	out->fd = -1;
	event_log_init(&out->lines, o, files);
	err = recover_begin(out);
	err = err ?: output_file_next(out);
	if (err)
		return err;
	section_begin(out);
	output_flush(out);
	recover_save(out);
	return 0;
}

/* On a full disk a small block may fit where a large one did not: that it can be written again is
 * said when nothing has failed for a while. */
static void tell_recovered(struct output *out)
{
	if (out->told && !out->broken)
		log_line("%s: writing again", out->name);
	out->told = out->broken;
}

static bool rotation_due(const struct output *out, uint64_t now_ns)
{
	return out->regular && !out->broken && !out->hold.on && out->o->rotate_s &&
	       now_ns >= out->no_rotation_until_ns &&
	       now_ns - out->opened_ns >= out->o->rotate_s * 1000000000ULL;
}

int output_tick(struct output *out, uint64_t now_ns)
{
	if (out->hold.on ||
	    (out->buffered_since_ns && now_ns - out->buffered_since_ns >= OUTPUT_FLUSH_NS))
		output_flush(out);
	hold_tick(out, now_ns);
	if (rotation_due(out, now_ns))
		rotate(out, now_ns);
	if (out->told && now_ns > out->failed_ns + OUTPUT_RECOVERED_NS)
		tell_recovered(out);
	if (out->state.floor_ns / TRYST_INTERVAL_NS != out->saved_ns / TRYST_INTERVAL_NS) {
		output_flush(out);
		recover_save(out);
	}
	if (out->hold.on)
		return HOLD_RETRY_MS;
	if (!out->buffered_since_ns)
		return out->o->rotate_s || (out->told && !out->broken) || hold_wants_tick(out)
			       ? HOLD_RETRY_MS
			       : -1;
	return (int)((out->buffered_since_ns + OUTPUT_FLUSH_NS - now_ns) / 1000000) + 1;
}

/* What is still in the buffer at the end, sensors have too; but one-way ones do not know. */
static void give_up(struct output *out)
{
	uint64_t frames = 0;

	for (struct sensor *s = out->pending; s; s = s->output->next_pending) {
		if (sensor_is_one_way(s)) {
			ledger_flushed(&s->ledger, false);
			settle(out, s);
		}
		frames += s->ledger.pending;
	}
	if (out->hold.on)
		log_line("%s: ends while there is no room on the disk; %llu frames of the last "
			 "buffer were not written and will be sent again",
			 out->name, (unsigned long long)frames);
}

void output_finish(struct output *out)
{
	hold_try_now(out);
	section_end(out);
	tell_recovered(out);
	give_up(out);
	recover_save(out);
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	event_log_free(&out->lines);
	written_free(&out->names);
}
