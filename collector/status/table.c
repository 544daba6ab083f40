// SPDX-License-Identifier: GPL-2.0
/* The table of sensors: see print.h. In: two states. Out: a summary, and a row per sensor. */
#include "print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/duration.h"

enum { NAME, GROUP, STATE, SEEN, KEPT, BYTES, LOST, CLOCK, ADDRESS, VERSION, COLUMNS };

#define CELL_MAX 72
#define NONE "-"
#define ULL(x) ((unsigned long long)(x))

struct row {
	char cell[COLUMNS][CELL_MAX];
	enum board_trouble trouble;
	uint32_t index;
};

static const struct row heading = { .cell = { "SENSOR", "GROUP", "STATE", "SEEN/s", "KEPT/s",
					      "BYTES/s", "LOST", "CLOCK", "ADDRESS", "VERSION" } };
static const bool right_aligned[COLUMNS] = {
	[SEEN] = true, [KEPT] = true, [BYTES] = true, [LOST] = true, [CLOCK] = true
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* The interface that is down or deaf, the worst one first. */
static void link_cell(char *out, const struct board_states *s, uint32_t i)
{
	const struct board_interface *all = s->now.interfaces, *deaf = NULL;

	for (uint32_t n = board_first_interface(&s->now, i);
	     n < s->now.collector.interfaces && all[n].sensor == i; n++) {
		if (*all[n].state) {
			snprintf(out, CELL_MAX, "up, %.16s: %s", all[n].name, all[n].state);
			return;
		}
		if (!deaf && board_is_deaf(&s->now, &all[n]))
			deaf = &all[n];
	}
	if (deaf)
		snprintf(out, CELL_MAX, "up, %.16s: hears nothing", deaf->name);
}

static void up_cell(char *out, const struct board_states *s, uint32_t i)
{
	switch (board_trouble(s, i)) {
	case BOARD_WAITS:
		snprintf(out, CELL_MAX, "up, waits for %s", board_held_for(&s->now.collector));
		break;
	case BOARD_UNBALANCED:
		strcpy(out, "up, ledger unbalanced");
		break;
	case BOARD_SHARED_KEY:
		strcpy(out, "up, two machines have its key");
		break;
	case BOARD_LOSING:
		strcpy(out, "up, losing");
		break;
	default:
		strcpy(out, "up");
		link_cell(out, s, i);
	}
}

static void state_cell(char *out, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *b = &s->now.sensors[i];
	char at[32];

	status_time(at, b->heard_us, s->now.collector.time_us);
	if (!b->listed)
		snprintf(out, CELL_MAX, "not listed");
	else if (b->presence == BOARD_UP)
		up_cell(out, s, i);
	else if (b->presence == BOARD_SILENT)
		snprintf(out, CELL_MAX, "silent since %s", at);
	else if (b->presence == BOARD_ENDED)
		snprintf(out, CELL_MAX, "ended at %s", at);
	else if (board_just_begun(&s->now.collector))
		snprintf(out, CELL_MAX, "awaited");
	else if (b->heard_us)
		snprintf(out, CELL_MAX, "not since the start; %s", at);
	else
		snprintf(out, CELL_MAX, "never heard");
}

static void bytes_cell(char *out, double bytes)
{
	if (bytes < 1e6)
		snprintf(out, CELL_MAX, "%.1f k", bytes / 1e3);
	else
		snprintf(out, CELL_MAX, "%.1f M", bytes / 1e6);
}

static void fill(struct row *r, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *was = board_earlier(s, i);
	uint64_t ns = s->now.collector.interval_ns;
	char address[BOARD_ADDRESS_TEXT_MAX];

	for (int c = 0; c < COLUMNS; c++)
		strcpy(r->cell[c], NONE);
	snprintf(r->cell[NAME], CELL_MAX, "%s", now->name);
	snprintf(r->cell[GROUP], CELL_MAX, "%s", *now->group ? now->group : NONE);
	state_cell(r->cell[STATE], s, i);
	if (!now->runs)
		return;
	snprintf(r->cell[LOST], CELL_MAX, "%llu", ULL(board_lost(now)));
	snprintf(r->cell[VERSION], CELL_MAX, "%s", *now->application ? now->application : NONE);
	if (*board_address(address, now->address, now->address_len))
		snprintf(r->cell[ADDRESS], CELL_MAX, "%s", address);
	if (now->presence != BOARD_UP)
		return;
	snprintf(r->cell[CLOCK], CELL_MAX, "%+.1f ms", board_ahead_us(now) / 1e3);
	if (!was)
		return;
	snprintf(r->cell[SEEN], CELL_MAX, "%.0f",
		 board_per_second(now->totals.seen, was->totals.seen, ns));
	snprintf(r->cell[KEPT], CELL_MAX, "%.0f",
		 board_per_second(now->totals.captured, was->totals.captured, ns));
	bytes_cell(r->cell[BYTES], board_per_second(now->received_bytes, was->received_bytes, ns));
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Rows of the output. */
struct lines {
	FILE *f;
	int left; /* rows; negative: no limit */
	int columns;
};

__attribute__((format(printf, 2, 3))) static void line(struct lines *l, const char *format, ...)
{
	char text[COLUMNS * (CELL_MAX + 2) + 512];
	va_list args;

	if (!l->left)
		return;
	l->left--;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (l->columns)
		fprintf(l->f, "%.*s\n", l->columns, text);
	else
		fprintf(l->f, "%s\n", text);
}

/* Where the frames go. */
static void way(struct lines *l, const struct board_collector *c)
{
	const struct board_kafka *k = &c->sink.kafka;
	char since[DURATION_TEXT_LEN], to[2 * sizeof(k->topic) + 32];

	duration_text(since, c->time_us - c->begun_us);
	if (!k->used)
		snprintf(to, sizeof(to), "writes to %s", c->file);
	else if (*k->topic)
		snprintf(to, sizeof(to), "puts into %s of %s", k->topic, k->brokers);
	else
		snprintf(to, sizeof(to), "puts into Kafka");
	line(l, "saluki-collector %s: has run for %s, %s%s", c->version, since, to,
	     c->holding ? ", waits for disk space" : "");
}

static void kafka(struct lines *l, const struct board_states *s)
{
	char text[STATUS_KAFKA_MAX];

	if (s->now.collector.sink.kafka.used)
		line(l, "%s", status_sink(text, s));
	if (s->now.collector.source.kafka.used)
		line(l, "%s", status_source(text, s));
}

static void summary(struct lines *l, const struct board_states *s, const struct status_names *n)
{
	const struct board_collector *c = &s->now.collector;
	char balance[48] = "balanced";
	struct board_sums x = { 0 };

	for (uint32_t i = 0; i < c->sensors; i++)
		if (status_is_named(n, &s->now.sensors[i]))
			board_sum(&x, &s->now.sensors[i]);
	if (x.unbalanced)
		snprintf(balance, sizeof(balance), "unbalanced at %u", x.unbalanced);
	way(l, c);
	kafka(l, s);
	line(l, "sensors %u of %u up; frames lost %llu; ledger %s", x.up, x.listed, ULL(x.lost),
	     balance);
	line(l, "%s", "");
}

static void row_print(struct lines *l, const struct row *r, const int *width)
{
	char text[COLUMNS * (CELL_MAX + 2) + 1];
	int last = COLUMNS - 1, at = 0;

	while (last && !width[last])
		last--;
	for (int c = 0; c <= last; c++)
		if (width[c])
			at += snprintf(text + at, sizeof(text) - at, "%*s%s",
				       right_aligned[c] ? width[c]
				       : c == last	? 0
							: -width[c],
				       r->cell[c], c == last ? "" : "  ");
	line(l, "%s", text);
}

/* Columns without any value are left out. */
static void widths(int *width, const struct row *rows, unsigned int count)
{
	for (int c = 0; c < COLUMNS; c++) {
		width[c] = 0;
		for (unsigned int i = 0; i < count; i++) {
			int len = strlen(rows[i].cell[c]);

			if (strcmp(rows[i].cell[c], NONE) && len > width[c])
				width[c] = len;
		}
		if (width[c] && width[c] < (int)strlen(heading.cell[c]))
			width[c] = strlen(heading.cell[c]);
	}
}

static int by_trouble(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->trouble != y->trouble)
		return x->trouble > y->trouble ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int newest_first(const void *a, const void *b)
{
	const struct board_refused *const *x = a, *const *y = b;

	return (*x)->last_us > (*y)->last_us ? -1 : (*x)->last_us < (*y)->last_us;
}

static void refused_print(struct lines *l, const struct board_state *s)
{
	static const char *const why[BOARD_REASONS] = {
		[BOARD_UNLISTED] = "its key is not in the sensors file",
		[BOARD_UNPROVED] = "it has another preshared key",
		[BOARD_OTHER_VERSION] = "it speaks another version of the protocol",
		[BOARD_TWICE] = "another machine uses its key",
		[BOARD_WRONG_KEY] = "its datagrams open under no key",
	};
	const struct board_refused *all[BOARD_REFUSED_MAX];
	uint32_t count = s->collector.refused;

	for (uint32_t i = 0; i < count; i++)
		all[i] = &s->refused[i];
	qsort(all, count, sizeof(*all), newest_first);
	if (count)
		line(l, "\nRefused, the newest first:");
	for (uint32_t i = 0; i < count; i++) {
		char address[BOARD_ADDRESS_TEXT_MAX], at[32];

		line(l, "%s  %s  %s%s%s (%llu times)",
		     status_time(at, all[i]->last_us, s->collector.time_us),
		     board_address(address, all[i]->address, all[i]->address_len),
		     *all[i]->name ? all[i]->name : all[i]->key,
		     *all[i]->name || *all[i]->key ? ": " : "", why[all[i]->reason],
		     ULL(all[i]->count));
	}
}

/* Returns the number of rows. */
static unsigned int rows_fill(struct row *rows, const struct board_states *s,
			      const struct status_names *n)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < s->now.collector.sensors; i++) {
		const struct board_sensor *x = &s->now.sensors[i];

		if (!status_is_named(n, x) || !board_is_shown(x))
			continue;
		rows[count].index = i;
		rows[count].trouble = board_trouble(s, i);
		fill(&rows[count++], s, i);
	}
	return count;
}

const struct status_layout status_all = { 0 };

int status_table(FILE *f, const struct board_states *s, const struct status_names *n,
		 const struct status_layout *l)
{
	struct row *rows = calloc(s->now.collector.sensors + 1, sizeof(*rows));
	struct lines lines = { f, l->rows ? l->rows : -1, l->columns };
	unsigned int count;
	int width[COLUMNS];

	if (!rows)
		return -ENOMEM;
	count = rows_fill(rows, s, n);
	if (l->by_trouble)
		qsort(rows, count, sizeof(*rows), by_trouble);
	widths(width, rows, count);
	summary(&lines, s, n);
	row_print(&lines, &heading, width);
	for (unsigned int i = 0; i < count; i++)
		row_print(&lines, &rows[i], width);
	if (!n->count)
		refused_print(&lines, &s->now);
	free(rows);
	return 0;
}
