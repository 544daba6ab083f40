// SPDX-License-Identifier: GPL-2.0
/* Take: see take.h. */
#include "take.h"

#include <errno.h>
#include <string.h>

#include "collector/combo/progress.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"
#include "collector/output/output_hold.h"
#include "collector/output/sensor.h"
#include "common/log.h"
#include "run.h"
#include "wire/totals.h"

#define LOG_NS 60000000000ULL
#define FRAMES_MAX (UINT64_MAX / 4) /* of a run */

int take_init(struct take *t, struct combos *c)
{
	*t = (struct take){ .combos = c };
	return records_init(&t->records) ?: roster_init(&t->roster, c) ?: done_init(&t->done);
}

void take_free(struct take *t)
{
	roster_free(&t->roster);
	records_free(&t->records);
	done_free(&t->done);
}

uint64_t take_sum(const struct take_counts *c)
{
	return c->combos + c->repeated + c->bad + c->unknown_record + c->no_place + c->totals +
	       c->records + c->others;
}

void take_moved(struct take *t, uint64_t now_ns)
{
	t->moves++;
	t->moved_ns = now_ns;
}

static bool may_log(uint64_t *logged_ns, uint64_t now_ns)
{
	if (*logged_ns && now_ns - *logged_ns < LOG_NS)
		return false;
	*logged_ns = now_ns;
	return true;
}

void take_bad(struct take *t, const char *what, uint64_t now_ns)
{
	t->counts.bad++;
	if (may_log(&t->bad_logged_ns, now_ns))
		log_line("--source: %s; passed over, %llu such messages so far", what,
			 (unsigned long long)t->counts.bad);
}

/* ---- combos ---------------------------------------------------------------------------------- */

static bool take_repeated(struct take *t, const struct put_name *n)
{
	t->counts.repeated++;
	t->repeated_frames += n->frames;
	return true;
}

static bool take_late(struct take *t, struct roster_entry *e, struct late_gap *gap,
		      struct unpacked *u, const struct put_name *n, uint64_t now_ns)
{
	struct sensor *s = e->sensor;
	struct ledger_run *r = &s->ledger.now;
	struct output_sensor *o = s->output;
	uint64_t accounted = r->accounted, next = o->next, there = o->accounted;
	uint64_t *from = !gap->earlier && r->lost_missing - r->tail >= n->frames ? &r->lost_missing
										 : &r->earlier;
	bool taken;

	if (*from < n->frames)
		return take_repeated(t, n);
	r->accounted = n->first;
	taken = split_unpacked(t->combos, s, u, n->count, now_ns);
	r->accounted = accounted;
	o->next = next;
	o->accounted = there;
	if (!taken)
		return false;
	*from -= n->frames;
	late_fill(&e->late, gap, n);
	t->counts.combos++;
	t->late++;
	return true;
}

/* Another reader had the sensor's partition in between, and counts what is missing in the log. */
static void had_elsewhere(struct sensor *s, struct late_gap *gap)
{
	s->ledger.now.lost_missing -= gap->end - gap->first;
	s->ledger.now.earlier += gap->end - gap->first;
	gap->earlier = true;
}

static bool take_next(struct take *t, struct roster_entry *e, struct unpacked *u,
		      const struct put_name *n, uint64_t now_ns)
{
	struct sensor *s = e->sensor;
	struct totals final;
	bool had_final = run_reopen(s, &final), taken;
	struct late_gap gap = { .run = n->run, .to = n->count, .end = n->first };

	if (!s->output->next && !s->ledger.now.accounted && n->count)
		run_first(t->combos, e, n);
	gap.from = s->output->next;
	gap.first = s->ledger.now.accounted;
	taken = split_unpacked(t->combos, s, u, n->count, now_ns);
	if (had_final)
		run_close_again(s, &final);
	if (!taken)
		return false;
	if (e->moves != t->moves)
		had_elsewhere(s, &gap);
	late_add(&e->late, &gap);
	t->counts.combos++;
	return true;
}

/* Gives the sensor the message's record. Returns 0 or -errno. */
static int describe(struct take *t, struct roster_entry *e, const struct put_name *n)
{
	const struct record *x;

	if (e->info == n->info)
		return 0;
	x = records_find(&t->records, e->sensor->name, n->info);
	return x ? roster_describe(&t->roster, e, x) : -ENOENT;
}

static struct unpacked *open_combo(struct take *t, struct sensor *s, const struct put_name *n,
				   const struct put *p)
{
	struct unpacked *u = split_unpack(t->combos, s, p->value, p->value_len, n->count);

	return u && u->reader.first == n->first && u->reader.frames == n->frames ? u : NULL;
}

/* Counts what a message without a usable record brought. */
static bool take_without(struct take *t, int err, const char *name, const struct put_name *n,
			 uint64_t *logged_ns, uint64_t now_ns)
{
	if (err == -ENOENT) {
		t->counts.unknown_record++;
		if (may_log(logged_ns, now_ns))
			log_line("--source: sensor %s: its record %016llx is not in the log; its "
				 "combos are passed over",
				 name, (unsigned long long)n->info);
	} else if (err == -EBADMSG) {
		take_bad(t, "a sensor's record is malformed", now_ns);
	} else {
		t->counts.no_place++;
	}
	return true;
}

static bool take_bad_combo(struct take *t, struct sensor *s, uint64_t now_ns)
{
	s->ledger.bad_combos++;
	take_bad(t, "a combo is malformed, or contradicts its name", now_ns);
	return true;
}

