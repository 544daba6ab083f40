// SPDX-License-Identifier: GPL-2.0
/* The page's JSON: see api.h. In: the board's state, and the history. */
#include "api.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "board/json.h"
#include "common/json.h"
#include "history.h"

#define SECOND_US 1000000

static void words(FILE *out, const char *name, int count, const char *(*word)(uint32_t))
{
	fprintf(out, ", \"%s\": [", name);
	for (int i = 0; i < count; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", word(i));
	putc(']', out);
}

static const char *trouble_word(uint32_t trouble)
{
	return board_trouble_word(trouble);
}

/* ---- the fleet's rows ------------------------------------------------------------------------ */

static void coordinate(FILE *out, bool given, double metres)
{
	if (given)
		fprintf(out, ",%.1f", metres);
	else
		fprintf(out, ",null");
}

static void place(FILE *out, const struct board_sensor *s)
{
	if (!s->placed)
		return;
	if (s->placed & BOARD_PLACED_FLOOR)
		fprintf(out, ",%" PRId32, s->floor);
	else
		fprintf(out, ",null");
	coordinate(out, s->placed & BOARD_PLACED_X, s->x);
	coordinate(out, s->placed & BOARD_PLACED_Y, s->y);
}

static unsigned int percent(uint64_t part, uint64_t whole)
{
	return whole && part < whole ? part * 100.0 / whole : whole ? 100 : 0;
}

static void row(FILE *out, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *was = board_earlier(s, i);
	uint64_t ns = s->now.collector.interval_ns;
	bool up = now->presence == BOARD_UP;

	fprintf(out, ",%d,%d,%" PRIu64, board_trouble(s, i), now->listed ? (int)now->presence : -1,
		up ? 0 : now->heard_us / SECOND_US);
	fprintf(out, ",%.0f,%.0f",
		was && up ? board_per_second(now->totals.seen, was->totals.seen, ns) : 0,
		was ? board_per_second(board_lost(now), board_lost(was), ns) : 0);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%u", (uint64_t)now->totals.seen,
		board_lost(now), up ? board_ahead_us(now) : 0,
		percent(now->totals.store, now->totals.store_limit));
	place(out, now);
	putc(']', out);
}

static void rows(FILE *out, const struct board_states *s)
{
	const char *group = NULL;

	fprintf(out, ", \"fields\": [\"name\", \"group\", \"trouble\", \"presence\", \"heard\", "
		     "\"seen_rate\", \"lost_rate\", \"seen\", \"lost\", \"clock\", \"store\", "
		     "\"floor\", \"x\", \"y\"]");
	words(out, "troubles", BOARD_TROUBLES, trouble_word);
	words(out, "presences", BOARD_PRESENCES, board_presence_word);
	fprintf(out, ", \"sensors\": [");
	for (uint32_t i = 0; i < s->now.collector.sensors; i++) {
		const struct board_sensor *b = &s->now.sensors[i];

		if (!board_is_shown(b))
			continue;
		fprintf(out, group ? ",\n[" : "[");
		json_string(out, b->name);
		putc(',', out);
		if (group && !strcmp(group, b->group))
			putc('0', out);
		else
			json_string(out, b->group);
		group = b->group;
		row(out, s, i);
	}
	putc(']', out);
}

/* ---- what is wrong with sensors -------------------------------------------------------------- */

static void since(FILE *out, uint64_t us)
{
	fprintf(out, ", \"since\": %" PRIu64, us / SECOND_US);
}

/* The first interface with the sensor's trouble. */
static void note_interface(FILE *out, const struct board_state *s, uint32_t i, bool deaf)
{
	uint32_t n = board_first_interface(s, i);

	for (; n < s->collector.interfaces && s->interfaces[n].sensor == i; n++) {
		const struct board_interface *x = &s->interfaces[n];

		if (deaf ? !board_is_deaf(s, x) : !*x->state)
			continue;
		fprintf(out, ", \"interface\": ");
		json_string(out, x->name);
		fprintf(out, ", \"link\": ");
		json_string(out, x->state);
		if (deaf)
			since(out, x->rose_us);
		return;
	}
}

static bool has_note(enum board_trouble t)
{
	return t == BOARD_DEAF || t == BOARD_LINK_DOWN || t == BOARD_SHARED_KEY ||
	       t == BOARD_UNBALANCED;
}

static void note(FILE *out, const struct board_states *s, uint32_t i, enum board_trouble t)
{
	const struct board_sensor *b = &s->now.sensors[i];

	fprintf(out, "{\"name\": ");
	json_string(out, b->name);
	if (t == BOARD_DEAF || t == BOARD_LINK_DOWN)
		note_interface(out, &s->now, i, t == BOARD_DEAF);
	else if (t == BOARD_SHARED_KEY)
		since(out, b->twice_us);
	else
		fprintf(out, ", \"balance\": %" PRId64, (int64_t)b->balance);
	putc('}', out);
}

static void notes(FILE *out, const struct board_states *s)
{
	const char *comma = "";

	fprintf(out, ", \"notes\": [");
	for (uint32_t i = 0; i < s->now.collector.sensors; i++) {
		enum board_trouble t = board_trouble(s, i);

		if (!has_note(t))
			continue;
		fputs(comma, out);
		note(out, s, i, t);
		comma = ",\n";
	}
	putc(']', out);
}

/* ---- the fleet ------------------------------------------------------------------------------- */

struct fleet_sums {
	struct board_sums of;
	double seen_rate, lost_rate;
	uint64_t newest_us; /* stamp of the newest frame, by the collector's clock */
};

