// SPDX-License-Identifier: GPL-2.0
/*
 * State: see state.h. Lines, in this order:
 *
 *     saluki-state 1
 *     time NS
 *     file OFFSET NAME           where there is one
 *     heard SENSOR SECONDS       for each sensor that was heard,
 *     ended SENSOR SECONDS       or has ended in order
 *     run SENSOR RUN NEXT ACCOUNTED
 *     gap SENSOR RUN FROM TO FIRST END     in a run, with --source (late.h)
 *     end HASH                   of all lines before it
 */
#include "state.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/monotonic.h"

#define HASH_LEN 16
#define SECOND_NS 1000000000ULL
#define LINE_LEN (PATH_MAX + 64)

typedef crypto_generichash_state hash_state;

/* ---- writing --------------------------------------------------------------------------------- */

static void line_write(FILE *f, hash_state *h, const char *line)
{
	crypto_generichash_update(h, (const uint8_t *)line, strlen(line));
	fputs(line, f);
}

static void hash_text(hash_state *h, char text[2 * HASH_LEN + 1])
{
	uint8_t hash[HASH_LEN];

	crypto_generichash_final(h, hash, sizeof(hash));
	sodium_bin2hex(text, 2 * HASH_LEN + 1, hash, sizeof(hash));
}

static void runs_write(FILE *f, hash_state *h, const struct written *n)
{
	char line[128];

	for (int id = 0; id < WRITTEN_SENSORS; id++)
		/* Oldest first: the reader puts each before the others. */
		for (int i = n->of[id] ? (int)n->of[id]->count - 1 : -1; i >= 0; i--) {
			const struct sensor_run *r = &n->of[id]->runs[i];

			snprintf(line, sizeof(line),
				 "run %d %016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", id, r->run,
				 r->next, r->accounted);
			line_write(f, h, line);
		}
}

static void gaps_write(FILE *f, hash_state *h, const struct written *n)
{
	char line[160];

	for (int id = 0; id < WRITTEN_SENSORS; id++)
		for (unsigned int i = 0; n->of[id] && n->of[id]->late && i < n->of[id]->late->count;
		     i++) {
			const struct late_gap *g = &n->of[id]->late->of[i];

			snprintf(line, sizeof(line),
				 "gap %d %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64
				 " %" PRIu64 "\n",
				 id, g->run, g->from, g->to, g->first, g->end);
			line_write(f, h, line);
		}
}

static void heard_line(FILE *f, hash_state *h, int id, const struct sensor_before *x)
{
	char line[64];

	if (!x->heard_s)
		return;
	snprintf(line, sizeof(line), "%s %d %" PRIu32 "\n", x->ended ? "ended" : "heard", id,
		 x->heard_s);
	line_write(f, h, line);
}

static struct sensor_before before_next_start(const struct sensor *s)
{
	uint64_t ago_ns = monotonic_ns() - s->heard_ns;

	if (!s->heard_ns)
		return s->before;
	return (struct sensor_before){ .heard_s = (clock_ns(CLOCK_REALTIME) - ago_ns) / SECOND_NS,
				       .ended = s->final_heard };
}

/* Until state_recall(), what was read is written again. */
static void heard_write(FILE *f, hash_state *h, const struct state *s,
			const struct sensors *sensors)
{
	for (int id = 0; s->sensors && id < STATE_SENSORS; id++)
		heard_line(f, h, id, &s->sensors[id]);
	for (unsigned int i = 0; !s->sensors && i < sensors->count; i++) {
		const struct sensor *x = sensors->list[i];
		struct sensor_before before = before_next_start(x);

		if (x->listed)
			heard_line(f, h, x->id, &before);
	}
}

