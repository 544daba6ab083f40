// SPDX-License-Identifier: GPL-2.0
/*
 * Find: see find.h.
 *
 *     listing ─▶ search (index, chunks, query) ─▶ pseudonyms ─▶ output, or counts
 */
#include "find.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/stop.h"
#include "common/terminal_line.h"
#include "counts.h"
#include "find_options.h"
#include "keep/columns/columns.h"
#include "keep/compact/compact.h"
#include "keep/pack/tables.h"
#include "keep/process/sandbox.h"
#include "output.h"
#include "output_file.h"
#include "keep/pseudonym/pseudonym_found.h"
#include "search.h"

#define EVERY_NS 500000000ULL

struct find {
	struct find_options o;
	int folder, fd; /* fd: of -w; -1 */
	struct listing listing;
	struct search search;
	struct pseudonym_stage *pseudonyms; /* NULL: none */
	struct output *output;		    /* NULL: counts */
	struct output_tables tables;	    /* of --columns */
	struct counts counts;
	struct terminal_line line;
	uint64_t next_ns; /* CLOCK_MONOTONIC of the next progress */
};

static int take(void *context, const struct found *found)
{
	struct find *f = context;
	int err;

	if (f->pseudonyms)
		found = pseudonym_found(f->pseudonyms, found);
	err = f->output ? output_frame(f->output, found) : counts_frame(&f->counts, found);
	return err ?: f->o.most && f->search.matched >= f->o.most;
}

static void show(struct find *f, uint64_t now)
{
	const struct search *s = &f->search;
	char text[TERMINAL_LINE_MAX];

	snprintf(text, sizeof(text),
		 "%u of %u files  %u opened  %" PRIu64 " frames read  %" PRIu64 " found", s->files,
		 s->of, s->opened, s->frames, s->matched);
	terminal_line_say(&f->line, text);
	terminal_line_tick(&f->line, now);
}

/* Writes the found frames now, instead of waiting for more. */
static int progress(void *context, const struct search *s)
{
	struct find *f = context;
	uint64_t now = monotonic_ns();

	(void)s;
	if (now < f->next_ns)
		return 0;
	f->next_ns = now + EVERY_NS;
	if (f->line.shared)
		show(f, now);
	return f->output ? output_tick(f->output) : 0;
}

/* ---- start ----------------------------------------------------------------------------------- */

static int open_output(struct find *f)
{
	int err = 0;

	if (!f->o.write)
		return 0;
	if (f->o.columns)
		err = output_tables_open(&f->tables, f->o.columns, f->o.write);
	if (err)
		return err;
	f->fd = output_file_open(f->o.write, f->o.columns, f->folder, f->o.pseudonyms);
	if (f->fd < 0)
		return f->fd;
	f->output = output_new(f->fd);
	if (!f->output)
		return -ENOMEM;
	/* Else a search that is interrupted would leave those of an earlier one. */
	return f->o.columns ? compact_forget(f->tables.folder, columns_names, f->tables.stem) : 0;
}

static int read_key(struct find *f)
{
	if (f->o.pseudonyms)
		f->pseudonyms = pseudonym_stage_new(f->o.pseudonyms);
	return f->o.pseudonyms && !f->pseudonyms ? -EINVAL : 0;
}

static int open_folder(struct find *f)
{
	int err = 0;

	f->folder = open(f->o.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		err = -errno;
	err = err ?: listing_read(&f->listing, f->folder, false);
	if (err)
		log_line("%s: %s", f->o.folder, strerror(-err));
	return err;
}

/* ---- end ------------------------------------------------------------------------------------- */

/* A name with a mistake looks like a sensor that has heard nothing. */
static void say_unseen(const struct query *q)
{
	for (unsigned int i = 0; i < q->sensor_count; i++)
		if (!q->sensor_seen[i])
			log_info("--sensor %s: no file has this sensor", q->sensors[i]);
	for (unsigned int i = 0; i < q->group_count; i++)
		if (!q->group_seen[i])
			log_info("--group %s: no file has this group", q->groups[i]);
}

static const char *output_name(const struct find *f)
{
	return !f->o.write || !strcmp(f->o.write, "-") ? "standard output" : f->o.write;
}

/* `err`: of the search, which was logged. */
static int write_tables(const struct find *f, int err)
{
	const char *why = "there are no tables";

	if (err >= 0 && output_is_mixed(f->output)) {
		err = -EXDEV;
		why = "tables of several unified traces cannot be joined; there are none";
	} else if (err >= 0) {
		err = pack_tables(f->fd, f->tables.stem, f->tables.folder);
		if (err && err != -EINTR)
			why = strerror(-err);
	}
	if (err)
		log_line("--columns %s: %s", f->o.columns, why);
	return err;
}

/* Returns the exit status. A reader that has left wants no more. */
static int finish(struct find *f, int err)
{
	const struct search *s = &f->search;

	if (f->output && err >= 0)
		err = output_flush(f->output) ?: err;
	else if (f->output && err == -EINTR)
		output_interrupt(f->output);
	terminal_line_close(&f->line);
	if (err == -EPIPE)
		return 0;
	if (err < 0 && err != -EINTR)
		log_line("%s: %s", s->stopped || s->files == s->of ? output_name(f) : f->o.folder,
			 strerror(-err));
	if (!err)
		say_unseen(&f->o.query);
	if (f->o.columns)
		err = write_tables(f, err);
	if (!f->output)
		counts_print(&f->counts);
	else if (f->o.log_level >= LOG_LEVEL_NORMAL)
		log_info("%" PRIu64 " frames found; %u of %u files opened", s->matched, s->opened,
			 s->of);
	if (f->pseudonyms && f->o.log_level >= LOG_LEVEL_NORMAL)
		log_info("%" PRIu64 " addresses and %" PRIu64 " SSIDs replaced",
			 pseudonym_counts(f->pseudonyms)->addresses,
			 pseudonym_counts(f->pseudonyms)->ssids);
	if (!f->output && (fflush(stdout) || ferror(stdout))) {
		log_line("standard output: %s", strerror(errno));
		return 1;
	}
	return err < 0 || s->damaged;
}

static int find(struct find *f)
{
	int err = read_key(f) ?: open_folder(f) ?: open_output(f);

	if (err)
		return err == -EPERM ? EXIT_USAGE : 1;
	if (f->o.log_level >= LOG_LEVEL_NORMAL)
		terminal_line_open(&f->line);
	stop_catch();
	signal(SIGPIPE, SIG_IGN);
	if (sandbox_find(f->o.folder, f->o.columns))
		return 1;
	f->search = (struct search){ .query = &f->o.query,
				     .folder = f->folder,
				     .take = take,
				     .progress = progress,
				     .context = f };
	return finish(f, search(&f->search, &f->listing));
}

int find_main(int argc, char **argv)
{
	struct find f = { .folder = -1, .fd = -1 };
	int status = find_options_parse(&f.o, argc, argv);

	if (!status) {
		log_settings.level = f.o.log_level;
		status = find(&f);
	}
	output_free(f.output);
	pseudonym_stage_free(f.pseudonyms);
	counts_free(&f.counts);
	listing_free(&f.listing);
	find_options_free(&f.o);
	return status < 0 ? 0 : status;
}
