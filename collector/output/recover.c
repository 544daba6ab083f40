// SPDX-License-Identifier: GPL-2.0
/* Recover: see recover.h. */
#include "recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/index_read.h"
#include "collector/files/files.h"
#include "collector/files/series.h"
#include "common/log.h"
#include "event_log_recover.h"

#define RECOVER_LOG_BYTES (1LL << 30) /* more bytes than this take a while */

/* ---- files ----------------------------------------------------------------------------------- */

/* Compares names without folders, which can be written in several ways. */
static bool same_name(const char *a, const char *b)
{
	return !series_compare(a, b);
}

/* Files are searched for lines only after the state's place: earlier lines are done.
 */
static bool span_of(const struct output *out, const char *name, int fd, int64_t len,
		    struct event_log_span *span)
{
	bool is_the_one = same_name(name, out->state.file);

	*span = (struct event_log_span){ .fd = fd,
					 .from = is_the_one ? (int64_t)out->state.offset : 0,
					 .len = len };
	return out->state.file[0] && len > 0 && span->from <= len &&
	       series_compare(name, out->state.file) >= 0;
}

void recover_event_log(struct output *out, const char *name, int fd, int64_t len)
{
	struct event_log_span span;

	if (out->lines.folder && same_name(name, out->state.file) &&
	    span_of(out, name, fd, len, &span))
		event_log_recover(&out->lines, &span, 1, out->buffer, sizeof(out->buffer));
}

static int64_t scan(struct output *out, const char *name, int fd, int64_t len)
{
	int64_t whole = -EBADMSG;

	/* The state covers all before its offset, if this is its file. */
	if (same_name(name, out->state.file) && out->state.offset <= (uint64_t)len &&
	    out->state.offset > 0)
		whole = written_scan(&out->names, fd, out->state.offset, len);
	return whole == -EBADMSG ? written_scan(&out->names, fd, 0, len) : whole;
}

/* saluki-keep has walked the file to its end. */
static int64_t recover_index(struct output *out, int fd)
{
	struct index_cursor c;
	struct index_run r;
	struct index x;
	int err = index_read(&x, fd);

	if (err)
		return err;
	c = index_runs(&x);
	while (!err && index_run_next(&c, &r))
		err = written_put(&out->names, r.sensor, r.run, r.next, r.accounted);
	index_close(&x);
	return err;
}

int64_t recover_file(struct output *out, const char *name, int fd)
{
	struct stat st;
	int64_t whole;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size - (same_name(name, out->state.file) ? (int64_t)out->state.offset : 0) >
	    RECOVER_LOG_BYTES)
		log_info("%s: is looked through for what is written already", name);
	whole = scan(out, name, fd, st.st_size);
	if (whole < 0 || whole == st.st_size)
		return whole;
	log_line("%s: %lld bytes of a block that was being written are cut off", name,
		 (long long)(st.st_size - whole));
	return ftruncate(fd, whole) ? -errno : whole;
}

/* ---- a series -------------------------------------------------------------------------------- */

struct old_files {
	int count;
	int64_t bytes;
	int fds[RECOVER_FILES_MAX];
	char *names[RECOVER_FILES_MAX];
};

/* Whether this file may have names that the state lacks. Files come newest first. */
static bool old_wanted(const struct output *out, const struct old_files *old, const char *name)
{
	if (out->state.file[0])
		return series_compare(name, out->state.file) >= 0;
	return old->bytes < RECOVER_BYTES_MAX;
}

static void old_collect(struct output *out, struct old_files *old)
{
	struct files_answer a;
	struct stat st;
	int fd, err;

	while (old->count < RECOVER_FILES_MAX) {
		err = files_ask(out->files, FILES_OLD, &a, &fd);
		if (err == -EWOULDBLOCK)
			continue; /* another collector's file */
		if (err)
			return;
		old->names[old->count] = strdup(a.name);
		if (!old->names[old->count] || !old_wanted(out, old, a.name)) {
			free(old->names[old->count]);
			close(fd);
			return;
		}
		old->bytes += fstat(fd, &st) ? 0 : st.st_size;
		old->fds[old->count++] = fd;
	}
}

/* Oldest first, so that the latest runs are kept. */
static void recover_series(struct output *out)
{
	struct event_log_span spans[RECOVER_FILES_MAX];
	struct old_files old = { 0 };
	unsigned int count = 0;

	old_collect(out, &old);
	for (int i = old.count - 1; i >= 0; i--) {
		bool is_index = series_is_index(old.names[i]);
		int64_t whole = is_index ? recover_index(out, old.fds[i])
					 : recover_file(out, old.names[i], old.fds[i]);

		if (whole < 0)
			log_line("%s: cannot be looked through for what is there already: %s",
				 old.names[i], is_index ? index_error(whole) : strerror(-whole));
		else if (!is_index)
			count += span_of(out, old.names[i], old.fds[i], whole, &spans[count]);
	}
	if (out->lines.folder && count)
		event_log_recover(&out->lines, spans, count, out->buffer, sizeof(out->buffer));
	while (old.count--) {
		close(old.fds[old.count]);
		free(old.names[old.count]);
	}
}

/* ---- the state file -------------------------------------------------------------------------- */

static int state_load(struct output *out)
{
	struct files_answer a;
	int fd, err = files_ask(out->files, FILES_STATE_READ, &a, &fd);
	FILE *f;

	if (err == -ENOENT)
		return 0; /* there is no state file */
	if (err)
		return err;
	out->stateful = true;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -errno;
	}
	err = state_read(f, &out->state, &out->names);
	out->names.from_state = !err;
	fclose(f);
	if (err == -EBADMSG)
		log_line("%s: is damaged and not used; files are looked through instead", a.name);
	return err == -ENOMEM ? err : 0;
}

int recover_begin(struct output *out)
{
	int err;

	out->names.gaps = out->o->source != NULL;
	err = state_load(out);
	if (err)
		log_line("the state cannot be read: %s", strerror(-err));
	else
		recover_series(out);
	return err;
}

static int state_save(struct output *out)
{
	int err;
	FILE *f = files_new(out->files, FILES_STATE, &err);

	if (!f)
		return err;
	err = state_write(f, &out->state, &out->names, out->sensors);
	return files_new_done(out->files, FILES_STATE_DONE, f, err);
}

void recover_save(struct output *out)
{
	int err;

	out->saved_ns = out->state.floor_ns;
	if (!out->stateful)
		return;
	out->state.file[0] = 0;
	if (out->regular)
		snprintf(out->state.file, sizeof(out->state.file), "%s", out->name);
	out->state.offset = out->size;
	err = state_save(out);
	if (err && !out->state_logged && !out->failure_logged)
		log_line("warning: the state cannot be written: %s; should this collector be "
			 "killed, files are looked through from where it was written last",
			 strerror(-err));
	out->state_logged = err != 0;
}