static bool take_combo(struct take *t, struct roster_entry *e, const struct put_name *n,
		       const struct put *p, uint64_t now_ns)
{
	struct sensor *s = e->sensor;
	struct late_gap *gap = NULL;
	struct unpacked *u;
	struct run_place at;
	int err;

	if (!run_find(t->combos, s, n->run, &at))
		return false;
	if (at.known && n->count < at.next) {
		gap = late_find(&e->late, n);
		if (!gap)
			return take_repeated(t, n);
	}
	if (output_holds(t->combos->output, s))
		return false;
	u = open_combo(t, s, n, p);
	if (!u || (at.known && !gap && n->first < at.accounted))
		return take_bad_combo(t, s, now_ns);
	err = describe(t, e, n);
	if (err)
		return take_without(t, err, s->name, n, &e->logged_ns, now_ns);
	run_switch(t->combos, e, n->run, &at);
	if (!(gap ? take_late(t, e, gap, u, n, now_ns) : take_next(t, e, u, n, now_ns)))
		return false;
	s->ledger.received_bytes += p->value_len;
	s->heard_ns = now_ns;
	if (s->combo->progress.first.before_ns)
		progress_look(t->combos, s, now_ns);
	return true;
}

/* ---- totals ---------------------------------------------------------------------------------- */

static bool take_totals(struct take *t, struct roster_entry *e, const struct put_name *n,
			const struct put *p, uint64_t now_ns)
{
	struct sensor *s = e->sensor;
	struct totals totals;
	struct run_place at;

	if (totals_read(&totals, p->value, p->value_len)) {
		s->ledger.bad_messages++;
		take_bad(t, "a sensor's totals are malformed", now_ns);
		return true;
	}
	if (!run_find(t->combos, s, n->run, &at))
		return false;
	if (run_totals_old(s, n->run, &at, &totals)) {
		t->counts.repeated++;
		return true;
	}
	describe(t, e, n); /* without its record, the sensor keeps its description */
	run_switch(t->combos, e, n->run, &at);
	run_totals(s, &totals);
	t->counts.totals++;
	s->heard_ns = now_ns;
	return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Reads key and header. Returns whether they can be those of a combo or of totals. */
static bool read_named(char name[SENSOR_NAME_MAX], struct put_name *n, const struct put *p)
{
	if (!p->key_len || p->key_len >= SENSOR_NAME_MAX ||
	    put_name_read(n, p->header, p->header_len))
		return false;
	memcpy(name, p->key, p->key_len);
	name[p->key_len] = 0;
	return strlen(name) == p->key_len && sensors_file_name_valid(name) && n->sensor &&
	       n->count < FRAMES_MAX && n->first < FRAMES_MAX;
}

static int find_or_make(struct take *t, struct roster_entry **e, const char *name,
			const struct put_name *n)
{
	const struct record *x;

	*e = roster_find(&t->roster, name, n->sensor);
	if (*e)
		return 0;
	x = records_find(&t->records, name, n->info);
	return x ? roster_make(&t->roster, e, n->sensor, x) : -ENOENT;
}

/* A run that is over makes no progress, and repetitions say what is known. */
static void take_progress(struct take *t, struct sensor *s, const struct put_name *n,
			  const struct put *p, uint64_t now_ns)
{
	struct progress progress;

	if (progress_read(&progress, p->value, p->value_len)) {
		s->ledger.bad_messages++;
		take_bad(t, "a sensor's progress is malformed", now_ns);
	} else if (!s->ledger.runs || n->run != s->ledger.run ||
		   (progress.before_ns && progress.before_ns < s->combo->progress.told_ns)) {
		t->counts.repeated++;
	} else {
		progress_take(t->combos, s, &progress, now_ns);
		t->counts.totals++;
	}
}

static bool take_named(struct take *t, const struct put *p, struct sensor **s, uint64_t now_ns)
{
	char name[SENSOR_NAME_MAX];
	struct roster_entry *e;
	struct put_name n;
	int err;

	if (!read_named(name, &n, p)) {
		take_bad(t, "a message's key or header is malformed", now_ns);
		return true;
	}
	err = find_or_make(t, &e, name, &n);
	if (err)
		return take_without(t, err, name, &n, &t->unknown_logged_ns, now_ns);
	*s = e->sensor;
	if (n.kind == PUT_KIND_COMBO && !take_combo(t, e, &n, p, now_ns))
		return false;
	if (n.kind == PUT_KIND_TOTALS && !take_totals(t, e, &n, p, now_ns))
		return false;
	if (n.kind == PUT_KIND_PROGRESS)
		take_progress(t, e->sensor, &n, p, now_ns);
	if (n.kind == PUT_KIND_COMBO)
		e->moves = t->moves;
	return true;
}

static void take_record(struct take *t, const struct put *p, uint64_t now_ns)
{
	int err = records_put(&t->records, p);

	if (err == -EBADMSG)
		take_bad(t, "a sensor's record is malformed", now_ns);
	else if (err)
		t->counts.no_place++;
	else
		t->counts.records++;
}

bool take_message(struct take *t, const struct put *p, uint64_t now_ns)
{
	struct sensor *s = NULL;

	if (p->topic == PUT_COMBOS) {
		if (!take_named(t, p, &s, now_ns))
			return false;
	} else if (p->topic == PUT_SENSORS) {
		take_record(t, p, now_ns);
	} else {
		t->counts.others++;
	}
	done_add(&t->done, p->number, s, t->combos->output);
	return true;
}
