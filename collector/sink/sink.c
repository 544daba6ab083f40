// SPDX-License-Identifier: GPL-2.0
/* Sink: see sink.h. */
#include "sink.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "collector/model/sensor_record.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "wire/bytes.h"
#include "wire/dictionary.h"

#define REFUSED_LOG_NS 60000000000ULL
#define MS_NS 1000000ULL

/* ---- answers --------------------------------------------------------------------------------- */

static void log_refused(struct sink *k, const struct window_entry *e, const char *why)
{
	uint64_t now = monotonic_ns();

	if (k->refused_logged_ns && now - k->refused_logged_ns < REFUSED_LOG_NS)
		return;
	k->refused_logged_ns = now;
	log_line("--sink: the brokers refuse a message of sensor %s, whose frames count as "
		 "refused: %s",
		 e->sensor ? e->sensor->name : "-", why);
}

/* A record that the brokers refuse would hold back its sensor for ever. Readers then count the
 * sensor's combos as those of an unknown sensor, and the line says why. */
static void record_settled(struct sink *k, struct window_entry *e)
{
	struct sink_sensor *p = (struct sink_sensor *)e->part; /* its first member */

	if (--p->records == 0)
		window_release(&k->window, &p->part);
}

static void done(void *arg, uint64_t number, const char *refused)
{
	struct sink *k = arg;
	struct window_entry *e = window_find(&k->window, number);
	struct sink_fate fate;
	struct sensor *s;
	bool combo;

	if (!e)
		return; /* not ours, or twice */
	ack_times_add(&k->acks, monotonic_ns() - e->put_ns);
	k->delivered += !refused;
	k->refused += refused != NULL;
	if (refused)
		log_refused(k, e, refused);
	if (e->record)
		record_settled(k, e);
	s = e->sensor;
	combo = e->combo;
	fate = (struct sink_fate){ e->frames, e->refused, !refused };
	window_remove(&k->window, e);
	if (combo)
		k->settled(k->user, s, &fate);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_dictionary(struct sink *k)
{
	char key[] = "dictionary/2"; /* COMBO_ZSTD_DOT11 */
	struct put p = { .topic = PUT_SENSORS,
			 .key = key,
			 .key_len = strlen(key),
			 .value = dictionary_dot11,
			 .value_len = DICTIONARY_DOT11_LEN };
	struct window_entry *e = window_add(&k->window, NULL, &p, false);

	if (e)
		e->put_ns = monotonic_ns();
}

/* Puts the sensor's record if it is not that of its last combo. Each connection has it again: put
 * connects anew after the topics were missing, and they may have been made again. */
static int put_record(struct sink *k, struct sensor *s, struct sink_sensor *p, uint64_t now_ns)
{
	struct sensor_record r;
	struct window_entry *e;
	struct put m;

	bool again = p->greetings != k->connection.greetings;

	if (p->info && !again && p->info_version == s->info.version &&
	    p->list_version == k->list_version)
		return 0;
	sensor_record_write(&r, s);
	if (r.hash != p->info || again) {
		m = (struct put){ .topic = PUT_SENSORS,
				  .key = r.key,
				  .key_len = strlen(r.key),
				  .value = r.text,
				  .value_len = r.len };
		e = window_add(&k->window, &p->part, &m, false);
		if (!e)
			return -ENOMEM;
		e->sensor = s;
		e->record = true;
		e->put_ns = now_ns;
		p->records++;
	}
	p->info = r.hash;
	p->info_version = s->info.version;
	p->list_version = k->list_version;
	p->greetings = k->connection.greetings;
	return 0;
}

static struct window_entry *put_named(struct sink *k, struct sensor *s, struct sink_sensor *p,
				      const struct put_name *n, struct put *m, uint64_t now_ns)
{
	uint8_t header[PUT_NAME_LEN];
	struct window_entry *e;

	put_name_write(header, n);
	m->topic = PUT_COMBOS;
	m->key = s->name;
	m->key_len = strlen(s->name);
	m->header = header;
	m->header_len = sizeof(header);
	e = window_add(&k->window, &p->part, m, p->records > 0);
	if (!e)
		return NULL;
	/* A one-way sensor does not know its id. */
	if (n->kind == PUT_KIND_COMBO)
		store_be(e->bytes + e->len - m->value_len + 2, s->id, 2);
	e->sensor = s;
	e->put_ns = now_ns;
	e->combo = n->kind == PUT_KIND_COMBO;
	return e;
}

int sink_put(struct sink *k, struct sensor *s, struct sink_sensor *p, const struct sink_combo *c,
	     uint64_t now_ns)
{
	struct put m = { .value = c->bytes, .value_len = c->len };
	struct window_entry *e = NULL;
	struct put_name n;

	if (put_record(k, s, p, now_ns) == 0) {
		n = (struct put_name){ PUT_KIND_COMBO, s->id,	 c->frames, c->run,
				       c->count,       c->first, p->info };
		e = put_named(k, s, p, &n, &m, now_ns);
	}
	if (!e)
		return -ENOMEM;
	e->run = c->run;
	e->count = c->count;
	e->first = c->first;
	e->frames = c->frames;
	e->refused = c->refused;
	return 0;
}

/* Puts a message that is not a combo. Returns whether it was put. */
static bool put_word(struct sink *k, struct sensor *s, struct sink_sensor *p, struct put_name *n,
		     const uint8_t *value, size_t len, uint64_t now_ns)
{
	struct put m = { .value = value, .value_len = len };
	bool done = put_record(k, s, p, now_ns) == 0;

	n->sensor = s->id;
	n->info = p->info;
	done = done && put_named(k, s, p, n, &m, now_ns);
	k->skipped += !done;
	return done;
}

void sink_put_totals(struct sink *k, struct sensor *s, struct sink_sensor *p, uint64_t run,
		     uint64_t next, const uint8_t *totals, size_t len, bool final, uint64_t now_ns)
{
	struct put_name n = { .kind = PUT_KIND_TOTALS, .run = run, .count = next };

	if (run == p->totals_run &&
	    (final ? p->final_put : p->totals_ns && now_ns - p->totals_ns < SINK_TOTALS_NS))
		return;
	if ((final || sink_has_room(k, p)) && put_word(k, s, p, &n, totals, len, now_ns)) {
		p->totals_run = run;
		p->totals_ns = now_ns;
		p->final_put = final;
	}
}

void sink_put_progress(struct sink *k, struct sensor *s, struct sink_sensor *p, uint64_t run,
		       uint64_t next, const uint8_t *progress, size_t len, uint64_t now_ns)
{
	struct put_name n = { .kind = PUT_KIND_PROGRESS, .run = run, .count = next };

	if (p->progress_ns && now_ns - p->progress_ns < SINK_PROGRESS_NS)
		return;
	if (sink_has_room(k, p) && put_word(k, s, p, &n, progress, len, now_ns))
		p->progress_ns = now_ns;
}

void sink_put_ledger(struct sink *k, const struct sensor *s, const char *json, size_t len,
		     uint64_t now_ns)
{
	struct put m = { .topic = PUT_LEDGER,
			 .key = s->name,
			 .key_len = strlen(s->name),
			 .value = json,
			 .value_len = len };
	struct window_entry *e = NULL;

	if (k->window.bytes < WINDOW_BYTES / 2 && len <= PUT_VALUE_MAX)
		e = window_add(&k->window, NULL, &m, false);
	if (e)
		e->put_ns = now_ns;
	k->skipped += !e;
}

/* ---- state ----------------------------------------------------------------------------------- */

int sink_init(struct sink *k)
{
	int err = window_init(&k->window);

	k->connection.sock = -1;
	return err;
}

void sink_free(struct sink *k)
{
	connection_close(&k->connection);
	window_free(&k->window);
}

void sink_sensors_changed(struct sink *k)
{
	k->list_version++;
}

bool sink_is_full(const struct sink *k)
{
	return window_is_full(&k->window);
}

bool sink_has_room(const struct sink *k, const struct sink_sensor *p)
{
	return window_has_room(&k->window, &p->part);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void serve(struct sink *k)
{
	const struct connection_user user = { .arg = k, .done = done };

	connection_serve(&k->connection, &k->window, &user);
	if (k->greetings != k->connection.greetings) {
		k->greetings = k->connection.greetings;
		put_dictionary(k);
	}
}

/* Logs when nothing more fits, and when that is over. */
static void log_full(struct sink *k)
{
	bool full = sink_is_full(k);

	if (full && !k->waits_logged)
		log_line("--sink: %u MB wait for the brokers; sensors keep further frames",
			 WINDOW_BYTES >> 20);
	else if (k->waits_logged && k->window.bytes < WINDOW_BYTES / 4)
		log_line("--sink: combos are taken again");
	else
		return;
	k->waits_logged = full;
}

int sink_tick(struct sink *k)
{
	serve(k);
	log_full(k);
	return connection_timeout(&k->connection);
}

int sink_polled(const struct sink *k, short *events)
{
	return connection_polled(&k->connection, &k->window, events);
}

void sink_finish(struct sink *k, int ms)
{
	uint64_t until = monotonic_ns() + ms * MS_NS;

	while (k->window.count && k->connection.greeted && monotonic_ns() < until) {
		struct pollfd p;

		p.fd = connection_polled(&k->connection, &k->window, &p.events);
		if (poll(&p, 1, monotonic_timeout(until, monotonic_ns())) < 0 && errno != EINTR)
			return;
		serve(k);
	}
}
