// SPDX-License-Identifier: GPL-2.0
/* Report: see report.h. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector/model/sensors.h"
#include "collector/network/sensor.h"
#include "common/log.h"
#include "wire/info.h"

#define ULL(x) ((unsigned long long)(x))

static void print_coverage(FILE *f, const struct sensor *s)
{
	struct info info;

	info_read(&info, s->info.text, s->info.len);
	for (unsigned int n = 0; n < INFO_INTERFACES_MAX; n++) {
		const struct coverage_interface *c = coverage_of(s->coverage, n);
		const char *name = info.interfaces[n].name;
		char number[12], before[SENSOR_NAME_MAX + 80];

		if (!c)
			continue;
		snprintf(number, sizeof(number), "%u", n);
		snprintf(before, sizeof(before), "%s %s: ", s->name, *name ? name : number);
		coverage_print(f, before, c);
	}
}

static void print_sensor(const struct sensor *s)
{
	char *lines = NULL;
	size_t len;
	FILE *f = open_memstream(&lines, &len);

	if (!f)
		return;
	ledger_print(f, s->name, &s->ledger);
	if (s->coverage)
		print_coverage(f, s);
	if (!fclose(f))
		log_report(lines);
	free(lines);
}

#define UNAWARE_MAX 8 /* names of a line */

/* While the collector has two keys: the sensors that know only the old one, as far as known. */
static void print_keys(const struct network *o)
{
	char names[UNAWARE_MAX * (SENSOR_NAME_MAX + 2)] = "";
	unsigned int listed = 0, unaware = 0;
	size_t len = 0;

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		const struct sensor *s = o->sensors->list[i];

		listed += s->listed;
		if (!s->listed || s->network->knows_key || unaware++ >= UNAWARE_MAX)
			continue;
		len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", s->name);
	}
	log_line("keys: %u of %u sensors know the first --key%s%s%s", listed - unaware, listed,
		 unaware ? "; not known of " : "", names, unaware > UNAWARE_MAX ? ", ..." : "");
}

static void print_source(const struct source *s)
{
	char *line = NULL;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return;
	source_print(s, f);
	if (!fclose(f))
		log_report(line);
	free(line);
}

void report_print(const struct network *o, const struct receive *r, const struct source *s)
{
	const struct network_counters *c = &o->counters;
	const struct event_log *l = &o->combos->output->lines;
	unsigned int running = 0;

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		const struct ledger *l = &o->sensors->list[i]->ledger;

		if (l->runs)
			print_sensor(o->sensors->list[i]);
		running += l->runs && !l->now.sensor.final;
	}
	if (running && r->inherited)
		log_line("the sensor's last totals did not come: its counters up to "
			 "'captured', and 'dropped', are older than the others");
	else if (running)
		log_line("sensors that still run: %u; 'seen' to 'captured' are older than the "
			 "rest",
			 running);
	if (s)
		print_source(s);
	else if (!r->inherited)
		log_line(
			"datagrams %llu; refused: not ours %llu, not authentic %llu, set-ups %llu, "
			"questions %llu; dropped by kernel %llu",
			ULL(c->datagrams), ULL(c->not_ours), ULL(c->not_authentic),
			ULL(c->limited_set_ups + c->ignored_set_ups), ULL(c->limited_questions),
			ULL(receive_dropped(r)));
	if (o->handshake.two_keys)
		print_keys(o);
	if (l->folder)
		log_line("lines of modules: written %llu, lost %llu, refused %llu, recovered %llu",
			 ULL(l->written), ULL(l->lost), ULL(l->refused), ULL(l->recovered));
}
