// SPDX-License-Identifier: GPL-2.0
/* Clocks table: see clocks_tsv.h. */
#include "clocks_tsv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "merge/clock/own.h"

#define SECOND_NS 1000000000LL

/* The clock is not yet what it will be: the line is written with the next transmission. That
 * transmission may be seconds older than the reception that shows the event. */
static void note(void *context, struct domain *d, const char *event)
{
	struct clocks_tsv *c = context;

	if (c->event_count < CLOCKS_TSV_EVENTS)
		c->events[c->event_count++] =
			(struct clocks_event){ d->number, d->serial, event,
					       domain_unified(d, d->newest_ns) };
}

/* Empties the table, if it is not a file that must not be written to. */
static int open_table(struct clocks_tsv *c, bool (*forbidden)(void *, int, const char *),
		      void *context)
{
	int fd = open(c->name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int err = fd < 0 ? -errno : 0;

	if (!err && forbidden(context, fd, c->name)) {
		close(fd);
		return -EINVAL;
	}
	if (!err && ftruncate(fd, 0) && errno != EINVAL)
		err = -errno;
	if (!err)
		c->out = fdopen(fd, "w");
	if (!err && !c->out)
		err = -errno;
	if (err)
		log_line("%s: %s", c->name, strerror(-err));
	if (err && fd >= 0)
		close(fd);
	return err;
}

int clocks_tsv_open(struct clocks_tsv *c, const char *prefix, const struct sensors *s,
		    struct merge *m, bool (*forbidden)(void *, int, const char *), void *context)
{
	int err;

	*c = (struct clocks_tsv){ .sensors = s, .merge = m, .second = INT64_MIN };
	if (asprintf(&c->name, "%s.clocks.tsv", prefix) < 0)
		return -ENOMEM;
	err = open_table(c, forbidden, context);
	if (err) {
		free(c->name);
		c->name = NULL;
		return err;
	}
	m->clocks.changed = note;
	m->clocks.context = c;
	fputs("time\tsensor\toffset_ns\trate_ppb\tsigma_ns\tjitter_ns\tpart\treferences\toutliers\t"
	      "event\tclock\n",
	      c->out);
	return 0;
}

/* The sensor's name is untrusted. */
static void print_name(const struct clocks_tsv *c, const struct domain *d)
{
	char name[sizeof(c->sensors->list->name)];

	memcpy(name, c->sensors->list[d->sensor].name, sizeof(name));
	log_clean(name);
	fputs(name, c->out);
}

static int64_t unified_of(const struct domain *d, int64_t stamp_ns)
{
	return domain_unified(d, own_time(d, stamp_ns));
}

/* A clock that is not known has no more than its coarse offset. */
static void line(struct clocks_tsv *c, struct domain *d, int64_t unified_ns, const char *event)
{
	const struct clock *k = &d->clock;
	int64_t stamp = unified_ns - (unified_of(d, unified_ns) - unified_ns); /* about */

	fprintf(c->out, "%lld.%09lld\t", unified_ns / SECOND_NS, llabs(unified_ns % SECOND_NS));
	print_name(c, d);
	fprintf(c->out, "\t%" PRId64 "\t", unified_of(d, stamp) - stamp);
	if (k->known)
		fprintf(c->out, "%.1f\t%.0f\t%.0f\t%u", k->rate * 1e9,
			sqrt(clock_variance(k, own_time(d, stamp))), sqrt(k->jitter), d->part);
	else
		fputs("\t\t\t", c->out);
	fprintf(c->out, "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%" PRIu64 "\n",
		d->references - d->told_references, d->outlying - d->told_outlying, event,
		d->serial);
	d->told_references = d->references;
	d->told_outlying = d->outlying;
}

/* A clock that has ended has a last line. */
static void lines(struct clocks_tsv *c, int64_t unified_ns)
{
	for (unsigned int i = 0; i < c->merge->clocks.count; i++) {
		struct domain *d = c->merge->clocks.list[i];

		if (!d->arrived || d->told)
			continue;
		d->told = d->ended && queue_is_empty(&d->queue);
		line(c, d, unified_ns, "");
	}
}

/* A domain that was given back meanwhile has no line. */
static void events(struct clocks_tsv *c)
{
	for (unsigned int i = 0; i < c->event_count; i++) {
		const struct clocks_event *e = &c->events[i];
		struct domain *d = c->merge->clocks.list[e->domain];

		if (d->serial == e->serial && d->arrived)
			line(c, d, e->unified_ns, e->what);
	}
	c->event_count = 0;
}

void clocks_tsv_tick(struct clocks_tsv *c, int64_t unified_ns)
{
	int64_t second = unified_ns / SECOND_NS;

	if (!c->out || (second <= c->second && !c->event_count))
		return;
	events(c);
	if (second <= c->second)
		return;
	lines(c, unified_ns);
	c->second = second;
}

int clocks_tsv_close(struct clocks_tsv *c)
{
	int err = 0;

	if (c->out && (ferror(c->out) | fclose(c->out))) {
		err = errno ? -errno : -EIO;
		log_line("%s: %s", c->name, strerror(-err));
	}
	free(c->name);
	*c = (struct clocks_tsv){ .out = NULL };
	return err;
}
