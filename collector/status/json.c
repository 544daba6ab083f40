// SPDX-License-Identifier: GPL-2.0
/* The sensors as JSON: see print.h. Members have the names of --stats-file. */
#include "print.h"

#include "collector/model/json.h"

#define ULL(x) ((unsigned long long)(x))

static const char *const presences[BOARD_PRESENCES] = { [BOARD_NEVER] = "never",
							[BOARD_UP] = "up",
							[BOARD_SILENT] = "silent",
							[BOARD_ENDED] = "ended" };

static void string(FILE *f, const char *name, const char *text)
{
	fprintf(f, ", \"%s\": ", name);
	json_string(f, text);
}

static void number(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, ", \"%s\": %llu", name, ULL(n));
}

static void time_us(FILE *f, const char *name, uint64_t us)
{
	if (us)
		fprintf(f, ", \"%s\": %llu.%06llu", name, ULL(us / 1000000), ULL(us % 1000000));
	else
		fprintf(f, ", \"%s\": null", name);
}

static void interface(FILE *f, const struct board_interface *i)
{
	fprintf(f, "{\"number\": %u", i->number);
	string(f, "name", i->name);
	string(f, "source", i->source);
	string(f, "keep", i->keep);
	string(f, "filter", i->filter);
	number(f, "snaplen", i->snaplen);
#define X(name) number(f, #name, i->name);
	TOTALS_INTERFACE_FIELDS(X)
#undef X
	putc('}', f);
}

/* `next`: the interfaces are in the sensors' order, and this is the first one not printed. */
static void sensor(FILE *f, const struct board_state *b, uint32_t i, uint32_t next)
{
	const struct board_sensor *s = &b->sensors[i];
	char address[STATUS_ADDRESS_MAX], run[17];

	snprintf(run, sizeof(run), "%016llx", ULL(s->run));
	fprintf(f, "{\"id\": %u", s->id);
	string(f, "name", s->name);
	string(f, "group", s->group);
	string(f, "state", presences[s->presence]);
	fprintf(f, ", \"listed\": %s", s->listed ? "true" : "false");
	time_us(f, "heard", s->heard_us);
	string(f, "address", status_address(address, s));
	string(f, "application", s->application);
	string(f, "run", run);
	number(f, "held", s->held);
	number(f, "round_trip_us", s->round_trip_us);
	number(f, "ahead_us", s->ahead_us);
	number(f, "behind_us", s->behind_us);
#define X(name, help) number(f, #name, s->name);
	BOARD_SENSOR_COUNTERS(X)
#undef X
#define X(name, help) number(f, #name, s->totals.name);
	TOTALS_FIELDS(X)
#undef X
	number(f, "balance", s->balance);
	fprintf(f, ", \"interfaces\": [");
	for (uint32_t n = next; n < b->collector.interfaces && b->interfaces[n].sensor == i; n++) {
		fputs(n > next ? ", " : "", f);
		interface(f, &b->interfaces[n]);
	}
	fprintf(f, "]}");
}

static void collector(FILE *f, const struct board_collector *c)
{
	fprintf(f, "{\"board\": %d", BOARD_VERSION);
	string(f, "version", c->version);
	time_us(f, "time", c->time_us);
	time_us(f, "begun", c->begun_us);
	string(f, "file", c->file);
	number(f, "holding", c->holding);
	number(f, "disk_free", c->disk_free);
	number(f, "keep_free", c->keep_free);
#define X(name, help) number(f, #name, c->network.name);
	NETWORK_COUNTERS(X)
#undef X
#define X(name, help) number(f, #name, c->name);
	BOARD_COLLECTOR_COUNTERS(X)
#undef X
}

int status_json(FILE *f, const struct status_states *s, const struct status_names *n)
{
	const struct board_state *b = &s->now;
	const char *comma = "";
	uint32_t next = 0;

	collector(f, &b->collector);
	fprintf(f, ", \"sensors\": [");
	for (uint32_t i = 0; i < b->collector.sensors; i++) {
		while (next < b->collector.interfaces && b->interfaces[next].sensor < i)
			next++;
		if (!status_is_named(n, &b->sensors[i]))
			continue;
		fputs(comma, f);
		sensor(f, b, i, next);
		comma = ",\n ";
	}
	fprintf(f, "]}\n");
	return 0;
}
