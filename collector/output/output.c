// SPDX-License-Identifier: GPL-2.0
/* Output: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/files/limit.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/pcapng_format.h"
#include "output_clock.h"
#include "output_file.h"
#include "output_flush.h"
#include "output_hold.h"
#include "output_sink.h"
#include "output_rotate.h"
#include "interfaces.h"
#include "pcapng.h"
#include "recover.h"
#include "event_json.h"
#include "collector/model/sensors.h"
#include "wire/info.h"
#include "wire/tryst.h"
#include "sensor.h"

/* The most interface blocks of a combo: for its frames, and for its dwells. */
#define BLOCKS_MAX (COMBO_KINDS_MAX + INFO_INTERFACES_MAX)

_Static_assert(BLOCKS_MAX <= INTERFACES_BLOCKS_MAX,
	       "those of one combo do not drive each other out");
/* The most bytes of a combo in the buffer, after a section header: it is written at once. */
_Static_assert(2 * PCAPNG_META_MAX + PCAPNG_CLOCK_MAX + PCAPNG_NAME_LEN + COMBO_BYTES_MAX +
			       COMBO_FRAMES_MAX * (PCAPNG_PACKET_OVERHEAD + PCAPNG_UNSETTLED_LEN) +
			       COMBO_EVENTS_MAX * PCAPNG_MODULE_EVENT_MAX +
			       BLOCKS_MAX * PCAPNG_META_MAX <=
		       OUTPUT_BUFFER,
	       "a combo fits into the buffer");
_Static_assert(PCAPNG_DWELL_MAX <= PCAPNG_MODULE_EVENT_MAX &&
		       PCAPNG_READINGS_MAX <= PCAPNG_MODULE_EVENT_MAX &&
		       EVENT_JSON_MAX + PCAPNG_NAME_LEN + 32 <= PCAPNG_MODULE_EVENT_MAX,
	       "a module's event is the largest kind of event");
/* The file is changed before a combo that may not fit, by output_combo's estimate. */
_Static_assert(1000000 - (PCAPNG_CLOCK_MAX + PCAPNG_NAME_LEN + COMBO_BYTES_MAX +
			  COMBO_FRAMES_MAX * (PCAPNG_PACKET_OVERHEAD + PCAPNG_UNSETTLED_LEN) +
			  COMBO_EVENTS_MAX * PCAPNG_MODULE_EVENT_MAX) >=
		       1000000 / FILES_SIZE_PART,
	       "with the least -C a file is as large as limit.h wants it");

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

void output_run_end(struct output *out, struct sensor *s)
{
	if (out->sink)
		return;
	output_flush(out); /* so that the ledger is up to date */
	if (s->output->interfaces.section == out->section)
		output_statistics(out, s);
	interfaces_run_end(s);
}

void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted)
{
	s->output->next = next;
	s->output->accounted = accounted;
	if (!s->output->pending)
		output_settle(out, s);
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
	if (s->output->pending && !out->sink)
		output_flush(out);
	return !s->output->pending;
}

bool output_reserve(struct output *out, const struct combo_name *name, size_t bytes,
		    uint64_t now_ns)
{
	size_t len = PCAPNG_CLOCK_MAX + PCAPNG_NAME_LEN + bytes +
		     name->frames * PCAPNG_PACKET_OVERHEAD + name->events * PCAPNG_MODULE_EVENT_MAX;

	output_rotate_before(out, len, now_ns);
	len += BLOCKS_MAX * PCAPNG_META_MAX;
	if (output_too_large(out, len)) {
		/* There is no next file yet. The buffer still fits in this one. */
		if (output_flush(out))
			hold_begin(out, -EFBIG);
		return false;
	}
	if (!out->hold.on && output_make_room(out, len) &&
	    !event_log_have_room(&out->lines, name->events))
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
	if (out->live)
		live_combo(out->live,
			   &(struct live_combo){ .section = out->section,
						 .interfaces = out->interfaces,
						 .sensor = s->index,
						 .frames = out->combo.frames - out->combo.refused,
						 .blocks = out->buffer + out->combo_at,
						 .len = out->len - out->combo_at });
	output_offset_due(out, s, now_ns);
}

/* The combo's first block has its name. */
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

