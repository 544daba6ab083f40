// SPDX-License-Identifier: GPL-2.0
/* Statistics: see stats.h. */
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/files/files.h"
#include "common/json.h"
#include "collector/model/sensors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "wire/info.h"
#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/output/sensor.h"

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

void stats_print(const struct network *o, const struct receive *r)
{
	const struct network_counters *c = &o->counters;
	const struct event_log *l = &o->combos->output->lines;

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		const struct ledger *l = &o->sensors->list[i]->ledger;

		if (l->runs)
			print_sensor(o->sensors->list[i]);
		if (l->runs && r->inherited && !l->now.sensor.final)
			log_line("the sensor's last totals did not come: its counters up to "
				 "'captured', and 'dropped', are older than the others");
	}
	if (!r->inherited)
		log_line(
			"datagrams %llu; refused: not ours %llu, not authentic %llu, set-ups %llu, "
			"questions %llu; dropped by kernel %llu",
			ULL(c->datagrams), ULL(c->not_ours), ULL(c->not_authentic),
			ULL(c->limited_set_ups + c->ignored_set_ups), ULL(c->limited_questions),
			ULL(receive_dropped(r)));
	if (l->folder)
		log_line("lines of modules: written %llu, lost %llu, refused %llu, recovered %llu",
			 ULL(l->written), ULL(l->lost), ULL(l->refused), ULL(l->recovered));
}

static void json_coverage(FILE *f, const struct coverage_interface *c)
{
	if (!c)
		return;
	fprintf(f, ", \"coverage\": ");
	coverage_json(f, c);
}

/* Prints the sensor's description in the current run: its clock, its interfaces, and the hook's
 * counts. */
static void json_info(FILE *f, const struct sensor *s)
{
	const struct totals *t = &s->ledger.now.sensor;
	struct info info;

	info_read(&info, s->info.text, s->info.len);
	fprintf(f, ", \"round_trip_us\": %llu, \"ahead_us\": %llu, \"behind_us\": %llu",
		ULL(info.round_trip_us), ULL(info.ahead_us), ULL(info.behind_us));
	fprintf(f, ", \"interfaces\": [");
	for (unsigned int n = 0; n < info.count || n < t->interface_count; n++) {
		const struct totals_interface *own = &t->interfaces[n];

		fprintf(f, "%s{\"name\": ", n ? ", " : "");
		json_string(f, info.interfaces[n].name);
		fprintf(f, ", \"source\": ");
		json_string(f, info.interfaces[n].source);
		fprintf(f, ", \"filter\": ");
		json_string(f, info.interfaces[n].filter);
#define X(name) fprintf(f, ", \"" #name "\": %llu", ULL(own->name));
		TOTALS_INTERFACE_FIELDS(X)
#undef X
		json_coverage(f, coverage_of(s->coverage, n));
		putc('}', f);
	}
	putc(']', f);
}

static void json_sensor(FILE *f, const struct combos *c, const struct sensor *s)
{
	putc('{', f);
	ledger_json(f, s->name, s->id, &s->ledger);
	fprintf(f, ", \"held\": %d, \"held_disk_ns\": %llu", turns_holds(c, s),
		ULL(turns_held_ns(s, monotonic_ns())));
	json_info(f, s);
	putc('}', f);
}

static void json_groups(FILE *f, const struct groups *g)
{
	for (unsigned int i = 0; i < g->count; i++) {
		const struct sensor_group *x = g->list[i];

		fprintf(f,
			"%s{\"name\": \"%s\", \"channels\": \"%s\", \"members\": %u, "
			"\"present\": %u, \"refocused\": %llu}",
			i ? ",\n " : "", x->name, x->list, x->members, x->present,
			ULL(x->refocused));
	}
}

static void json_lines(FILE *f, const struct event_log *l)
{
	fprintf(f,
		", \"lines_written\": %llu, \"lines_lost\": %llu, \"lines_refused\": %llu, "
		"\"lines_recovered\": %llu",
		ULL(l->written), ULL(l->lost), ULL(l->refused), ULL(l->recovered));
}

/* Prints the disk's free space, if limited, and whether the output waits for it. */
static void json_disk(FILE *f, const struct output *out)
{
	fprintf(f, ", \"holds\": %llu, \"holding\": %d", ULL(out->hold.count), out->hold.on);
	if (out->budget.on)
		fprintf(f, ", \"disk_free\": %llu, \"keep_free\": %llu", ULL(out->budget.free),
			ULL(out->budget.keep));
}

static void json(FILE *f, const struct network *o, const struct receive *r, const struct groups *g)
{
	const char *comma = "";
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	fprintf(f, "{\"time\": %lld.%03ld, \"file\": ", (long long)t.tv_sec, t.tv_nsec / 1000000);
	json_string(f, o->combos->output->name);
	fprintf(f, ", \"write_errors\": %llu, \"kernel_dropped\": %llu",
		ULL(o->combos->output->write_errors), ULL(receive_dropped(r)));
	json_disk(f, o->combos->output);
	json_lines(f, &o->combos->output->lines);
#define X(name, help) fprintf(f, ", \"" #name "\": %llu", ULL(o->counters.name));
	NETWORK_COUNTERS(X)
#undef X
	fprintf(f, ", \"sensors\": [");
	for (unsigned int i = 0; i < o->sensors->count; i++) {
		const struct sensor *s = o->sensors->list[i];

		if (!s->ledger.runs)
			continue;
		fputs(comma, f);
		json_sensor(f, o->combos, s);
		comma = ",\n ";
	}
	fprintf(f, "], \"groups\": [");
	json_groups(f, g);
	fprintf(f, "]}\n");
}

void stats_write(const struct network *o, const struct receive *r, const struct groups *g,
		 int files)
{
	static bool logged;
	int err;
	FILE *f = files_new(files, FILES_STATS, &err);

	if (f) {
		json(f, o, r, g);
		err = files_new_done(files, FILES_STATS_DONE, f, ferror(f) ? -errno : 0);
	}
	if (err && !logged)
		log_line("--stats-file: cannot be written: %s", strerror(-err));
	logged = err != 0;
}
