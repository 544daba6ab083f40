// SPDX-License-Identifier: GPL-2.0
/*
 * Prints a table of stations, ordered by airtime: every --every seconds the changes, and at the end
 * the totals. In: on the sensor, the maps of airtime.bpf.c. Elsewhere, its events from any number
 * of sensors, whose time stamps are then the clock. Out: standard output.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "airtime.h"
#include "../wifi.h"

#define NAME_LEN 64
#define EVERY_S 10

static const char what[] =
	"Prints how long each station was on the air, what share that is, and how many of its\n"
	"frames it had to send again.";

/* A station or a channel. `before`: the values when the last table was printed. */
struct row {
	char where[NAME_LEN]; /* sensor:interface; "" on the sensor */
	__u8 addr[6];
	bool is_channel;
	__u32 began;			     /* airtime_event.began */
	struct airtime now, before, earlier; /* `earlier`: counted before `began` */
};

/* Limit of rows: an attacker can send from any number of made-up addresses. */
#define ROWS_MAX 32768
#define INDEX (4 * ROWS_MAX)

struct table {
	const struct wifi_options *options;
	struct row *rows;
	__u32 *index; /* hash table of row numbers, from 1; 0: empty */
	size_t count;
	__u64 left_out;		   /* events without a row */
	__u64 from_ns, printed_ns; /* by the events' clock, or this machine's */
	bool has_maps;
	int stations, channels;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static __u32 row_hash(const char *where, const __u8 *addr, bool is_channel)
{
	__u64 hash = 0xcbf29ce484222325ULL + is_channel; /* FNV-1a */

	for (; *where; where++)
		hash = (hash ^ (__u8)*where) * 0x100000001b3ULL;
	for (int i = 0; i < 6; i++)
		hash = (hash ^ addr[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}

static bool row_is(const struct row *r, const char *where, const __u8 *addr, bool is_channel)
{
	return r->is_channel == is_channel && !memcmp(r->addr, addr, 6) && !strcmp(r->where, where);
}

/* Returns the place in the index of the key's number, or where it should be stored. */
static __u32 *row_place(struct table *t, const char *where, const __u8 *addr, bool is_channel)
{
	__u32 at = row_hash(where, addr, is_channel);
	__u32 *place = &t->index[at % INDEX];

	while (*place && !row_is(&t->rows[*place - 1], where, addr, is_channel))
		place = &t->index[++at % INDEX];
	return place;
}

/* Rebuilds the index after the rows were sorted. */
static void rows_index(struct table *t)
{
	memset(t->index, 0, INDEX * sizeof(*t->index));
	for (size_t i = 0; i < t->count; i++)
		*row_place(t, t->rows[i].where, t->rows[i].addr, t->rows[i].is_channel) = i + 1;
}

/* Returns NULL, and counts it, if there is no room for another row. */
static struct row *row_find(struct table *t, const char *where, const __u8 *addr, bool is_channel)
{
	__u32 *place = row_place(t, where, addr, is_channel);
	struct row *r;

	if (*place)
		return &t->rows[*place - 1];
	if (t->count == ROWS_MAX) {
		t->left_out++;
		return NULL;
	}
	r = &t->rows[t->count];
	*place = ++t->count;
	snprintf(r->where, sizeof(r->where), "%s", where);
	memcpy(r->addr, addr, 6);
	r->is_channel = is_channel;
	return r;
}

static void add(struct airtime *a, const struct airtime *b)
{
	a->frames += b->frames;
	a->unicast += b->unicast;
	a->retries += b->retries;
	a->bytes += b->bytes;
	a->unknown += b->unknown;
	a->air_ns += b->air_ns;
}

/* Returns `now` minus `before`. */
static struct airtime since(const struct airtime *now, const struct airtime *before)
{
	struct airtime d = *now;

	d.frames -= before->frames;
	d.unicast -= before->unicast;
	d.retries -= before->retries;
	d.bytes -= before->bytes;
	d.unknown -= before->unknown;
	d.air_ns -= before->air_ns;
	return d;
}

/* A new `began`: the kernel evicted the entry for another one and has started again at 0. */
static void row_take(struct row *r, __u32 began, struct airtime now)
{
	if (r->began != began)
		r->earlier = r->now;
	r->began = began;
	add(&now, &r->earlier);
	r->now = now;
}

/* ---- what comes in --------------------------------------------------------------------------- */

static int map_read(struct table *t, int map, bool is_channel)
{
	union {
		struct airtime_station station;
		__u32 mhz;
	} key, next;
	const void *last = NULL;
	struct airtime a;

	while (!bpf_map_get_next_key(map, last, &next)) {
		__u8 addr[6] = { 0 };
		struct row *r;

		key = next;
		last = &key;
		if (bpf_map_lookup_elem(map, &key, &a)) /* the entry was just evicted */
			continue;
		memcpy(addr, &key, is_channel ? sizeof(key.mhz) : sizeof(addr));
		r = row_find(t, "", addr, is_channel);
		if (!r)
			continue;
		row_take(r, a.begin_ns / 1000000, a);
		t->from_ns = is_channel && (!t->from_ns || a.begin_ns < t->from_ns) ? a.begin_ns
										    : t->from_ns;
	}
	return errno == ENOENT ? 0 : -errno;
}

static int maps_read(struct table *t)
{
	int err = map_read(t, t->channels, true);

	err = err ? err : map_read(t, t->stations, false);
	if (err)
		fprintf(stderr, "airtime: cannot read its maps: %s\n", strerror(-err));
	return err;
}

static void event_take(struct table *t, const struct consumer_event *from)
{
	const struct airtime_event *e = from->data;
	char where[NAME_LEN];
	__u64 begin_ns;
	struct row *r;

	if (from->len != sizeof(*e)) {
		fprintf(stderr, "airtime: an event of %u bytes is none of this airtime's\n",
			from->len);
		return;
	}
	snprintf(where, sizeof(where), "%.31s%s%.31s", from->sensor, *from->sensor ? ":" : "",
		 from->interface);
	r = row_find(t, where, e->addr, false);
	if (!r)
		return;
	begin_ns = from->time_ns - e->lasted_ms * 1000000ULL;
	if (!t->from_ns || begin_ns < t->from_ns)
		t->from_ns = begin_ns;
	row_take(r, e->began,
		 (struct airtime){ .frames = e->frames,
				   .unicast = e->unicast,
				   .retries = e->retries,
				   .bytes = e->bytes,
				   .unknown = e->unknown,
				   .air_ns = e->air_ns,
				   .mhz = e->mhz,
				   .signal_dbm = e->signal_dbm });
}

/* ---- what goes out --------------------------------------------------------------------------- */

static int by_air(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	__u64 x_ns = x->now.air_ns - x->before.air_ns, y_ns = y->now.air_ns - y->before.air_ns;

	if (x->is_channel != y->is_channel)
		return x->is_channel ? -1 : 1;
	return x_ns < y_ns ? 1 : x_ns > y_ns ? -1 : 0;
}

static double percent(__u64 part, __u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_json(const struct row *r, const struct airtime *a, const char *kind,
		       __u64 lasted_ns)
{
	struct wifi_text where = wifi_name(r->where, strlen(r->where));

	printf("{\"event\": \"%s\", \"where\": \"%s\", ", kind, where.text);
	if (r->is_channel)
		printf("\"channel\": %u, ", a->mhz);
	else
		printf("\"station\": \"%s\", \"mhz\": %u, \"signal_dbm\": %d, ",
		       wifi_mac(r->addr).text, a->mhz, a->signal_dbm);
	printf("\"seconds\": %.3f, \"frames\": %llu, \"unicast\": %llu, \"retries\": %llu, "
	       "\"bytes\": %llu, \"unknown\": %llu, \"air_us\": %.1f, \"air_percent\": %.3f}\n",
	       lasted_ns / 1e9, a->frames, a->unicast, a->retries, a->bytes, a->unknown,
	       a->air_ns / 1e3, percent(a->air_ns, lasted_ns));
}

static void print_text(const struct row *r, const struct airtime *a, __u64 lasted_ns)
{
	static const __u8 nobody[6];
	struct wifi_text name = wifi_mac(r->addr), where = wifi_name(r->where, strlen(r->where));

	if (r->is_channel)
		snprintf(name.text, sizeof(name.text), "all on %u MHz", a->mhz);
	else if (!memcmp(r->addr, nobody, 6))
		strcpy(name.text, "(ACK, CTS)");
	printf("%-20s %5u %8llu %7.1f%% %10.1f %7.3f%% %8llu  %s\n", name.text, a->mhz, a->frames,
	       percent(a->retries, a->unicast), a->air_ns / 1e6, percent(a->air_ns, lasted_ns),
	       a->unknown, where.text);
}

/* Prints the changes since the last table, or at the end the totals. */
static void print(struct table *t, __u64 now_ns, bool is_last)
{
	__u64 lasted_ns = now_ns - (is_last ? t->from_ns : t->printed_ns);

	if (is_last)
		for (size_t i = 0; i < t->count; i++)
			t->rows[i].before = (struct airtime){ 0 };
	qsort(t->rows, t->count, sizeof(*t->rows), by_air);
	rows_index(t);
	if (!t->options->json)
		printf("%s %.1f s\n%-20s %5s %8s %8s %10s %8s %8s\n", is_last ? "all:" : "last",
		       lasted_ns / 1e9, "station", "MHz", "frames", "retries", "air ms", "of time",
		       "unknown");
	for (size_t i = 0; i < t->count; i++) {
		struct row *r = &t->rows[i];
		struct airtime a = since(&r->now, &r->before);

		r->before = r->now;
		if (!a.frames)
			continue;
		if (t->options->json)
			print_json(r, &a, is_last ? "all" : "last", lasted_ns);
		else
			print_text(r, &a, lasted_ns);
	}
	t->printed_ns = now_ns;
	fflush(stdout);
}

/* ---- */

static __u64 interval_ns(const struct table *t)
{
	return t->options->every_s * 1000000000ULL;
}

/* On the sensor, maps are read every --every seconds, and events are ignored. */
static int follow_maps(struct table *t, struct consumer *c)
{
	__u64 now_ns = t->printed_ns = consumer_clock(CLOCK_MONOTONIC);
	struct consumer_event e;
	int err = 0;

	while (!err && !wifi_stop) {
		__u64 next_ns = t->printed_ns + interval_ns(t);

		err = consumer_next(c, &e, now_ns < next_ns ? (next_ns - now_ns) / 1000000 + 1 : 0);
		now_ns = consumer_clock(CLOCK_MONOTONIC);
		if (err < 0)
			break;
		err = now_ns >= next_ns ? maps_read(t) : 0;
		if (!err && now_ns >= next_ns)
			print(t, now_ns, false);
	}
	if (err && err != -ENODATA)
		return err;
	err = maps_read(t);
	if (!err && t->count)
		print(t, now_ns, true);
	return err;
}

static int follow_events(struct table *t, struct consumer *c)
{
	struct consumer_event e;
	__u64 now_ns = 0;
	int err = 0;

	while (!wifi_stop && (err = consumer_next(c, &e, -1)) >= 0) {
		if (!err)
			continue;
		now_ns = e.time_ns > now_ns ? e.time_ns : now_ns;
		event_take(t, &e);
		if (!t->printed_ns)
			t->printed_ns = t->from_ns;
		if (now_ns - t->printed_ns >= interval_ns(t))
			print(t, now_ns, false);
	}
	if (err && err != -ENODATA)
		return err;
	if (t->count)
		print(t, now_ns, true);
	return 0;
}

int main(int argc, char **argv)
{
	static struct consumer c;
	struct wifi_options o = { .every_s = EVERY_S };
	struct table t = { .options = &o };
	int status = wifi_options(&o, argc, argv, "airtime", what, "between tables (default 10)");
	int err;

	if (status >= 0)
		return status;
	wifi_signals();
	t.rows = calloc(ROWS_MAX, sizeof(*t.rows));
	t.index = calloc(INDEX, sizeof(*t.index));
	if (!t.rows || !t.index) {
		fprintf(stderr, "airtime: no memory for %d stations\n", ROWS_MAX);
		return 1;
	}
	err = consumer_open(&c, "airtime");
	t.stations = consumer_map(&c, "stations");
	t.channels = consumer_map(&c, "channels");
	t.has_maps = t.stations >= 0 && t.channels >= 0;
	err = err ? err : t.has_maps ? follow_maps(&t, &c) : follow_events(&t, &c);
	if (t.left_out)
		fprintf(stderr, "airtime: more than %d stations: %llu times one was in no row\n",
			ROWS_MAX, t.left_out);
	free(t.rows);
	free(t.index);
	consumer_close(&c);
	return fflush(stdout) || err ? 1 : 0;
}
