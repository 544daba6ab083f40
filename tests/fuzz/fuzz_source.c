// SPDX-License-Identifier: GPL-2.0
/* links: wire/progress.o collector/source/take.o collector/source/run.o collector/output/late.o
 * collector/source/roster.o collector/source/records.o collector/source/done.o
 * collector/combo/combos.o collector/combo/runs.o collector/combo/gaps.o collector/combo/progress.o
 * collector/combo/reassemble.o collector/combo/reassemble_pool.o collector/combo/sensor.o
 * collector/output/sensor.o collector/model/ledger.o collector/model/sensors.o
 * collector/model/sensors_file.o collector/model/groups_file.o collector/model/linktypes.o
 * collector/model/sensor_record.o collector/model/coverage.o wire/put.o wire/totals.o wire/info.o
 * wire/dwell.o wire/keys.o wire/channel.o common/log.o */
/*
 * Messages of the log, in any order, with repetitions, holds of the disk and restarts of the
 * connection. Two sensors have two runs each, whose combos are put by two collectors. Always holds:
 * each combo is written at most once; DONE comes in order, and only when the file has the combo;
 * each message is in one counter; each ledger balances. At the end all combos come again: then each
 * one is in the file, and the ledgers count no loss. Malformed messages change nothing of that.
 */
#include "collector/source/take.h"

#include <errno.h>
#include <sys/socket.h>

#include "collector/combo/gaps.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"
#include "collector/output/interfaces.h"
#include "collector/output/output_clock.h"
#include "collector/output/output_flush.h"
#include "collector/output/output_hold.h"
#include "collector/output/sensor.h"
#include "fuzz.h"
#include "wire/put.h"
#include "wire/totals.h"

#define SENSORS 2
#define RUNS 2	  /* of each sensor: with COMBOS, no more gaps than LATE_GAPS */
#define COMBOS 16 /* of each run */
#define MESSAGES_MAX 4096

static struct take take;
static struct sensors sensors;
static struct combos *combos;
static struct output *out;
static struct unpacked unpacked;
static bool hold;
static uint64_t sent, acknowledged, taken;

struct combo_state {
	unsigned int writes; /* into the buffer */
	bool filed;
};
static struct combo_state model[SENSORS][RUNS][COMBOS];
/* The combo of each message; NULL: another message. */
static struct combo_state *carried[MESSAGES_MAX];

static uint32_t frames_of(unsigned int run, uint64_t count)
{
	return (count * 7 + run * 3 + 1) % 5;
}

static uint64_t first_of(unsigned int run, uint64_t count)
{
	uint64_t first = 0;

	while (count)
		first += frames_of(run, --count);
	return first;
}

/* ---- the rooms below ------------------------------------------------------------------------- */

static const struct sensor_run *known_of(uint16_t sensor, uint64_t run);
static struct written_sensor names[SENSORS + 1];

const struct sensor_run *written_find(const struct written *n, uint16_t sensor, uint64_t run)
{
	(void)n;
	return known_of(sensor, run);
}

static const struct sensor_run *known_of(uint16_t sensor, uint64_t run)
{
	CHECK(sensor && sensor <= SENSORS);
	for (unsigned int i = 0; i < names[sensor].count; i++)
		if (names[sensor].runs[i].run == run)
			return &names[sensor].runs[i];
	return NULL;
}

int written_put(struct written *n, uint16_t sensor, uint64_t run, uint64_t next, uint64_t accounted)
{
	struct sensor_run *r = (struct sensor_run *)known_of(sensor, run);

	(void)n;
	if (!r) {
		CHECK(names[sensor].count < WRITTEN_RUNS);
		r = &names[sensor].runs[names[sensor].count++];
		*r = (struct sensor_run){ .run = run };
	}
	r->next = next > r->next ? next : r->next;
	r->accounted = accounted > r->accounted ? accounted : r->accounted;
	return 0;
}

void written_gaps_put(struct written *n, uint16_t sensor, struct late *l)
{
	(void)n;
	CHECK(sensor && sensor <= SENSORS);
	l->changed = false;
}

void written_gaps(struct written *n, uint16_t sensor, struct late *l)
{
	(void)n;
	CHECK(sensor && sensor <= SENSORS && !l->count);
}

