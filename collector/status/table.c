// SPDX-License-Identifier: GPL-2.0
/* The table of sensors: see print.h. In: two states. Out: a summary, and a row per sensor. */
#include "print.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/duration.h"

enum { NAME, GROUP, STATE, SEEN, KEPT, BYTES, LOST, CLOCK, ADDRESS, VERSION, COLUMNS };

#define CELL_MAX 72
#define NONE "-"
#define DAY_US 86400000000ULL
#define ULL(x) ((unsigned long long)(x))

struct row {
	char cell[COLUMNS][CELL_MAX];
};

static const struct row heading = { { "SENSOR", "GROUP", "STATE", "SEEN/s", "KEPT/s", "BYTES/s",
				      "LOST", "CLOCK", "ADDRESS", "VERSION" } };
static const bool right_aligned[COLUMNS] = {
	[SEEN] = true, [KEPT] = true, [BYTES] = true, [LOST] = true, [CLOCK] = true
};

/* ---- numbers --------------------------------------------------------------------------------- */

bool status_is_named(const struct status_names *n, const struct board_sensor *s)
{
	for (int i = 0; i < n->count; i++)
		if (!strcmp(n->list[i], s->name) || (*s->group && !strcmp(n->list[i], s->group)))
			return true;
	return !n->count;
}

uint64_t status_lost(const struct board_sensor *s)
{
	return s->totals.ring_full + s->totals.copy_failed + s->totals.dropped_send +
	       s->totals.dropped_shutdown + s->vanished + s->lost_missing + s->lost_disk +
	       s->lost_refused;
}

const char *status_address(char out[STATUS_ADDRESS_MAX], const struct board_sensor *s)
{
	const struct sockaddr_in *in = (const void *)s->address;
	const struct sockaddr_in6 *in6 = (const void *)s->address;

	*out = 0;
	if (s->address_len >= sizeof(*in) && in->sin_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, out, STATUS_ADDRESS_MAX);
	else if (s->address_len >= sizeof(*in6) && in6->sin6_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, out, STATUS_ADDRESS_MAX);
	return out;
}

/* Returns the same sensor a state earlier; NULL: there is none. */
static const struct board_sensor *earlier(const struct status_states *s, uint32_t i)
{
	const struct board_sensor *b;

	if (i >= s->before.collector.sensors)
		return NULL;
	b = &s->before.sensors[i];
	return b->id == s->now.sensors[i].id && b->runs == s->now.sensors[i].runs ? b : NULL;
}

static double per_second(uint64_t now, uint64_t before, uint64_t interval_ns)
{
	return interval_ns && now > before ? (now - before) * 1e9 / interval_ns : 0;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Today's time of day, or the date. */
static const char *time_text(char out[32], uint64_t us, uint64_t now_us)
{
	time_t t = us / 1000000;
	struct tm tm;

	if (!localtime_r(&t, &tm) ||
	    !strftime(out, 32, now_us - us < DAY_US ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &tm))
		*out = 0;
	return out;
}

static void state_cell(char *out, const struct board_sensor *s, uint64_t now_us)
{
	char at[32];

	time_text(at, s->heard_us, now_us);
	if (!s->listed)
		snprintf(out, CELL_MAX, "not listed");
	else if (s->presence == BOARD_UP)
		snprintf(out, CELL_MAX, "%s", s->held ? "up, waits for disk" : "up");
	else if (s->presence == BOARD_SILENT)
		snprintf(out, CELL_MAX, "silent since %s", at);
	else if (s->presence == BOARD_ENDED)
		snprintf(out, CELL_MAX, "ended at %s", at);
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

static void clock_cell(char *out, const struct board_sensor *s)
{
	int64_t ahead_us = s->ahead_us - s->behind_us;

	snprintf(out, CELL_MAX, "%+.1f ms", ahead_us / 1e3);
}

static void fill(struct row *r, const struct status_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *was = earlier(s, i);
	uint64_t ns = s->now.collector.interval_ns;
	char address[STATUS_ADDRESS_MAX];

	for (int c = 0; c < COLUMNS; c++)
		strcpy(r->cell[c], NONE);
	snprintf(r->cell[NAME], CELL_MAX, "%s", now->name);
	snprintf(r->cell[GROUP], CELL_MAX, "%s", *now->group ? now->group : NONE);
	state_cell(r->cell[STATE], now, s->now.collector.time_us);
	if (!now->runs)
		return;
	snprintf(r->cell[LOST], CELL_MAX, "%llu", ULL(status_lost(now)));
	snprintf(r->cell[VERSION], CELL_MAX, "%s", *now->application ? now->application : NONE);
	if (*status_address(address, now))
		snprintf(r->cell[ADDRESS], CELL_MAX, "%s", address);
	if (now->presence != BOARD_UP)
		return;
	clock_cell(r->cell[CLOCK], now);
	if (!was)
		return;
	snprintf(r->cell[SEEN], CELL_MAX, "%.0f",
		 per_second(now->totals.seen, was->totals.seen, ns));
	snprintf(r->cell[KEPT], CELL_MAX, "%.0f",
		 per_second(now->totals.captured, was->totals.captured, ns));
	bytes_cell(r->cell[BYTES], per_second(now->received_bytes, was->received_bytes, ns));
}

/* ---- the table ------------------------------------------------------------------------------- */

static void summary(FILE *f, const struct status_states *s, const struct status_names *n)
{
	const struct board_collector *c = &s->now.collector;
	unsigned int listed = 0, up = 0, unbalanced = 0;
	uint64_t lost = 0;
	char since[DURATION_TEXT_LEN];

	for (uint32_t i = 0; i < c->sensors; i++) {
		const struct board_sensor *x = &s->now.sensors[i];

		if (!status_is_named(n, x))
			continue;
		listed += x->listed != 0;
		up += x->listed && x->presence == BOARD_UP;
		lost += status_lost(x);
		unbalanced += x->balance != 0;
	}
	fprintf(f, "saluki-collector %s: runs since %s, writes to %s%s\n", c->version,
		duration_text(since, c->time_us - c->begun_us), c->file,
		c->holding ? ", waits for disk space" : "");
	fprintf(f, "sensors %u of %u up; frames lost %llu; ledger ", up, listed, ULL(lost));
	if (unbalanced)
		fprintf(f, "unbalanced at %u\n\n", unbalanced);
	else
		fprintf(f, "balanced\n\n");
}

static void row_print(FILE *f, const struct row *r, const int *width)
{
	int last = COLUMNS - 1;

	while (last && !width[last])
		last--;
	for (int c = 0; c <= last; c++)
		if (width[c])
			fprintf(f, "%*s%s",
				right_aligned[c] ? width[c]
				: c == last	 ? 0
						 : -width[c],
				r->cell[c], c == last ? "\n" : "  ");
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

int status_table(FILE *f, const struct status_states *s, const struct status_names *n)
{
	struct row *rows = calloc(s->now.collector.sensors + 1, sizeof(*rows));
	unsigned int count = 0;
	int width[COLUMNS];

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->now.collector.sensors; i++) {
		const struct board_sensor *x = &s->now.sensors[i];

		/* One that is not listed any more has its ledger, but no future. */
		if (status_is_named(n, x) && (x->listed || x->runs))
			fill(&rows[count++], s, i);
	}
	widths(width, rows, count);
	summary(f, s, n);
	row_print(f, &heading, width);
	for (unsigned int i = 0; i < count; i++)
		row_print(f, &rows[i], width);
	free(rows);
	return 0;
}