int state_write(FILE *f, const struct state *s, const struct written *n,
		const struct sensors *sensors)
{
	char line[LINE_LEN], text[2 * HASH_LEN + 1];
	hash_state h;

	crypto_generichash_init(&h, NULL, 0, HASH_LEN);
	line_write(f, &h, "saluki-state 1\n");
	snprintf(line, sizeof(line), "time %" PRIu64 "\n", s->floor_ns);
	line_write(f, &h, line);
	if (s->file[0] && !strchr(s->file, '\n')) {
		snprintf(line, sizeof(line), "file %" PRIu64 " %s\n", s->offset, s->file);
		line_write(f, &h, line);
	}
	heard_write(f, &h, s, sensors);
	runs_write(f, &h, n);
	gaps_write(f, &h, n);
	hash_text(&h, text);
	fprintf(f, "end %s\n", text);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Takes a line about when a sensor was heard. Returns whether it is one. */
static bool heard_take(const char *line, struct state *s, bool keep)
{
	struct sensor_before x = { .ended = !strncmp(line, "ended ", 6) };
	unsigned int id;

	if ((!x.ended && strncmp(line, "heard ", 6)) ||
	    sscanf(line + 6, "%u %" SCNu32, &id, &x.heard_s) != 2 || id >= STATE_SENSORS)
		return false;
	if (keep && !s->sensors)
		s->sensors = calloc(STATE_SENSORS, sizeof(*s->sensors));
	if (s->sensors) /* without memory, it is forgotten */
		s->sensors[id] = x;
	return true;
}

/* Takes a line about a gap. Returns whether it is one. Without memory, it is forgotten. The frames
 * count as `earlier` in the next process. */
static bool gap_take(const char *line, struct written *n)
{
	struct late_gap g = { .earlier = true };
	unsigned int sensor;

	if (sscanf(line, "gap %u %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &sensor,
		   &g.run, &g.from, &g.to, &g.first, &g.end) != 6 ||
	    sensor >= WRITTEN_SENSORS)
		return false;
	if (n)
		written_gap_put(n, sensor, &g);
	return true;
}

/* Returns 0 or -EBADMSG. `n` NULL: only checks. */
static int line_take(char *line, struct state *s, struct written *n)
{
	uint64_t run, next, accounted;
	unsigned int sensor;
	int at = 0;

	if (heard_take(line, s, n) || gap_take(line, n))
		return 0;
	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "time %" SCNu64, &s->floor_ns) == 1)
		return 0;
	if (sscanf(line, "file %" SCNu64 " %n", &s->offset, &at) == 1 && at) {
		snprintf(s->file, sizeof(s->file), "%s", line + at);
		return 0;
	}
	if (sscanf(line, "run %u %" SCNx64 " %" SCNu64 " %" SCNu64, &sensor, &run, &next,
		   &accounted) != 4 ||
	    sensor >= WRITTEN_SENSORS)
		return -EBADMSG;
	return n ? written_put(n, sensor, run, next, accounted) : 0;
}

/* Reads the whole file. Returns 0 if its hash is right. */
static int lines_read(FILE *f, struct state *s, struct written *n)
{
	char line[LINE_LEN], text[2 * HASH_LEN + 1];
	hash_state h;
	int err = 0;

	rewind(f);
	crypto_generichash_init(&h, NULL, 0, HASH_LEN);
	for (int number = 0; fgets(line, sizeof(line), f) && !err; number++) {
		if (!strncmp(line, "end ", 4)) {
			hash_text(&h, text);
			return strncmp(line + 4, text, 2 * HASH_LEN) ? -EBADMSG : 0;
		}
		crypto_generichash_update(&h, (const uint8_t *)line, strlen(line));
		if (number == 0)
			err = strcmp(line, "saluki-state 1\n") ? -EBADMSG : 0;
		else
			err = line_take(line, s, n);
	}
	return err ? err : -EBADMSG; /* it has no end */
}

int state_read(FILE *f, struct state *s, struct written *n)
{
	struct state checked = { 0 };
	int err;

	memset(s, 0, sizeof(*s));
	if (getc(f) == EOF)
		return -ENOENT;
	/* Reads twice: names are taken only from a complete file. */
	err = lines_read(f, &checked, NULL);
	if (err)
		return err;
	return lines_read(f, s, n);
}

void state_recall(struct state *s, const struct sensors *sensors)
{
	for (unsigned int i = 0; s->sensors && i < sensors->count; i++) {
		struct sensor *x = sensors->list[i];

		x->before = s->sensors[x->id];
		if (x->before.ended)
			x->presence = SENSOR_ENDED; /* it is no news */
	}
	free(s->sensors);
	s->sensors = NULL;
}
