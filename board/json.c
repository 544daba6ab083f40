// SPDX-License-Identifier: GPL-2.0
/* JSON: see json.h. */
#include "json.h"

#include "common/json.h"
#include "wire/channel.h"

#define ULL(x) ((unsigned long long)(x))

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

/* ---- interfaces ------------------------------------------------------------------------------ */

/* The share of the time from the interface's first dwell to the end of its last. At most 1, even if
 * dwells overlap. */
static double share(const struct board_interface *i, uint64_t ns)
{
	double part = i->end_ns > i->begin_ns ? (double)ns / (i->end_ns - i->begin_ns) : 0;

	return part < 1 ? part : 1;
}

static void channel(FILE *f, const struct board_interface *i, const struct board_channel *c)
{
	const struct radio_channel radio = { c->mhz, c->width, c->center };
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &radio);
	fprintf(f, "{\"channel\": \"%s\", \"mhz\": %u, \"width\": %u, \"center\": %u", text, c->mhz,
		c->width, c->center);
	fprintf(f, ", \"share\": %.6f", share(i, c->listened_ns));
	number(f, "dwells", c->dwells);
	number(f, "listened_ns", c->listened_ns);
	number(f, "frames", c->frames);
	number(f, "marked", c->marked);
	number(f, "switch_ns", c->switch_ns);
	number(f, "failures", c->failures);
	putc('}', f);
}

static void coverage(FILE *f, const struct board_state *s, uint32_t n)
{
	const struct board_interface *i = &s->interfaces[n];
	uint32_t first = board_first_channel(s, n);

	fprintf(f, ", \"coverage\": {\"from_ns\": %llu", ULL(i->from_ns));
	number(f, "to_ns", i->to_ns);
	number(f, "other_dwells", i->other_dwells);
	fprintf(f, ", \"channels\": [");
	for (uint32_t c = first; c < s->collector.channels && s->channels[c].interface == n; c++) {
		fputs(c > first ? ",\n  " : "", f);
		channel(f, i, &s->channels[c]);
	}
	fprintf(f, "]}");
}

static void interface(FILE *f, const struct board_state *s, uint32_t n)
{
	const struct board_interface *i = &s->interfaces[n];

	fprintf(f, "{\"number\": %u", i->number);
	string(f, "name", i->name);
	string(f, "source", i->source);
	string(f, "keep", i->keep);
	string(f, "filter", i->filter);
	string(f, "link", *i->state ? i->state : "up");
	fprintf(f, ", \"deaf\": %s", board_is_deaf(s, i) ? "true" : "false");
	time_us(f, "last_frame", i->rose_us);
	number(f, "snaplen", i->snaplen);
#define X(name) number(f, #name, i->name);
	TOTALS_INTERFACE_FIELDS(X)
#undef X
	if (i->begin_ns || i->other_dwells)
		coverage(f, s, n);
	putc('}', f);
}

/* ---- sensors --------------------------------------------------------------------------------- */

static void place(FILE *f, const struct board_sensor *s)
{
	if (s->placed & BOARD_PLACED_FLOOR)
		fprintf(f, ", \"floor\": %d", s->floor);
	if (s->placed & BOARD_PLACED_X)
		fprintf(f, ", \"x\": %.3f", s->x);
	if (s->placed & BOARD_PLACED_Y)
		fprintf(f, ", \"y\": %.3f", s->y);
}

static void own(FILE *f, const struct board_sensor *s)
{
	char address[BOARD_ADDRESS_TEXT_MAX], run[17];

	snprintf(run, sizeof(run), "%016llx", ULL(s->run));
	fprintf(f, ", \"listed\": %s", s->listed ? "true" : "false");
	place(f, s);
	time_us(f, "heard", s->heard_us);
	time_us(f, "newest", s->newest_us);
	time_us(f, "shared_key", s->twice_us);
	string(f, "address", board_address(address, s->address, s->address_len));
	string(f, "application", s->application);
	string(f, "run", run);
	number(f, "held", s->held);
	number(f, "held_disk_ns", s->held_disk_ns);
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
}

static void modules(FILE *f, const struct board_state *s, uint32_t i)
{
	uint32_t first = board_first_module(s, i);

	fprintf(f, ", \"modules\": [");
	for (uint32_t n = first; n < s->collector.modules && s->modules[n].sensor == i; n++) {
		fprintf(f, "%s{\"name\": ", n > first ? ", " : "");
		json_string(f, s->modules[n].name);
		number(f, "events", s->modules[n].events);
		time_us(f, "last", s->modules[n].last_us);
		putc('}', f);
	}
	putc(']', f);
}

void board_json_sensor(FILE *f, const struct board_states *s, uint32_t i)
{
	const struct board_state *now = &s->now;
	const struct board_sensor *b = &now->sensors[i];
	uint32_t first = board_first_interface(now, i);

	fprintf(f, "{\"id\": %u", b->id);
	string(f, "name", b->name);
	string(f, "group", b->group);
	string(f, "state", board_presence_word(b->presence));
	string(f, "trouble", board_trouble_word(board_trouble(s, i)));
	own(f, b);
	fprintf(f, ", \"interfaces\": [");
	for (uint32_t n = first; n < now->collector.interfaces && now->interfaces[n].sensor == i;
	     n++) {
		fputs(n > first ? ", " : "", f);
		interface(f, now, n);
	}
	putc(']', f);
	modules(f, now, i);
	putc('}', f);
}

