/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A collector without network and files, and simulated sensors. Shared by the tests of handshake.c
 * and session_receive.c. The collector's datagrams are kept; its writes are counted.
 */
#ifndef TESTS_UNIT_SESSION_RECEIVE_WORLD_H
#define TESTS_UNIT_SESSION_RECEIVE_WORLD_H

#include "unit.h"

#include <sodium.h>

#include "collector/combo/intake.h"
#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/network/handshake_candidate.h"
#include "collector/network/sensor.h"
#include "collector/network/sensor_list.h"
#include "collector/network/sensor_sessions.h"
#include "collector/network/session_receive.h"
#include "collector/network/timers.h"
#include "collector/output/sensor.h"
#include "wire/progress.h"
#include "wire/totals.h"

#define WORLD_START_NS (1000000ULL * TRYST_INTERVAL_NS) /* protocol time */
#define SECOND 1000000000ULL
#define SENT_MAX 256

static struct network *o;
static struct sensors list;
static struct output *output;
static struct combos *combos;
static struct sensors_file file;
static uint64_t now_ns, clock_now_ns;
static uint64_t frames_written, combos_written, dwells_output, frames_in_dwells;

/* ---- the collector's datagrams --------------------------------------------------------------- */

static struct sent {
	uint8_t bytes[SHROUD_DATAGRAM_MAX];
	size_t len;
	uint16_t port;
} sent[SENT_MAX];
static unsigned int sent_count;

/* The address parameter is a union in the GNU C library and a pointer in musl. */
#ifdef __GLIBC__
#define ADDRESS __CONST_SOCKADDR_ARG
#define ADDRESS_OF(to) ((to).__sockaddr__)
#else
#define ADDRESS const struct sockaddr *
#define ADDRESS_OF(to) (to)
#endif

ssize_t sendto(int fd, const void *data, size_t len, int flags, ADDRESS to, socklen_t to_len)
{
	const struct sockaddr_in *a = (const struct sockaddr_in *)ADDRESS_OF(to);
	struct sent *s = &sent[sent_count++ % SENT_MAX];

	(void)fd;
	(void)flags;
	assert_true(to_len >= sizeof(*a) && len <= sizeof(s->bytes));
	memcpy(s->bytes, data, len);
	s->len = len;
	s->port = ntohs(a->sin_port);
	return len;
}

static struct sent *last_sent(void)
{
	assert_true(sent_count > 0);
	return &sent[(sent_count - 1) % SENT_MAX];
}

/* ---- the collector's output ------------------------------------------------------------------ */

static const struct sensor_run *known_run; /* from an earlier collector's file */

const struct sensor_run *written_find(const struct written *n, uint16_t sensor, uint64_t run)
{
	(void)n;
	(void)sensor;
	return known_run && known_run->run == run ? known_run : NULL;
}

void output_run_begin(struct output *out, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted)
{
	(void)out;
	s->output->run = run;
	s->output->next = s->output->settled = next;
	s->output->accounted = accounted;
}

void output_run_end(struct output *out, struct sensor *s)
{
	(void)out;
	(void)s;
}

static bool disk_is_full, no_turns;
static const struct sensor *over_budget;

bool output_holds(const struct output *out, const struct sensor *s)
{
	(void)out;
	return disk_is_full || s == over_budget;
}

bool output_is_written(struct output *out, const struct sensor *s)
{
	(void)out;
	(void)s;
	return true;
}

bool output_holds_all(const struct output *out)
{
	(void)out;
	return disk_is_full;
}

void output_sink_combo(struct output *out, struct sensor *s, const struct combo_name *name,
		       const uint8_t *combo, size_t len, uint64_t now)
{
	(void)out, (void)s, (void)name, (void)combo, (void)len, (void)now;
}

void output_progress(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		     uint64_t now)
{
	(void)out, (void)s, (void)message, (void)len, (void)now;
}

void output_totals(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		   bool final, uint64_t now)
{
	(void)out, (void)s, (void)message, (void)len, (void) final, (void)now;
}

bool output_reserve(struct output *out, const struct combo_name *name, size_t bytes, uint64_t now)
{
	(void)out;
	(void)name;
	(void)bytes;
	(void)now;
	return !disk_is_full;
}

void output_combo(struct output *out, struct sensor *s, struct combo_name name)
{
	(void)out;
	combos_written++;
	s->output->next = s->output->settled = name.count + 1;
	sensors_due(&list, s, now_ns);
}