static void sum(struct fleet_sums *x, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *was = board_earlier(s, i);
	uint64_t ns = s->now.collector.interval_ns;
	uint64_t newest_us = now->newest_us ? now->newest_us - board_ahead_us(now) : 0;

	board_sum(&x->of, now);
	if (newest_us > x->newest_us)
		x->newest_us = newest_us;
	if (!was)
		return;
	x->seen_rate += board_per_second(now->totals.seen, was->totals.seen, ns);
	x->lost_rate += board_per_second(board_lost(now), board_lost(was), ns);
}

static void sums(FILE *out, const struct board_states *s)
{
	struct fleet_sums x = { 0 };
	uint64_t now_us = s->now.collector.time_us;

	for (uint32_t i = 0; i < s->now.collector.sensors; i++)
		sum(&x, s, i);
	fprintf(out, ", \"listed\": %u, \"up\": %u, \"unbalanced\": %u", x.of.listed, x.of.up,
		x.of.unbalanced);
	fprintf(out, ", \"seen\": %" PRIu64 ", \"lost\": %" PRIu64, x.of.seen, x.of.lost);
	fprintf(out, ", \"seen_rate\": %.0f, \"lost_rate\": %.0f", x.seen_rate, x.lost_rate);
	if (x.newest_us)
		fprintf(out, ", \"newest_age\": %.1f",
			now_us > x.newest_us ? (now_us - x.newest_us) / 1e6 : 0);
	else
		fprintf(out, ", \"newest_age\": null");
}

int api_fleet(FILE *out, const struct web_look *l, const char *arg)
{
	double rate;

	(void)arg;
	putc('{', out);
	board_json_collector(out, &l->states->now);
	if (l->history && history_fill_rate(l->history, &rate))
		fprintf(out, ", \"fill_rate\": %.0f", rate);
	else
		fprintf(out, ", \"fill_rate\": null");
	sums(out, l->states);
	rows(out, l->states);
	notes(out, l->states);
	fprintf(out, ", ");
	board_json_refused(out, &l->states->now);
	fprintf(out, "}\n");
	return 0;
}

/* ---- one sensor ------------------------------------------------------------------------------ */

static void rates(FILE *out, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i], *was = board_earlier(s, i);
	uint64_t ns = was ? s->now.collector.interval_ns : 0;

	was = was ?: now;
	fprintf(out,
		"{\"seen\": %.0f, \"lost\": %.0f, \"written\": %.0f, \"received_bytes\": %.0f}",
		board_per_second(now->totals.seen, was->totals.seen, ns),
		board_per_second(board_lost(now), board_lost(was), ns),
		board_per_second(now->written, was->written, ns),
		board_per_second(now->received_bytes, was->received_bytes, ns));
}

int api_sensor(FILE *out, const struct web_look *l, const char *arg)
{
	const struct board_states *s = l->states;

	for (uint32_t i = 0; arg && i < s->now.collector.sensors; i++) {
		const struct board_sensor *b = &s->now.sensors[i];

		if (strcmp(b->name, arg) || !board_is_shown(b))
			continue;
		fprintf(out, "{\"time\": %.6f, \"lost\": %" PRIu64 ", \"rates\": ",
			s->now.collector.time_us / 1e6, board_lost(b));
		rates(out, s, i);
		fprintf(out, ", \"sensor\": ");
		board_json_sensor(out, s, i);
		fprintf(out, "}\n");
		return 0;
	}
	return -ENOENT;
}

/* ---- channels -------------------------------------------------------------------------------- */

/* The mean over the sensors of the share of the time, in thousandths. Two radios of a sensor may
 * listen to one channel. */
static unsigned int share(uint64_t listened_ns, uint64_t sensor_ns)
{
	return listened_ns < sensor_ns ? listened_ns * 1000.0 / sensor_ns + 0.5 : 1000;
}

static void channel(FILE *out, const struct history_view *v, const struct history_channel *c)
{
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &c->channel);
	fprintf(out, "{\"channel\": \"%s\", \"mhz\": %u, \"width\": %u, \"share\": [", text,
		c->channel.mhz, c->channel.width);
	for (int i = 0; i < HISTORY_MINUTES; i++)
		if (v->sensor_ns[i])
			fprintf(out, "%s%u", i ? "," : "",
				share(c->minutes[i].listened_ns, v->sensor_ns[i]));
		else
			fprintf(out, "%snull", i ? "," : "");
	fprintf(out, "], \"frames\": [");
	for (int i = 0; i < HISTORY_MINUTES; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", c->minutes[i].frames);
	fprintf(out, "]}");
}

static void groups(FILE *out, const struct web_history *h)
{
	const char *comma = "";

	fprintf(out, ", \"groups\": [");
	for (uint32_t i = 0; i < HISTORY_GROUPS_MAX; i++) {
		const char *name = history_group(h, i);

		if (!name)
			continue;
		fputs(comma, out);
		json_string(out, name);
		comma = ", ";
	}
	putc(']', out);
}

int api_channels(FILE *out, const struct web_look *l, const char *arg)
{
	struct history_view v;
	int err = l->history ? history_view(&v, l->history, arg) : -ENOENT;

	if (err)
		return err;
	fprintf(out, "{\"minute\": %" PRIu64 ", \"not_shown\": %" PRIu64, v.minute * 60,
		v.not_shown);
	groups(out, l->history);
	fprintf(out, ", \"channels\": [");
	for (unsigned int i = 0; i < v.count; i++) {
		fputs(i ? ",\n" : "", out);
		channel(out, &v, &v.channels[i]);
	}
	fprintf(out, "]}\n");
	free(v.channels);
	return 0;
}
