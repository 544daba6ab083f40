// SPDX-License-Identifier: GPL-2.0
/* Output: see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>
#include <saluki/version.h>

#include "files.h"
#include "pcapng.h"
#include "recover.h"
#include "sensors.h"
#include "wire/info.h"
#include "wire/tryst.h"

#define ULL(x) ((unsigned long long)(x))

#define ROTATE_RETRY_NS 10000000000ULL

/* What a combo can be in the buffer, behind a section header: it is written in one piece. */
_Static_assert(2 * PCAPNG_META_MAX + PCAPNG_NAME_LEN + COMBO_BYTES_MAX +
			       COMBO_FRAMES_MAX * PCAPNG_PACKET_OVERHEAD +
			       COMBO_KINDS_MAX * PCAPNG_META_MAX <=
		       OUTPUT_BUFFER,
	       "a combo fits into the buffer");

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

/* ---- files ----------------------------------------------------------------------------------- */

/* Appends to a file of an earlier run: cuts off what a kill in the middle of a write left. */
static int adopt(struct output *out)
{
	int64_t whole = recover_file(out, out->name, out->fd);

	if (whole == -EBADMSG)
		log_line("-w %s: exists and is not a whole pcapng file; give another name",
			 out->name);
	if (whole < 0)
		return whole;
	if (lseek(out->fd, whole, SEEK_SET) < 0)
		return -errno;
	out->size = whole;
	return 0;
}

/* Where the next write to a file goes. */
static uint64_t output_position(int fd, uint64_t size)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at < 0 || (fcntl(fd, F_GETFL) & O_APPEND) ? size : (uint64_t)at;
}

static int open_next(struct output *out)
{
	struct files_answer a;
	struct stat st;
	int fd, err = files_ask(out->files, FILES_OUTPUT, &a, &fd);

	if (err) {
		log_line("-w %s: %s", a.name[0] ? a.name : out->o->write,
			 err == -EWOULDBLOCK ? "another saluki-collector writes to it"
			 : err == -ENXIO     ? "nobody reads this FIFO; start its reader first"
					     : strerror(-err));
		return err;
	}
	if (out->fd >= 0)
		close(out->fd);
	out->fd = fd;
	snprintf(out->name, sizeof(out->name), "%s", a.name);
	out->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	/* Standard output may be a file in which others have written: nothing in front of the place
	 * where we begin is ours to cut. */
	out->size = out->regular ? output_position(fd, st.st_size) : 0;
	out->opened_ns = monotonic_ns();
	out->fresh = true;
	err = a.existed ? adopt(out) : 0;
	if (!err)
		section_begin(out);
	return err;
}

/* Waits until a pipe takes PIPE_BUF bytes. Returns 0, or -EPIPE where we are to stop and its reader
 * has read nothing for a second. */
static int wait_writable(struct output *out)
{
	struct pollfd p = { .fd = out->fd, .events = POLLOUT };

	while (poll(&p, 1, 1000) <= 0) {
		orders_take(out->orders);
		if (out->orders->stop)
			return -EPIPE;
	}
	return 0;
}

/* Returns 0 when everything is written; otherwise, in a file, nothing is. */
static int write_all(struct output *out)
{
	size_t done = 0;

	while (done < out->len) {
		size_t len = out->len - done;
		int err = out->regular ? 0 : wait_writable(out);
		ssize_t n;

		if (!out->regular && len > PIPE_BUF)
			len = PIPE_BUF; /* no more, or the write could block */
		n = err ? -1 : write(out->fd, out->buffer + done, len);
		if (!err && n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			err = err ? err : n < 0 ? -errno : -ENOSPC;
			if (out->regular && (ftruncate(out->fd, out->size) ||
					     lseek(out->fd, out->size, SEEK_SET) < 0))
				log_line("%s: cannot be cut back: %s", out->name, strerror(errno));
			return err;
		}
		done += n;
	}
	return 0;
}

/* What there is of a sensor's run up to here needs never come again. */
static void settle(struct output *out, struct sensor *s)
{
	struct output_sensor *o = &s->output;

	o->settled = o->next;
	names_put(&out->names, s->id, o->run, o->next, o->accounted);
	sensors_due(out->sensors, s, monotonic_ns());
}

static void settle_pending(struct output *out, bool written)
{
	struct sensor *s;

	while ((s = out->pending)) {
		out->pending = s->output.next_pending;
		s->output.pending = false;
		ledger_flushed(&s->ledger, written);
		settle(out, s);
	}
}