void output_combo_end(struct output *out, struct sensor *s, uint64_t now)
{
	(void)out;
	(void)s;
	(void)now;
}

void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted)
{
	(void)out;
	(void)accounted;
	s->output->next = s->output->settled = next;
}

void output_dwell(struct output *out, struct sensor *s, const struct dwell *d, uint64_t now)
{
	(void)out;
	(void)s;
	(void)now;
	dwells_output++;
	frames_in_dwells += d->frames;
}

static struct clock_readings readings_output; /* the last ones */
static const struct combo_frame *readings_before;

void output_readings(struct output *out, struct sensor *s, const struct clock_readings *r,
		     const struct combo_frame *f, uint64_t now)
{
	(void)out;
	(void)s;
	(void)now;
	readings_output = *r;
	readings_before = f;
}

static unsigned int marks_output;
static uint64_t mark_output;
static int64_t offset_output;

void output_watermark(struct output *out, struct sensor *s, uint64_t before_ns, uint64_t now)
{
	(void)out;
	(void)s;
	(void)now;
	marks_output++;
	mark_output = before_ns;
}

void output_offset(struct output *out, struct sensor *s, int64_t ahead_ns, uint64_t round_trip_ns,
		   uint64_t now)
{
	(void)out;
	(void)s;
	(void)round_trip_ns;
	(void)now;
	offset_output = ahead_ns;
}

void output_module_event(struct output *out, struct sensor *s, const struct module_event *said,
			 unsigned int number, uint64_t now)
{
	(void)out;
	(void)s;
	(void)said;
	(void)number;
	(void)now;
}

void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f, uint64_t now)
{
	(void)out;
	(void)f;
	(void)now;
	s->ledger.now.written++;
	frames_written++;
}

/* ---- sensors --------------------------------------------------------------------------------- */

struct end {
	unsigned int to; /* the collector's key that it uses */
	struct keypair own;
	uint8_t pair[KEY_LEN];
	struct tryst_asked asked;
	struct tryst_hello hello;
	struct tryst_welcome welcome;
	struct shroud_tx tx;
	struct shroud_rx rx;
	struct table table;
	uint8_t chain[KEY_LEN];
	uint16_t port;
	uint64_t run, combos, frames;
	uint8_t instance[TRYST_INSTANCE_LEN];
	unsigned int slot; /* the next free slot */
	uint8_t m1[SHROUD_DATAGRAM_MAX];
	size_t m1_len;
	uint8_t last[SHROUD_DATAGRAM_MAX]; /* the last datagram */
	size_t last_len;
	struct ack ack; /* the last one */
};

static uint64_t world_clock(void)
{
	return clock_now_ns;
}

static uint64_t world_monotonic(void)
{
	return now_ns;
}

static void from_port(const uint8_t *in, size_t len, uint16_t port)
{
	struct sockaddr_storage a = { 0 };
	struct sockaddr_in *in4 = (struct sockaddr_in *)&a;
	uint8_t copy[2048];

	in4->sin_family = AF_INET;
	in4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in4->sin_port = htons(port);
	memcpy(copy, in, len);
	session_receive_batch(
		o, &(struct datagram){ copy, len, (struct sockaddr *)&a, sizeof(*in4), now_ns }, 1);
	if (!no_turns)
		turns_all(combos, now_ns);
}

static void pass_time(uint64_t ns)
{
	now_ns += ns;
	clock_now_ns += ns;
	turns_tick(combos, now_ns);
	while (timers_tick(o, now_ns) == 0)
		;
	turns_all(combos, now_ns);
	timers_tick(o, now_ns);
}

static void end_init(struct end *e, unsigned int id, bool listed)
{
	struct sensors_line *l;

	memset(e, 0, sizeof(*e));
	key_generate(e->own.secret);
	key_public(e->own.public, e->own.secret);
	assert_int_equal(tryst_pair(e->pair, &e->own, o->handshake.own[e->to].public, true, NULL),
			 0);
	assert_int_equal(table_init(&e->table, 512), 0);
	e->port = 1000 * id;
	e->run = 0x1000 + id;
	if (!listed)
		return;
	file.lines = realloc(file.lines, (file.count + 1) * sizeof(*file.lines));
	l = &file.lines[file.count++];
	memset(l, 0, sizeof(*l));
	snprintf(l->name, sizeof(l->name), "sensor%u", id);
	l->id = id;
	memcpy(l->public, e->own.public, KEY_LEN);
}