static void settle(struct sensor *s)
{
	s->output->settled = s->output->next;
	written_put(NULL, s->id, s->output->run, s->output->next, s->output->accounted);
}

bool output_flush(struct output *o)
{
	struct sensor *s;

	if (hold)
		return false;
	while ((s = o->pending)) {
		o->pending = s->output->next_pending;
		s->output->pending = false;
		ledger_flushed(&s->ledger, true);
		settle(s);
	}
	for (int i = 0; i < SENSORS * RUNS * COMBOS; i++)
		(&model[0][0][0])[i].filed |= (&model[0][0][0])[i].writes > 0;
	o->writes++;
	return true;
}

bool output_is_written(struct output *o, const struct sensor *s)
{
	return !s->output->pending || output_flush(o);
}

void output_run_begin(struct output *o, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted)
{
	CHECK(output_is_written(o, s));
	s->output->run = run;
	s->output->next = s->output->settled = next;
	s->output->accounted = accounted;
}

void output_run_end(struct output *o, struct sensor *s)
{
	CHECK(output_is_written(o, s));
}

void output_passed(struct output *o, struct sensor *s, uint64_t next, uint64_t accounted)
{
	(void)o;
	s->output->next = next;
	s->output->accounted = accounted;
	if (!s->output->pending)
		settle(s);
}

bool output_holds(const struct output *o, const struct sensor *s)
{
	(void)o;
	(void)s;
	return hold;
}

void output_watermark(struct output *o, struct sensor *s, uint64_t before_ns, uint64_t now_ns)
{
	(void)o;
	(void)s;
	(void)before_ns;
	(void)now_ns;
}

void output_offset(struct output *o, struct sensor *s, int64_t ahead_ns, uint64_t round_trip_ns,
		   uint64_t now_ns)
{
	(void)o;
	(void)s;
	(void)ahead_ns;
	(void)round_trip_ns;
	(void)now_ns;
}

void interfaces_describe(struct sensor *s, const struct info *info)
{
	(void)s;
	(void)info;
}

int decompress_init(struct decompress *d)
{
	(void)d;
	return 0;
}

void decompress_free(struct decompress *d)
{
	(void)d;
}

void ahead_stop(struct ahead *a)
{
	(void)a;
}

/* A combo is its run's number, its first frame, and its number of frames. */
struct unpacked *split_unpack(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
			      uint64_t count)
{
	(void)c;
	(void)s;
	if (len != 4 || combo[3] != (uint8_t)count)
		return NULL;
	unpacked.combo = combo;
	unpacked.reader.first = combo[1];
	unpacked.reader.frames = combo[2];
	return &unpacked;
}

