// SPDX-License-Identifier: GPL-2.0
/* Stats' clocks: see stats_clocks.h. In: an untrusted file. */
#include "stats_clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

#define LINE_MAX_LEN 1024
#define NAMES (2 * STATS_SENSORS) /* a power of two */
#define COLUMNS_MAX 32
#define SECOND_NS 1000000000LL
#define SECONDS_MAX (INT64_MAX / SECOND_NS - 1)

enum column { TIME, SENSOR, OFFSET, RATE, SIGMA, JITTER, REFERENCES, OUTLIERS, EVENT, COLUMNS };

static const char *const titles[COLUMNS] = { "time",	   "sensor",   "offset_ns",
					     "rate_ppb",   "sigma_ns", "jitter_ns",
					     "references", "outliers", "event" };

/* Where each column is in a line; -1: nowhere. */
struct layout {
	int at[COLUMNS];
};

static uint16_t *named(const struct stats_clocks *c, const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */
	uint16_t *slot;

	for (const char *p = name; *p; p++)
		h = (h ^ (uint8_t)*p) * 16777619u;
	for (uint32_t n = 0;; n++) {
		slot = &c->by_name[(h + n) & (NAMES - 1)];
		if (!*slot || !strcmp(c->stats->names[c->stats->sensors[*slot - 1].id], name))
			return slot;
	}
}

static unsigned int split(char *line, char *fields[COLUMNS_MAX])
{
	unsigned int n = 0;

	line[strcspn(line, "\r\n")] = 0;
	while (line && n < COLUMNS_MAX)
		fields[n++] = strsep(&line, "\t");
	return n;
}

static bool head(struct layout *l, char *line)
{
	char *fields[COLUMNS_MAX];
	unsigned int n = split(line, fields);

	for (int c = 0; c < COLUMNS; c++) {
		l->at[c] = -1;
		for (unsigned int i = 0; i < n; i++)
			if (!strcmp(fields[i], titles[c]))
				l->at[c] = i;
	}
	return l->at[TIME] >= 0 && l->at[SENSOR] >= 0 && l->at[OFFSET] >= 0;
}

/* Reads seconds with up to nine decimals. */
static bool time_of(const char *text, int64_t *ns)
{
	char *end;
	int64_t s, part = 0, digit = SECOND_NS / 10;

	errno = 0;
	s = strtoll(text, &end, 10);
	if (end == text || errno || s > SECONDS_MAX || s < -SECONDS_MAX)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, digit /= 10)
			part += digit * (*end - '0');
	*ns = s * SECOND_NS + (*text == '-' ? -part : part);
	return !*end;
}

static const char *field(char *const *fields, unsigned int n, const struct layout *l, int column)
{
	int at = l->at[column];

	return at >= 0 && (unsigned int)at < n ? fields[at] : "";
}

/* Empty fields, and what is no number, are 0. */
static double number(const char *text)
{
	double v = strtod(text, NULL);

	return isfinite(v) ? v : 0;
}

static uint32_t counted(const char *text)
{
	double v = number(text);

	return v < 0 ? 0 : v > 1e9 ? 1000000000 : (uint32_t)v;
}

static void event(struct stats_clocks *c, int64_t ns, uint32_t sensor, const char *what)
{
	struct stats_event *e = &c->events[c->event_count];

	if (!*what)
		return;
	if (c->event_count == STATS_EVENTS) {
		c->events_left_out++;
		return;
	}
	*e = (struct stats_event){ .at_ns = ns, .sensor = sensor };
	snprintf(e->what, sizeof(e->what), "%s", what);
	c->event_count++;
}

static void line(struct stats_clocks *c, const struct layout *l, char *text)
{
	const struct stats *s = c->stats;
	struct stats_clock_point *p;
	char *fields[COLUMNS_MAX];
	unsigned int n = split(text, fields);
	uint32_t index, references, outliers;
	int64_t ns;
	int point;

	c->lines++;
	if (!time_of(field(fields, n, l, TIME), &ns)) {
		c->malformed++;
		return;
	}
	index = *named(c, field(fields, n, l, SENSOR));
	if (!index) {
		c->unknown++;
		return;
	}
	event(c, ns, index - 1, field(fields, n, l, EVENT));
	point = stats_point_of(s, ns);
	if (point < 0 || !s->sensors[index - 1].place)
		return;
	p = &c->points[(s->sensors[index - 1].place - 1) * s->options.points + point];
	references = p->references + counted(field(fields, n, l, REFERENCES));
	outliers = p->outliers + counted(field(fields, n, l, OUTLIERS));
	*p = (struct stats_clock_point){
		.known = *field(fields, n, l, SIGMA),
		.offset_ns = number(field(fields, n, l, OFFSET)),
		.rate_ppb = number(field(fields, n, l, RATE)),
		.sigma_ns = number(field(fields, n, l, SIGMA)),
		.jitter_ns = number(field(fields, n, l, JITTER)),
		.references = references,
		.outliers = outliers,
	};
}

static int prepare(struct stats_clocks *c, const struct stats *s)
{
	*c = (struct stats_clocks){ .stats = s };
	c->points = calloc((size_t)(s->place_count + 1) * s->options.points, sizeof(*c->points));
	c->by_name = calloc(NAMES, sizeof(*c->by_name));
	if (!c->points || !c->by_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->sensor_count; i++)
		*named(c, s->names[s->sensors[i].id]) = i + 1;
	return 0;
}

/* A line that is too long is skipped to its end. */
static void read_lines(struct stats_clocks *c, const struct layout *l, FILE *f, char *text)
{
	bool begun = false;

	while (fgets(text, LINE_MAX_LEN, f)) {
		bool ends = strchr(text, '\n') || feof(f);

		if (ends && !begun)
			line(c, l, text);
		else if (ends)
			c->malformed++;
		begun = !ends;
	}
}

int stats_clocks_read(struct stats_clocks *c, const struct stats *s, const char *path)
{
	char text[LINE_MAX_LEN];
	struct layout l;
	FILE *f = fopen(path, "re");
	int err = f ? 0 : -errno;

	*c = (struct stats_clocks){ .stats = s };
	if (!f && err == -ENOENT)
		return err;
	err = err ?: prepare(c, s);
	if (err) {
		log_line("%s: %s", path, strerror(-err));
	} else if (!fgets(text, sizeof(text), f) || !head(&l, text)) {
		log_line("%s: is not a table of clocks: the first line has no time, sensor and "
			 "offset_ns",
			 path);
		err = -EBADMSG;
	} else {
		read_lines(c, &l, f, text);
	}
	if (f)
		fclose(f);
	return err;
}

void stats_clocks_free(struct stats_clocks *c)
{
	free(c->points);
	free(c->by_name);
	c->points = NULL;
	c->by_name = NULL;
}
