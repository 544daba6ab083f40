// SPDX-License-Identifier: GPL-2.0
/*
 * Run: see run.h.
 *
 *     input/files, or input/pipe ─▶ input/take ─▶ merge.h ─▶ output/writer, or output/all ─▶ outlet
 *                                                    └─▶ output/clocks_tsv
 *
 * The sandbox closes when everything is open. Then untrusted bytes are read.
 */
#include "run.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stop.h"
#include "input/files.h"
#include "input/left.h"
#include "input/names.h"
#include "input/pipe.h"
#include "output/all.h"
#include "output/clocks_tsv.h"
#include "output/writer.h"
#include "progress.h"
#include "sandbox.h"

struct run {
	const struct merge_options *o;
	struct names names;
	struct sensors sensors;
	struct merge merge;
	struct take take;
	struct files *files; /* NULL: a pipe */
	uint64_t missed;     /* in the pipe */
	struct outlet outlet;
	struct writer writer;
	struct all all;
	struct clocks_tsv clocks;
	struct progress progress;
};

/* ---- start ----------------------------------------------------------------------------------- */

static int take(void *context, const struct transmission *t)
{
	struct run *r = context;
	int err = 0;

	if (t->left)
		ledger_left(&r->writer.ledger, t);
	else
		err = r->o->all ? all_take(&r->all, t) : writer_take(&r->writer, t);
	if (!err && !(t->flags & HEARD_LATE))
		clocks_tsv_tick(&r->clocks, transmission_ns(t));
	return err;
}

static bool leaves(void *context, const struct transmission *t)
{
	const struct run *r = context;

	return left_to_others(&r->sensors, t);
}

static int open_inputs(struct run *r)
{
	int err = 0;

	if (r->o->pipe) {
		randombytes_buf(r->take.secret, sizeof(r->take.secret));
		return 0;
	}
	for (int i = 0; !err && i < r->o->path_count; i++)
		err = names_add(&r->names, r->o->paths[i]);
	err = err ?: names_open(&r->names, &r->take.counters.bad_blocks);
	if (err)
		return err;
	r->files = files_open(&r->take, &r->names);
	return r->files ? files_secret(r->files, r->take.secret) : -ENOMEM;
}

static bool is_input(void *context, int fd, const char *name)
{
	const struct run *r = context;

	if (!names_has(&r->names, fd))
		return false;
	log_line("-w %s: is one of the files to be read", name);
	return true;
}

static int open_outputs(struct run *r)
{
	const struct merge_options *o = r->o;
	int err = outlet_open(&r->outlet, o->write, o->all ? "all" : "unified", o->rotate_bytes,
			      o->pipe, is_input, r);

	if (o->all)
		all_init(&r->all, &r->outlet, &r->sensors);
	else
		writer_init(&r->writer, &r->outlet, &r->sensors, &r->merge);
	if (!err && *r->outlet.prefix && r->outlet.is_file)
		err = clocks_tsv_open(&r->clocks, r->outlet.prefix, &r->sensors, &r->merge,
				      is_input, r);
	return err;
}

static int confine(const struct run *r)
{
	char *copy = strdup(r->outlet.name);
	int err = copy ? sandbox_merge(r->o->rotate_bytes ? dirname(copy) : NULL) : -ENOMEM;

	free(copy);
	return err;
}

static int begin(struct run *r)
{
	bool whole = slice_is_whole(&r->o->slice);
	struct merge_sink sink = { take, r, whole ? NULL : leaves };
	int err = merge_init(&r->merge, &sink);

	r->take = (struct take){ .sensors = &r->sensors, .merge = &r->merge };
	r->sensors.merge = &r->merge;
	r->sensors.slice = whole ? NULL : &r->o->slice;
	r->merge.match.keep_all = r->sensors.all = r->o->all;
	r->outlet.fd = -1;
	if (err) {
		log_line("out of memory");
		return err;
	}
	if (r->o->log_level > LOG_LEVEL_QUIET)
		progress_begin(&r->progress, &r->merge);
	err = open_inputs(r);
	err = err ?: open_outputs(r);
	err = err ?: confine(r);
	/* Nothing was read so far. A merge of files simply ends: it goes on when it is started
	 * again. */
	if (!err && r->o->pipe)
		stop_catch();
	return err || !r->files ? err : files_look(r->files);
}