/* As in split_combo.c and output.c, for a combo that is written. */
bool split_unpacked(struct combos *c, struct sensor *s, struct unpacked *u, uint64_t count,
		    uint64_t now_ns)
{
	struct combo_state *m;

	(void)now_ns;
	if (hold)
		return false;
	CHECK(!ledger_combo(&s->ledger, u->reader.first, u->reader.frames));
	CHECK(s->output->run == s->ledger.run && u->combo[0] == s->ledger.run - 1);
	m = &model[s->id - 1][u->combo[0]][count];
	CHECK(!m->writes++);
	s->output->next = count + 1;
	s->output->accounted = u->reader.first + u->reader.frames;
	s->ledger.pending += u->reader.frames;
	if (!s->output->pending) {
		s->output->pending = true;
		s->output->next_pending = c->output->pending;
		c->output->pending = s;
	}
	return true;
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	const uint8_t *bytes = data;

	(void)fd;
	(void)flags;
	CHECK(bytes[0] == PUT_DONE && len > 1 && len % 8 == 1 && len <= PUT_DONE_BYTES);
	for (size_t at = 1; at < len; at += 8) {
		uint64_t number = load_be(bytes + at, 8);

		CHECK(number == acknowledged++);
		CHECK(!carried[number] || carried[number]->filed);
	}
	return len;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct sensor_record records[SENSORS][2];

static void make_records(void)
{
	static const char *const texts[] = { "interface.0=a\n", "interface.0=b\nchange=2\n" };

	for (int i = 0; i < SENSORS * 2; i++) {
		struct sensor s = { .id = 1 + i / 2,
				    .info = { .text = (char *)texts[i % 2],
					      .len = strlen(texts[i % 2]) } };

		snprintf(s.name, sizeof(s.name), "s%d", i / 2);
		sensor_record_write(&records[i / 2][i % 2], &s);
	}
}

static void check_ledgers(void)
{
	for (unsigned int i = 0; i < sensors.count; i++)
		CHECK(ledger_balance(&sensors.list[i]->ledger) == 0);
	CHECK(take_sum(&take.counts) == taken);
}

/* Returns whether the message was taken. In a hold, it may have to wait, and does not come again.
 */
static bool put_message(struct put *p, struct combo_state *of)
{
	bool done;

	if (sent == MESSAGES_MAX || done_full(&take.done))
		return false;
	p->number = sent;
	done = take_message(&take, p, 1000000000);
	CHECK(done || hold);
	if (done) {
		carried[sent++] = of;
		taken++;
	}
	check_ledgers();
	return done;
}

static struct put_name name_of(unsigned int sensor, unsigned int run, uint64_t count,
			       enum put_kind kind, unsigned int record)
{
	return (struct put_name){ .kind = kind,
				  .sensor = sensor + 1,
				  .frames = kind == PUT_KIND_COMBO ? frames_of(run, count) : 0,
				  .run = run + 1,
				  .count = count,
				  .first = first_of(run, count),
				  .info = records[sensor][record].hash };
}

static bool put_named(const struct put_name *n, const void *value, size_t len,
		      struct combo_state *of)
{
	uint8_t header[PUT_NAME_LEN];
	const char *key = n->sensor == 1 ? "s0" : "s1";
	void *copy = malloc(len ?: 1);
	struct put p = { .topic = PUT_COMBOS,
			 .key = key,
			 .key_len = 2,
			 .header = header,
			 .header_len = sizeof(header),
			 .value = copy,
			 .value_len = len };
	bool done;

	memcpy(copy, value, len);
	put_name_write(header, n);
	done = put_message(&p, of);
	free(copy);
	return done;
}

static bool put_combo(unsigned int sensor, unsigned int run, uint64_t count, unsigned int record)
{
	struct put_name n = name_of(sensor, run, count, PUT_KIND_COMBO, record);
	uint8_t value[] = { run, n.first, n.frames, count };

	return put_named(&n, value, sizeof(value), &model[sensor][run][count]);
}

/* A combo that contradicts its name. */
static void put_wrong(struct fuzz_input *in, unsigned int sensor, unsigned int run, uint64_t count)
{
	struct put_name n = name_of(sensor, run, count, PUT_KIND_COMBO, 0);
	uint8_t value[] = { run, n.first, n.frames, count };

	switch (fuzz_number(in, 1) % 4) {
	case 0:
		n.first += 1 + fuzz_number(in, 8);
		break;
	case 1:
		n.frames += 1 + fuzz_number(in, 2);
		break;
	case 2:
		n.count ^= 1 + fuzz_number(in, 1) % 255;
		n.count += fuzz_number(in, 7) << 8;
		break;
	default:
		value[3] ^= 1 + fuzz_number(in, 1) % 255;
	}
	if (n.count < COMBOS && value[1] == n.first && value[2] == n.frames && value[3] == n.count)
		return; /* another combo, which is right */
	put_named(&n, value, sizeof(value), NULL);
}

static void put_totals(unsigned int sensor, unsigned int run, uint64_t count, bool final)
{
	struct put_name n = name_of(sensor, run, count, PUT_KIND_TOTALS, 0);
	struct totals t = { .seen = n.first,
			    .captured = n.first,
			    .exported = n.first,
			    .combos = count,
			    .final = final };
	uint8_t value[TOTALS_WIRE_MAX];

	n.first = 0; /* as the sink sends them */
	put_named(&n, value, totals_write(value, &t), NULL);
}

static void put_record(unsigned int sensor, unsigned int record)
{
	const struct sensor_record *r = &records[sensor][record];
	struct put p = { .topic = PUT_SENSORS,
			 .key = r->key,
			 .key_len = strlen(r->key),
			 .value = r->text,
			 .value_len = r->len };

	put_message(&p, NULL);
}

/* Any bytes, as a message or as a message of a sensor. */
static void put_any(struct fuzz_input *in)
{
	size_t len = fuzz_number(in, 1);
	uint8_t *bytes = malloc(len ?: 1);
	struct put p;

	for (size_t i = 0; i < len; i++)
		bytes[i] = fuzz_number(in, 1);
	if (!put_read(&p, bytes, len) && p.topic != PUT_COMBOS)
		put_message(&p, NULL);
	free(bytes);
}

static void step(struct fuzz_input *in)
{
	unsigned int what = fuzz_number(in, 1), which = fuzz_number(in, 1);
	unsigned int sensor = which & 1, run = which >> 1 & 1, count = which >> 2 & 15;

	switch (what & 15) {
	case 0:
		put_wrong(in, sensor, run, count);
		break;
	case 1:
		put_any(in);
		break;
	case 2:
		put_totals(sensor, run, count, false);
		break;
	case 3:
		put_totals(sensor, run, count, true);
		break;
	case 4:
		hold = !hold;
		break;
	case 5:
		CHECK(done_send(&take.done, 3, out) == 0);
		break;
	case 6:
		done_forget(&take.done); /* what has no DONE comes again */
		acknowledged = sent;
		break;
	case 7:
		output_flush(out);
		break;
	default:
		put_combo(sensor, run, count, what >> 4 & 1);
	}
}

/* ---------------------------------------------------------------------------------------------- */

/* The tables of records are large, and each input has the same records. */
static void begin_taking(void)
{
	struct records known;
	struct done numbers;

	if (!take.records.list) {
		CHECK(take_init(&take, combos) == 0);
		roster_free(&take.roster);
	}
	known = take.records;
	numbers = take.done;
	take = (struct take){ .combos = combos, .records = known, .done = numbers };
	done_forget(&take.done);
	CHECK(roster_init(&take.roster, combos) == 0);
}

static void begin(void)
{
	memset(model, 0, sizeof(model));
	memset(names, 0, sizeof(names));
	memset(&sensors, 0, sizeof(sensors));
	sent = acknowledged = taken = 0;
	hold = false;
	out = out ?: malloc(sizeof(*out));
	combos = combos ?: malloc(sizeof(*combos));
	memset(out, 0, offsetof(struct output, buffer));
	memset(combos, 0, sizeof(*combos));
	combos->sensors = &sensors;
	combos->output = out;
	CHECK(combos_init(combos) == 0);
	begin_taking();
	make_records();
	for (int i = 0; i < SENSORS * 2; i++)
		put_record(i / 2, i % 2);
}

static uint64_t written_of(const struct sensor *s)
{
	struct ledger_run all = ledger_sum(&s->ledger);

	CHECK(all.lost_missing == 0 && all.earlier == 0 && all.vanished == 0 && all.lost_disk == 0);
	return all.written;
}

/* Everything comes again, in order. */
static void finish(void)
{
	uint64_t frames = 0;

	hold = false;
	for (unsigned int i = 0; i < SENSORS * RUNS * COMBOS; i++)
		if (!put_combo(i / (RUNS * COMBOS), i / COMBOS % RUNS, i % COMBOS, 0))
			return; /* there were too many messages */
	for (unsigned int i = 0; i < SENSORS * RUNS; i++)
		put_totals(i / RUNS, i % RUNS, COMBOS, true);
	CHECK(output_flush(out) && done_send(&take.done, 3, out) == 0 && acknowledged == sent);
	for (unsigned int i = 0; i < SENSORS * RUNS * COMBOS; i++)
		CHECK((&model[0][0][0])[i].writes == 1);
	for (unsigned int run = 0; run < RUNS; run++)
		frames += first_of(run, COMBOS);
	for (unsigned int i = 0; i < sensors.count; i++)
		CHECK(written_of(sensors.list[i]) == frames);
	CHECK(sensors.count == SENSORS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };

	if (keys_init())
		return 0;
	begin();
	while (in.p < in.end)
		step(&in);
	check_ledgers();
	finish();
	roster_free(&take.roster);
	return 0;
}
