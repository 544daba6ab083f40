// SPDX-License-Identifier: GPL-2.0
/* Output flush: see output_flush.h. */
#include "output_flush.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "collector/model/sensors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/version.h"
#include "output_file.h"
#include "output_hold.h"
#include "pcapng.h"
#include "pcapng/section.h"
#include "sensor.h"

void output_section_begin(struct output *out)
{
	struct utsname u;
	char os[256], keep_free[SECTION_COMMENT_MAX];

	snprintf(keep_free, sizeof(keep_free), SECTION_KEEP_FREE_FORMAT,
		 (unsigned long long)out->o->keep_free.bytes, out->o->keep_free.percent);
	uname(&u);
	snprintf(os, sizeof(os), "%s %s %s", u.sysname, u.release, u.machine);
	out->len += pcapng_section(out->buffer + out->len, os, SECTION_COLLECTOR SALUKI_VERSION,
				   out->ring, keep_free);
	out->section++;
	out->interfaces = 0;
}

void output_settle_to(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted)
{
	s->output->settled = next;
	written_put(&out->names, s->id, s->output->run, next, accounted);
	if (s->output->late && s->output->late->changed)
		written_gaps_put(&out->names, s->id, s->output->late);
	/* Brokers confirm combos one by one. ACKs come as often as with files, but sooner. */
	sensors_due(out->sensors, s, monotonic_ns() + (out->sink ? OUTPUT_SINK_ACK_NS : 0));
}

void output_settle(struct output *out, struct sensor *s)
{
	output_settle_to(out, s, s->output->next, s->output->accounted);
}

static void settle_pending(struct output *out, bool written)
{
	struct sensor *s;

	while ((s = out->pending)) {
		out->pending = s->output->next_pending;
		s->output->pending = false;
		ledger_flushed(&s->ledger, written);
		output_settle(out, s);
	}
}

static void write_failed(struct output *out, int err)
{
	out->write_errors++;
	out->gone = err == -EPIPE;
	out->over = out->of_capture && !out->gone;
	if (!out->failure_logged)
		log_line("%s: %s; %s", out->name, strerror(-err),
			 out->of_capture
				 ? "the capture ends"
				 : "frames are counted as lost until it can be written again");
	out->broken = out->failure_logged = true;
	out->failed_ns = monotonic_ns();
}

/* Settles the buffer's combos, written or lost. */
static void buffer_done(struct output *out, bool written)
{
	event_log_flush(&out->lines, out->buffer, written);
	out->len = 0;
	out->buffered_since_ns = 0;
	out->writes++;
	settle_pending(out, written);
	if (!written)
		output_section_begin(out); /* the buffer's interface blocks are lost too */
	if (out->reopen)
		event_log_close(&out->lines);
	out->reopen = false;
}

bool output_flush(struct output *out)
{
	int err = 0;

	if (hold_must_wait(out))
		return false;
	if (out->len)
		err = out->over ? -EIO : hold_ask(out) ?: output_file_write(out);
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
		out->written_bytes += out->len;
		if (out->len)
			out->written_ns = monotonic_ns();
	}
	buffer_done(out, !err);
	return true;
}

bool output_make_room(struct output *out, size_t len)
{
	return out->len + len <= OUTPUT_BUFFER || output_flush(out);
}

bool output_too_large(const struct output *out, size_t more)
{
	return out->size + out->len + more > out->size_max;
}