static void end_free(struct end *e)
{
	shroud_rx_free(&e->rx, &e->table);
	table_free(&e->table);
}

static void world_begin(void)
{
	memset(sent, 0, sizeof(sent));
	sent_count = 0;
	disk_is_full = no_turns = false;
	over_budget = NULL;
	known_run = NULL;
	frames_written = combos_written = dwells_output = frames_in_dwells = 0;
	marks_output = mark_output = offset_output = readings_output.count = 0;
	now_ns = 1000 * SECOND;
	clock_now_ns = WORLD_START_NS + 60 * SECOND;
	o = calloc(1, sizeof(*o));
	output = calloc(1, sizeof(*output));
	memset(&list, 0, sizeof(list));
	combos = calloc(1, sizeof(*combos));
	assert_int_equal(combos_init(combos), 0);
	combos->sensors = &list;
	combos->output = output;
	for (int i = 0; i < 2; i++) {
		key_generate(o->handshake.own[i].secret);
		key_public(o->handshake.own[i].public, o->handshake.own[i].secret);
	}
	o->handshake.clock = world_clock;
	o->handshake.monotonic = world_monotonic;
	o->sensors = &list;
	o->combos = combos;
	sensor_list_init(o, 0);
}

static void world_end(void)
{
	sensor_list_free(o);
	combos_free(combos);
	free(combos);
	sensors_file_free(&file);
	free(o);
	free(output);
}

/* Writes an m1 in slot `j` of `interval`. */
static void make_m1(struct end *e, uint64_t interval, unsigned int j, const char *info)
{
	uint64_t slots[TRYST_SLOTS];
	long n;

	tryst_slots(slots, e->pair, interval);
	e->hello = (struct tryst_hello){
		.run = e->run, .time_ns = clock_now_ns, .window = 256, .info_len = strlen(info)
	};
	strcpy((char *)e->hello.info, info);
	memcpy(e->hello.instance, e->instance, sizeof(e->instance));
	n = tryst_init(&e->asked, e->m1,
		       &(struct tryst_keys){ &e->own, o->handshake.own[e->to].public, e->pair },
		       slots[j], &e->hello, 0);
	assert_true(n > 0);
	e->m1_len = n;
}

static void keys_taken(struct end *e, uint8_t k2[KEY_LEN])
{
	struct shroud_keys up, down;

	tryst_session(k2, &up, &down, e->chain);
	shroud_tx_init(&e->tx, &up);
	shroud_rx_free(&e->rx, &e->table);
	assert_int_equal(shroud_rx_init(&e->rx, &e->table, &down, 1, SHROUD_WINDOW_DOWN), 0);
}

/* Opens the last m2 sent. */
static void finish(struct end *e)
{
	struct sent *m2 = last_sent();
	uint8_t k2[KEY_LEN];

	assert_int_equal(m2->port, e->port);
	assert_true(m2->len <= e->m1_len);
	assert_int_equal(tryst_finish(&e->asked, &e->own, &e->welcome, k2, m2->bytes, m2->len), 0);
	keys_taken(e, k2);
}

static void set_up(struct end *e)
{
	make_m1(e, clock_now_ns / TRYST_INTERVAL_NS, e->slot++ % TRYST_SLOTS, "interface.0=mon0\n");
	from_port(e->m1, e->m1_len, e->port);
	finish(e);
}

/* Sends the m1 of a one-way session in slot `j`: of a new session, or the same again. */
static void announce(struct end *e, unsigned int j, bool fresh)
{
	struct keypair ephemeral;
	uint64_t slots[TRYST_SLOTS];
	uint8_t k2[KEY_LEN];

	if (fresh) {
		tryst_ephemeral(&ephemeral, e->own.secret, clock_now_ns);
		memcpy(e->hello.ephemeral, ephemeral.public, KEY_LEN);
		e->hello.run = e->run;
		assert_int_equal(tryst_one_way(k2, e->pair, &e->hello, ephemeral.secret,
					       o->handshake.own[e->to].public),
				 0);
		keys_taken(e, k2);
		e->welcome.sensor_id = 0;
	}
	e->hello.flags = TRYST_ONE_WAY;
	e->hello.window = 4096;
	e->hello.time_ns = clock_now_ns;
	e->hello.info_len = 0;
	e->hello.next = e->tx.next;
	tryst_slots(slots, e->pair, clock_now_ns / TRYST_INTERVAL_NS);
	e->m1_len = tryst_announce(e->m1, e->pair, slots[j], &e->hello, 0);
	from_port(e->m1, e->m1_len, e->port);
}