/* ---- saluki-kafka ---------------------------------------------------------------------------- */

static void kafka(FILE *f, const char *name, const struct board_kafka *k)
{
	fprintf(f, ", \"%s\": {\"connected\": %u", name, k->connected);
	string(f, "why", k->why);
	string(f, "topic", k->topic);
	string(f, "brokers", k->brokers);
	time_us(f, "stopped", k->stopped_us);
}

static void sink(FILE *f, const struct board_sink *k)
{
	kafka(f, "sink", &k->kafka);
	number(f, "full", k->full);
	number(f, "waiting", k->waiting);
	number(f, "waiting_bytes", k->waiting_bytes);
	time_us(f, "oldest", k->oldest_us);
#define X(name, help) number(f, #name, k->name);
	BOARD_SINK_COUNTERS(X)
#undef X
	number(f, "acks_ns", k->acks_ns);
	fprintf(f, ", \"acks\": [");
	for (int i = 0; i < BOARD_ACKS; i++)
		fprintf(f, "%s%llu", i ? ", " : "", ULL(k->acks[i]));
	fprintf(f, "]}");
}

static void source(FILE *f, const struct board_source *s)
{
	kafka(f, "source", &s->kafka);
	number(f, "lag", s->lag);
	number(f, "messages", s->messages);
#define X(name, help) number(f, #name, s->name);
	BOARD_SOURCE_COUNTERS(X)
#undef X
	putc('}', f);
}

/* ---- the collector --------------------------------------------------------------------------- */

void board_json_collector(FILE *f, const struct board_state *s)
{
	const struct board_collector *c = &s->collector;

	fprintf(f, "\"board\": %d", BOARD_VERSION);
	string(f, "version", c->version);
	time_us(f, "time", c->time_us);
	time_us(f, "begun", c->begun_us);
	time_us(f, "last_write", c->written_us);
	string(f, "file", c->file);
	number(f, "holding", c->holding);
	number(f, "disk_free", c->disk_free);
	number(f, "disk_size", c->disk_size);
	number(f, "keep_free", c->keep_free);
	number(f, "written_bytes", c->written_bytes);
	number(f, "pool_bytes", c->pool_bytes);
	number(f, "pool_limit", c->pool_limit);
	number(f, "not_shown", c->not_shown);
#define X(name, help) number(f, #name, c->network.name);
	NETWORK_COUNTERS(X)
#undef X
#define X(name, help) number(f, #name, c->name);
	BOARD_COLLECTOR_COUNTERS(X)
#undef X
	if (c->sink.kafka.used)
		sink(f, &c->sink);
	if (c->source.kafka.used)
		source(f, &c->source);
}

void board_json_refused(FILE *f, const struct board_state *s)
{
	fprintf(f, "\"refused\": [");
	for (uint32_t i = 0; i < s->collector.refused; i++) {
		const struct board_refused *r = &s->refused[i];
		char address[BOARD_ADDRESS_TEXT_MAX];

		fprintf(f, "%s{\"reason\": \"%s\"", i ? ",\n " : "", board_reason_word(r->reason));
		string(f, "name", r->name);
		string(f, "key", r->key);
		string(f, "address", board_address(address, r->address, r->address_len));
		time_us(f, "first", r->first_us);
		time_us(f, "last", r->last_us);
		number(f, "count", r->count);
		putc('}', f);
	}
	putc(']', f);
}

static void groups(FILE *f, const struct board_state *s)
{
	fprintf(f, "\"groups\": [");
	for (uint32_t i = 0; i < s->collector.groups; i++) {
		const struct board_group *g = &s->groups[i];

		fprintf(f, "%s{\"name\": ", i ? ",\n " : "");
		json_string(f, g->name);
		string(f, "channels", g->channels);
		number(f, "members", g->members);
		number(f, "present", g->present);
		number(f, "refocused", g->refocused);
		putc('}', f);
	}
	putc(']', f);
}

void board_json(FILE *f, const struct board_states *s,
		bool (*wanted)(const void *arg, const struct board_sensor *s), const void *arg)
{
	const char *comma = "";

	putc('{', f);
	board_json_collector(f, &s->now);
	fprintf(f, ", \"sensors\": [");
	for (uint32_t i = 0; i < s->now.collector.sensors; i++) {
		if (wanted && !wanted(arg, &s->now.sensors[i]))
			continue;
		fputs(comma, f);
		board_json_sensor(f, s, i);
		comma = ",\n ";
	}
	fprintf(f, "], ");
	groups(f, &s->now);
	fprintf(f, ", ");
	board_json_refused(f, &s->now);
	fprintf(f, "}\n");
}