void output_readings(struct output *out, struct sensor *s, const struct clock_readings *r,
		     const struct combo_frame *f, uint64_t now_ns)
{
	uint32_t interface;
	size_t len;

	interfaces_begin(s, out->section, now_ns);
	interface = interfaces_newest(s, f, out->interfaces, out->buffer + out->len, &len);
	out->interfaces += len > 0;
	out->len += len;
	out->len += pcapng_readings(out->buffer + out->len, interface, r, name_take(out, now_ns));
}

void output_module_event(struct output *out, struct sensor *s, const struct module_event *e,
			 unsigned int number, uint64_t now_ns)
{
	struct event_json_id id = { s->output->run, out->combo.count, number };
	char line[EVENT_JSON_MAX], interface[4];
	size_t len;

	len = event_json(line, e, s->name, interfaces_name(s, e->interface, interface), &id);
	event_log_add(&out->lines, e->name, &s->output->names, s->name,
		      out->len + MODULE_EVENT_HEAD, len);
	interfaces_begin(s, out->section, now_ns);
	out->len += pcapng_module_event(out->buffer + out->len, line, len, name_take(out, now_ns));
}

void output_reopen(struct output *out)
{
	if (!out->lines.folder)
		return;
	out->reopen = true;
	if (output_flush(out))
		recover_save(out); /* earlier lines are in files that may have been moved */
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
	if (out->sink)
		output_sink_init(out);
	event_log_init(&out->lines, o, files);
	err = recover_begin(out);
	if (!out->sink)
		err = err ?: output_file_next(out);
	if (err || out->sink)
		return err;
	output_section_begin(out);
	output_flush(out);
	recover_save(out);
	return out->over ? -EIO : 0;
}

/* On a full disk a small block may fit where a large one did not. So "writing again" is logged only
 * after some time without failures. */
static void log_recovered(struct output *out)
{
	if (out->failure_logged && !out->broken)
		log_line("%s: writing again", out->name);
	out->failure_logged = out->broken;
}

/* The latest protocol time must be in the state file before a later one is used. */
static void save_floor(struct output *out)
{
	if (out->state.floor_ns / TRYST_INTERVAL_NS == out->saved_ns / TRYST_INTERVAL_NS)
		return;
	if (!out->sink)
		output_flush(out);
	recover_save(out);
}

int output_tick(struct output *out, uint64_t now_ns)
{
	if (out->sink) {
		save_floor(out);
		return sink_tick(out->sink);
	}
	if (out->hold.on ||
	    (out->buffered_since_ns && now_ns - out->buffered_since_ns >= OUTPUT_FLUSH_NS))
		output_flush(out);
	hold_tick(out, now_ns);
	output_end_due(out, now_ns);
	if (out->failure_logged && now_ns > out->failed_ns + FREE_SPACE_RECOVERED_NS)
		log_recovered(out);
	save_floor(out);
	if (out->hold.on)
		return HOLD_RETRY_MS;
	if (!out->buffered_since_ns)
		return out->o->rotate_s || (out->failure_logged && !out->broken) ||
				       hold_wants_tick(out)
			       ? HOLD_RETRY_MS
			       : -1;
	return monotonic_timeout(out->buffered_since_ns + OUTPUT_FLUSH_NS, now_ns);
}

/* Sensors that get ACKs still have the combos that remain in the buffer at the end. */
static void give_up(struct output *out)
{
	uint64_t frames = 0;

	for (struct sensor *s = out->pending; s; s = s->output->next_pending) {
		if (s->no_acks) {
			ledger_flushed(&s->ledger, false);
			output_settle(out, s);
		}
		frames += s->ledger.pending;
	}
	if (out->hold.on && out->of_capture)
		log_line("%s: ends while there is no room on the disk; the frames that were not "
			 "written are lost",
			 out->name);
	else if (out->hold.on)
		log_line("%s: ends while there is no room on the disk; %llu frames of the last "
			 "buffer were not written and will be sent again",
			 out->name, (unsigned long long)frames);
}

void output_finish(struct output *out)
{
	if (out->sink) {
		sink_finish(out->sink, SINK_FINISH_MS);
	} else {
		hold_try_now(out);
		output_section_end(out);
		log_recovered(out);
		give_up(out);
	}
	recover_save(out);
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	event_log_free(&out->lines);
	written_free(&out->names);
}