static void say(struct end *e, const uint8_t *message, size_t len)
{
	e->last_len = shroud_seal(&e->tx, e->last, message, len, 0);
	from_port(e->last, e->last_len, e->port);
}

static void say_totals(struct end *e, bool final)
{
	struct totals t = {
		.seen = e->frames, .captured = e->frames, .exported = e->frames, .final = final
	};
	uint8_t message[TOTALS_WIRE_MAX];

	say(e, message, totals_write(message, &t));
}

static void say_number(struct end *e, uint8_t kind, uint64_t number)
{
	uint8_t message[9] = { kind };

	store_be(message + 1, number, 8);
	say(e, message, sizeof(message));
}

static void say_floor(struct end *e)
{
	uint8_t message[MESSAGE_FLOOR_LEN] = { MESSAGE_FLOOR };

	store_be(message + 1, e->combos, 8);
	store_be(message + 9, e->frames, 8);
	say(e, message, sizeof(message));
}

/* Sends the combo as filled, in one datagram. */
static void say_filled(struct end *e, struct combo *c)
{
	uint8_t message[MESSAGE_MAX];
	size_t len;

	c->first = e->frames;
	e->frames += c->frames;
	combo_close(c);
	len = COMBO_HEADER_LEN + COMBO_CODEC_LEN + c->body_len;
	piece_header_write(message, e->combos, 0, len);
	combo_header_write(message + PIECE_HEADER_LEN, e->welcome.sensor_id, e->combos++, c->frames,
			   c->body_len);
	message[PIECE_HEADER_LEN + COMBO_HEADER_LEN] = COMBO_STORED;
	memcpy(message + PIECE_HEADER_LEN + COMBO_HEADER_LEN + COMBO_CODEC_LEN, c->body,
	       c->body_len);
	say(e, message, PIECE_HEADER_LEN + len);
	combo_free(c);
}

/* Sends a combo with one frame if `frame`, and dwells with these frame counts. */
static void say_combo_of(struct end *e, bool frame, const uint32_t *dwells, unsigned int count)
{
	uint8_t data[20] = { 1, 2, 3 }, bytes[DWELL_MAX];
	struct combo_frame f = {
		.time_ns = 1, .orig_len = 20, .kept_len = 20, .linktype = 1, .data = data
	};
	struct combo c;

	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, COMBO_SIZE_MIN), 0);
	if (frame)
		combo_append(&c, &f);
	for (unsigned int n = 0; n < count; n++) {
		struct dwell d = { .mhz = 2412,
				   .width = 20,
				   .center = 2412,
				   .from_ns = 5,
				   .to_ns = 6,
				   .frames = dwells[n] };

		combo_event(&c, COMBO_EVENT_DWELL, bytes, dwell_write(bytes, &d));
	}
	say_filled(e, &c);
}

static void say_combo(struct end *e)
{
	say_combo_of(e, true, NULL, 0);
}

/* Opens the collector's datagrams from number `since` on. Returns how many messages of `kind` are
 * for this sensor; the last one is in `out`. */
static unsigned int heard(struct end *e, unsigned int since, uint8_t kind, uint8_t out[MESSAGE_MAX])
{
	uint8_t message[SHROUD_DATAGRAM_MAX];
	unsigned int count = 0;

	for (unsigned int i = since; i < sent_count; i++) {
		struct sent *s = &sent[i % SENT_MAX];
		const struct table_entry *t = table_find(&e->table, load_word(s->bytes), NULL);
		uint64_t number;
		long n;

		if (!t)
			continue;
		n = shroud_open(&e->rx, &e->table, t->low, &number, message, s->bytes, s->len);
		if (n <= 0)
			continue;
		if (message[0] == MESSAGE_ACK)
			assert_int_equal(ack_read(&e->ack, message, n), 0);
		if (message[0] == kind) {
			memcpy(out, message, n);
			count++;
		}
	}
	return count;
}

#endif