/* ---- end ------------------------------------------------------------------------------------- */

static struct ledger *ledger_of(struct run *r)
{
	return r->o->all ? &r->all.ledger : &r->writer.ledger;
}

/* Copies the counters of the input and of the clocks. */
static void fill_ledger(struct run *r)
{
	const struct input_counters *in = &r->take.counters;
	const struct clocks *c = &r->merge.clocks;
	struct ledger *l = ledger_of(r);

	l->frames = in->frames;
	l->malformed = in->malformed;
	l->left_to_others += in->left;
	l->other = in->other;
	l->bad_blocks = in->bad_blocks + in->astray;
	l->bad_readings = in->bad_readings;
	l->twins = in->twins;
	l->missed = r->files ? files_missed(r->files) : r->missed;
	l->evicted = r->merge.retained.evicted;
	l->joins = c->joins;
	l->steps = c->steps;
	l->slews = c->slews;
	l->parts = c->parts;
	l->part_joins = c->part_joins;
	l->replayed = c->replayed;
	l->misdated = c->misdated;
}

/* In one write, so that lines do not mix. */
static void say_ledger(struct run *r)
{
	char *text = NULL;
	size_t len;
	FILE *f = r->o->log_level > LOG_LEVEL_QUIET ? open_memstream(&text, &len) : NULL;

	if (!f)
		return;
	ledger_print(f, ledger_of(r), "  ");
	if (!fclose(f))
		log_report(text);
	free(text);
}

static int finish(struct run *r)
{
	int err;

	fill_ledger(r);
	err = r->o->all ? all_finish(&r->all) : writer_finish(&r->writer);
	progress_end(&r->progress);
	say_ledger(r);
	if (!err && ledger_balance(ledger_of(r))) {
		log_line("the ledger does not balance");
		err = -EPROTO;
	}
	return err;
}

static void free_all(struct run *r)
{
	progress_end(&r->progress);
	if (r->files)
		files_close(r->files);
	merge_free(&r->merge);
	all_free(&r->all);
	writer_free(&r->writer);
	outlet_free(&r->outlet);
	sensors_free(&r->sensors);
	names_free(&r->names);
}

/* A stream's reader does not wait until the buffer is full. */
static void swept(void *context, double share)
{
	struct run *r = context;

	outlet_flush(&r->outlet); /* keeps its error */
	progress_show(&r->progress, share);
}

static int read_inputs(struct run *r)
{
	if (r->files)
		return files_read(r->files, progress_show, &r->progress);
	return pipe_read(&r->take, STDIN_FILENO, &r->missed, swept, r);
}

/* The trace has everything that could be read. Returns 0, or -EBADMSG after a line. */
static int look_at_damage(const struct run *r)
{
	const struct input_counters *in = &r->take.counters;

	if (in->astray)
		log_line("%llu block%s of an interface that the input does not describe",
			 (unsigned long long)in->astray, PLURAL(in->astray));
	return in->bad_blocks || in->astray ? -EBADMSG : 0;
}

/* Then the slice is empty. */
static void look_at_floors(const struct run *r)
{
	const struct slice_floor none = { .known = false };

	if (r->sensors.count && !r->sensors.any_floor && !slice_has_floor(&r->o->slice, none))
		log_line("--floor: the input says no sensor's floor; give each sensor the word "
			 "floor=NUMBER in the collector's sensors file");
}

int run(const struct merge_options *o)
{
	static struct run r;
	int err;

	r.o = o;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
	err = begin(&r);
	err = err ?: read_inputs(&r);
	look_at_floors(&r);
	err = err ?: finish(&r);
	err = err ?: look_at_damage(&r);
	if (err == -ENOMEM)
		log_line("out of memory");
	if (r.outlet.left) /* the reader has what it wants */
		err = 0;
	err = clocks_tsv_close(&r.clocks) ?: err;
	free_all(&r);
	return err ? 1 : 0;
}