/* Writes what is in the buffer: it is settled, also where that fails, for then it is lost. */
static void output_flush(struct output *out)
{
	int err = write_all(out);

	if (!err) {
		out->broken = false;
		out->size += out->len;
	} else {
		out->write_errors++;
		out->gone = err == -EPIPE;
		if (!out->told)
			log_line("%s: %s; frames are counted as lost until it can be written again",
				 out->name, strerror(-err));
		out->broken = out->told = true;
		out->failed_ns = monotonic_ns();
	}
	out->len = 0;
	out->buffered_since_ns = 0;
	settle_pending(out, !err);
	if (err)
		section_begin(out); /* the interface blocks in the buffer are lost too */
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void make_room(struct output *out, size_t len)
{
	if (out->len + len > OUTPUT_BUFFER)
		output_flush(out);
}

static bool file_full(const struct output *out, size_t more, uint64_t now_ns)
{
	return out->regular && !out->broken && out->o->rotate_bytes && !out->fresh &&
	       now_ns >= out->no_rotation_until_ns &&
	       out->size + out->len + more > out->o->rotate_bytes;
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

static void statistics(struct output *out, struct sensor *s)
{
	char line[800] = "";
	FILE *text = fmemopen(line, sizeof(line), "w");

	if (text) {
		ledger_print(text, s->name, &s->ledger);
		distance(text, s);
		fclose(text);
	}
	for (unsigned int i = 0; i < s->interfaces.count; i++) {
		struct pcapng_statistics st = { .comment = i == 0 ? line : NULL };

		interfaces_statistics(s, i, &st);
		make_room(out, PCAPNG_META_MAX);
		out->len += pcapng_statistics(out->buffer + out->len, &st);
	}
}

void output_run_end(struct output *out, struct sensor *s)
{
	output_flush(out); /* so that the ledger knows what is written */
	if (s->interfaces.section == out->section)
		statistics(out, s);
	s->interfaces.section = 0; /* what the sensor says of itself may differ in the next run */
}

/* The sensors' side of the ledger, as far as it is known now. */
static void section_end(struct output *out)
{
	unsigned int section = out->section;

	output_flush(out); /* so that the ledgers know what is written */
	if (out->len)
		return; /* it failed: no interfaces are left to speak of */
	for (unsigned int i = 0; i < out->sensors->count && out->section == section; i++)
		if (out->sensors->list[i]->interfaces.section == section)
			statistics(out, out->sensors->list[i]);
	output_flush(out);
}

/* Where no new file can be had, this one goes on. */
static void rotate(struct output *out, uint64_t now_ns)
{
	section_end(out);
	out->opened_ns = now_ns;
	if (open_next(out)) {
		section_begin(out);
		out->no_rotation_until_ns = now_ns + ROTATE_RETRY_NS;
	}
	output_flush(out); /* the file is one from its first moment */
	recover_save(out); /* which this one now is */
}

/* ---- combos ---------------------------------------------------------------------------------- */

void output_run_begin(struct output *out, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted)
{
	if (s->output.pending)
		output_flush(out);
	s->output = (struct output_sensor){
		.run = run, .next = next, .accounted = accounted, .settled = next
	};
}

void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted)
{
	s->output.next = next;
	s->output.accounted = accounted;
	if (!s->output.pending)
		settle(out, s);
}

static void mark_pending(struct output *out, struct sensor *s)
{
	if (s->output.pending)
		return;
	s->output.pending = true;
	s->output.next_pending = out->pending;
	out->pending = s;
}

void output_combo(struct output *out, struct sensor *s, struct combo_name name, size_t bytes,
		  uint64_t now_ns)
{
	size_t len = PCAPNG_NAME_LEN + bytes + name.frames * PCAPNG_PACKET_OVERHEAD;

	if (file_full(out, len, now_ns))
		rotate(out, now_ns);
	make_room(out, len + COMBO_KINDS_MAX * PCAPNG_META_MAX);
	name.sensor = s->id;
	name.run = s->output.run;
	out->combo = name;
	out->unnamed = true;
	out->fresh = false;
	s->output.next = name.count + 1;
	s->output.accounted = name.first + name.frames;
	mark_pending(out, s);
}

void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f,
		  uint64_t now_ns)
{
	struct interfaces *known = &s->interfaces;
	uint32_t interface;
	size_t len;

	if (known->section != out->section) {
		known->section = out->section;
		known->count = 0;
	}
	interface = interfaces_frame(s, f, out->interfaces, out->buffer + out->len, &len);
	out->interfaces += len > 0;
	out->len += len;
	out->len += pcapng_packet(out->buffer + out->len, interface, f,
				  out->unnamed ? &out->combo : NULL);
	out->unnamed = false;
	s->ledger.pending++;
	if (!out->buffered_since_ns)
		out->buffered_since_ns = now_ns;
}

/* ---------------------------------------------------------------------------------------------- */

int output_init(struct output *out, const struct collector_options *o, struct sensors *sensors,
		int files, struct orders *orders)
{
	int err;

	out->o = o;
	out->sensors = sensors;
	out->files = files;
	out->orders = orders;
	out->fd = -1;
	err = recover_begin(out);
	err = err ?: open_next(out);
	if (err)
		return err;
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
	return out->regular && !out->broken && out->o->rotate_s &&
	       now_ns >= out->no_rotation_until_ns &&
	       now_ns - out->opened_ns >= out->o->rotate_s * 1000000000ULL;
}

int output_tick(struct output *out, uint64_t now_ns)
{
	if (out->buffered_since_ns && now_ns - out->buffered_since_ns >= OUTPUT_FLUSH_NS)
		output_flush(out);
	if (rotation_due(out, now_ns))
		rotate(out, now_ns);
	if (out->told && now_ns > out->failed_ns + OUTPUT_RECOVERED_NS)
		tell_recovered(out);
	if (out->state.floor_ns / TRYST_INTERVAL_NS != out->saved_ns / TRYST_INTERVAL_NS) {
		output_flush(out);
		recover_save(out);
	}
	if (!out->buffered_since_ns)
		return out->o->rotate_s || (out->told && !out->broken) ? 500 : -1;
	return (int)((out->buffered_since_ns + OUTPUT_FLUSH_NS - now_ns) / 1000000) + 1;
}

void output_finish(struct output *out)
{
	section_end(out);
	tell_recovered(out);
	recover_save(out);
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	names_free(&out->names);
}
