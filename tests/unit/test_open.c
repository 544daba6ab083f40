// SPDX-License-Identifier: GPL-2.0
/* links: collector/open.o collector/reply.o collector/take.o collector/meet.o collector/session.o
 * collector/one_way.o collector/sensors.o collector/sensors_file.o collector/groups_file.o wire/channel.o collector/reassemble.o
 * collector/pool.o collector/ledger.o collector/interfaces.o collector/pcapng.o
 * collector/pcapng_walk.o collector/decompress.o wire/tryst.o wire/shroud.o wire/derive.o
 * wire/keys.o wire/table.o wire/clock_request.o wire/combo.o collector/spool.o wire/spool.o
 * wire/combo_open.o wire/forms.o wire/fields.o wire/dictionary.o wire/info.o wire/totals.o
 * collector/coverage.o collector/event.o collector/said_json.o wire/channel.o wire/dwell.o wire/said.o */
/* Datagrams of sensors and strangers: what the collector takes of them, and what it says to it. */
#include "open_world.h"

static struct end a, b;

static int begin(void **state)
{
	(void)state;
	world_begin();
	end_init(&a, 1, true);
	end_init(&b, 2, true);
	assert_int_equal(open_sensors(o, &file), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_free(&a);
	end_free(&b);
	world_end();
	return 0;
}

static void a_session(void **state)
{
	uint8_t out[MESSAGE_MAX];
	unsigned int since;

	(void)state;
	set_up(&a);
	assert_int_equal(a.welcome.sensor_id, 1);
	assert_int_equal(a.welcome.window, 256);
	assert_int_equal(o->counters.set_ups, 1);
	assert_int_equal(o->counters.sessions, 0);
	since = sent_count;
	say_combo(&a);
	assert_int_equal(o->counters.sessions, 1);
	assert_int_equal(frames_written, 1);
	assert_int_equal(list.list[0]->ledger.run, a.run);
	assert_true(list.list[0]->sessions[list.list[0]->current].confirmed);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 0);
	pass_time(OPEN_ACK_NS);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.highest, 1);
	assert_int_equal(a.ack.taken, 1);
	assert_int_equal(a.ack.settled, 1);
	assert_true(ack_has(&a.ack, 1));
	assert_int_equal(a.ack.flags, 0);
	say_totals(&a, true);
	since = sent_count;
	pass_time(OPEN_ACK_NS);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.flags, ACK_FINAL);
	assert_int_equal(ledger_balance(&list.list[0]->ledger), 0);
}

static void every_sixteenth_is_acknowledged_at_once(void **state)
{
	uint8_t out[MESSAGE_MAX];
	unsigned int since;

	(void)state;
	set_up(&a);
	since = sent_count;
	for (int i = 0; i < OPEN_ACK_EVERY; i++)
		say_combo(&a);
	pass_time(0);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.highest, OPEN_ACK_EVERY);
	assert_null(list.due);
}

/* Nothing that was recorded does anything a second time. */
static void replays(void **state)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX], data[SHROUD_DATAGRAM_MAX];
	size_t m1_len, data_len;
	uint64_t not_ours;
	unsigned int since;

	(void)state;
	set_up(&a);
	memcpy(m1, a.m1, m1_len = a.m1_len);
	say_combo(&a);
	memcpy(data, a.last, data_len = a.last_len);
	pass_time(SECOND);
	since = sent_count;
	not_ours = o->counters.not_ours;
	for (int i = 0; i < 10; i++) {
		from_port(m1, m1_len, 7);
		from_port(data, data_len, 7);
		pass_time(TRYST_INTERVAL_NS);
	}
	assert_int_equal(o->counters.not_ours, not_ours + 20);
	assert_int_equal(sent_count, since);
	assert_int_equal(frames_written, 1);
	assert_int_equal(o->counters.sessions, 1);
}

static void slots_of_neighbours(void **state)
{
	uint64_t present = clock_now_ns / TRYST_INTERVAL_NS;

	(void)state;
	for (uint64_t i = present - 1; i != present + 2; i++) {
		make_m1(&a, i, 5, "");
		from_port(a.m1, a.m1_len, a.port);
		finish(&a);
		clock_now_ns++;
	}
	assert_int_equal(o->counters.set_ups, 3);
	for (int far = -2; far <= 2; far += 4) {
		make_m1(&a, present + far, 5, "");
		from_port(a.m1, a.m1_len, a.port);
	}
	assert_int_equal(o->counters.set_ups, 3);
	assert_int_equal(o->counters.not_ours, 2);
	/* The later neighbour's slots stay as they are when it is the present one. */
	pass_time(TRYST_INTERVAL_NS);
	make_m1(&a, present + 1, 5, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.set_ups, 3);
	make_m1(&a, present + 1, 6, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.set_ups, 4);
}

static uint64_t table_of(uint32_t owner)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < o->table.size; i++)
		count += o->table.entries[i].owner == owner;
	return count;
}

static void slots_turn_and_no_more_are_kept(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(table_of(SENSOR_OWNER(0, SENSOR_SLOTS)), 3 * TRYST_SLOTS);
		pass_time((i + 1) * TRYST_INTERVAL_NS);
	}
	for (int i = 0; i < 40; i++) {
		set_up(&a);
		clock_now_ns++;
		if (i % 8 == 7)
			pass_time(TRYST_INTERVAL_NS);
	}
	assert_int_equal(o->counters.set_ups, 40);
	pass_time(3 * TRYST_INTERVAL_NS);
	assert_int_equal(table_of(SENSOR_OWNER(0, SENSOR_SLOTS)), 3 * TRYST_SLOTS);
}

static void a_clock_that_is_set_back_does_not_go_back(void **state)
{
	uint64_t was = clock_now_ns, time;

	(void)state;
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 3, "");
	pass_time(3 * TRYST_INTERVAL_NS);
	time = meet_time(&o->meet);
	clock_now_ns = was;
	pass_time(0);
	assert_int_equal(meet_time(&o->meet), time);
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.set_ups, 0);
	assert_int_equal(o->counters.not_ours, 1);
	clock_now_ns = time + 5;
	assert_int_equal(meet_time(&o->meet), time + 5);
}

/* It was a year ahead for a moment, and the sensor has used all slots that there were then. */
static void a_clock_that_is_set_back_locks_nobody_out(void **state)
{
	uint64_t was = clock_now_ns, at;

	(void)state;
	clock_now_ns += 365 * 720 * TRYST_INTERVAL_NS;
	pass_time(0);
	at = meet_time(&o->meet) / TRYST_INTERVAL_NS;
	for (unsigned int n = 0; n < 3 * TRYST_SLOTS; n++) {
		make_m1(&a, at - 1 + n / TRYST_SLOTS, n % TRYST_SLOTS, "");
		from_port(a.m1, a.m1_len, a.port);
		pass_time(5 * SECOND / 96);
	}
	clock_now_ns = was;
	for (int i = 0; i < 481; i++)
		pass_time(SECOND);
	assert_int_equal(meet_time(&o->meet) / TRYST_INTERVAL_NS, at + 2);
	make_m1(&a, at + 2, 1, "");
	from_port(a.m1, a.m1_len, a.port);
	finish(&a);
	make_m1(&a, at - 1, 1, ""); /* none comes back */
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.not_ours, 1);
}

/* A recorded set-up that comes again where the memory of spent slots is lost does not drive out the
 * candidate of the sensor's own newer one. */
static void an_older_set_up_does_not_replace_a_newer_one(void **state)
{
	struct end older;
	unsigned int since;

	(void)state;
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 1, "");
	older = a;
	clock_now_ns += SECOND;
	a.slot = 2;
	set_up(&a);
	since = sent_count;
	from_port(older.m1, older.m1_len, 7);
	assert_int_equal(sent_count, since);
	assert_int_equal(o->counters.ignored_set_ups, 1);
	say_combo(&a);
	assert_int_equal(o->counters.sessions, 1);
	assert_int_equal(frames_written, 1);
}

static void an_older_set_up_does_not_replace_a_renewal(void **state)
{
	struct keypair e = { 0 };
	uint8_t message[MESSAGE_RENEW_LEN] = { MESSAGE_RENEW }, out[MESSAGE_MAX], k2[KEY_LEN];
	struct end older;
	unsigned int since;

	(void)state;
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 1, "");
	older = a;
	clock_now_ns += SECOND;
	a.slot = 2;
	set_up(&a);
	say_combo(&a);
	tryst_ephemeral(&e, a.own.secret, clock_now_ns);
	memcpy(message + 1, e.public, KEY_LEN);
	since = sent_count;
	say(&a, message, sizeof(message));
	assert_int_equal(heard(&a, since, MESSAGE_RENEWED, out), 1);
	from_port(older.m1, older.m1_len, 7);
	assert_int_equal(o->counters.ignored_set_ups, 1);
	assert_int_equal(tryst_renew(k2, a.chain, &e, out + 1 + KEY_LEN, true), 0);
	keys_taken(&a, k2);
	say_combo(&a);
	assert_int_equal(o->counters.renewals, 1);
	assert_int_equal(frames_written, 2);
}

static void two_with_the_same_address(void **state)
{
	struct shroud_tx tx;
	uint8_t next[64], zero = 0;

	(void)state;
	set_up(&a);
	set_up(&b);
	say_combo(&a);
	say_combo(&b);
	/* What a will send next is also a slot of b's and a datagram of b's. */
	tx = a.tx;
	shroud_seal(&tx, next, &zero, 1, 0);
	for (int kind = 0; kind < 2; kind++)
		assert_int_equal(table_add(&o->table, load_word(next), SENSOR_OWNER(1, kind), 40),
				 0);
	say_combo(&a);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.not_authentic, 0);
	/* The others are still there: who opens under none of them is not authentic. */
	from_port(next, 40, 7);
	assert_int_equal(o->counters.not_authentic, 1);
	for (int kind = 0; kind < 2; kind++)
		table_remove(&o->table, load_word(next), SENSOR_OWNER(1, kind), 40);
}

static uint64_t bytes_to(uint16_t port, unsigned int since)
{
	uint64_t bytes = 0;

	for (unsigned int i = since; i < sent_count; i++)
		bytes += sent[i % SENT_MAX].port == port ? sent[i % SENT_MAX].len : 0;
	return bytes;
}

static void a_new_address_is_followed_and_confirmed(void **state)
{
	uint8_t out[MESSAGE_MAX];
	uint64_t bytes_from = 0;
	unsigned int since;

	(void)state;
	set_up(&a);
	say_combo(&a);
	pass_time(OPEN_ACK_NS);
	heard(&a, 0, MESSAGE_ACK, out);
	since = sent_count;
	a.port = 77;
	for (int i = 0; i < 6; i++) {
		say_number(&a, MESSAGE_HEARD, 0);
		bytes_from += a.last_len;
		pass_time(OPEN_ACK_NS);
		assert_true(bytes_to(77, since) <= bytes_from);
	}
	assert_int_equal(o->counters.moves, 1);
	assert_true(bytes_to(77, since) > 0);
	assert_int_equal(bytes_to(1000, since), 0);
	assert_int_equal(heard(&a, since, MESSAGE_CHALLENGE, out), 1);
	say_number(&a, MESSAGE_ECHO, load_be(out + 1, 8) + 1);
	assert_false(list.list[0]->sessions[list.list[0]->current].confirmed);
	say_number(&a, MESSAGE_ECHO, load_be(out + 1, 8));
	assert_true(list.list[0]->sessions[list.list[0]->current].confirmed);
}

/* A datagram that somebody holds back and sends from elsewhere moves nothing. */
static void an_overtaken_datagram_is_not_followed(void **state)
{
	uint8_t held[SHROUD_DATAGRAM_MAX], zero[9] = { MESSAGE_HEARD };
	size_t len;

	(void)state;
	set_up(&a);
	say_combo(&a);
	len = shroud_seal(&a.tx, held, zero, sizeof(zero), 0);
	say_combo(&a);
	from_port(held, len, 77);
	assert_int_equal(o->counters.moves, 0);
	assert_int_equal(o->counters.not_ours + o->counters.not_authentic, 0);
}

static void removed_and_listed_again(void **state)
{
	struct sensors_line lines[2];
	struct sensors_file one = { .lines = lines, .count = 1 };
	uint64_t had;

	(void)state;
	memcpy(lines, file.lines, sizeof(lines));
	set_up(&a);
	set_up(&b);
	say_combo(&a);
	say_combo(&b);
	lines[0] = lines[1];
	assert_int_equal(open_sensors(o, &one), 0);
	had = o->counters.not_ours;
	say_combo(&a);
	assert_int_equal(o->counters.not_ours, had + 1);
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 9, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.not_ours, had + 2);
	assert_int_equal(o->table.used,
			 3 * TRYST_SLOTS - 1 + list.list[1]->sessions[0].rx.ahead - 1);
	assert_true(sodium_is_zero(list.list[0]->pair, KEY_LEN));
	say_combo(&b); /* the other one's session goes on */
	assert_int_equal(frames_written, 3);
	assert_int_equal(open_sensors(o, &file), 0);
	a.combos--, a.frames--;
	set_up(&a);
	say_combo(&a);
	assert_int_equal(frames_written, 4);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.list[0]->ledger.runs, 1);
}

static void another_key_ends_the_session(void **state)
{
	struct end was = a;

	(void)state;
	set_up(&was);
	say_combo(&was);
	key_generate(a.own.secret);
	key_public(a.own.public, a.own.secret);
	tryst_pair(a.pair, &a.own, o->meet.own.public, true, NULL);
	memcpy(file.lines[0].public, a.own.public, KEY_LEN);
	assert_int_equal(open_sensors(o, &file), 0);
	say_combo(&was);
	assert_int_equal(frames_written, 1);
	table_init(&a.table, 512);
	a.run++;
	set_up(&a);
	say_combo(&a);
	assert_int_equal(frames_written, 2);
	end_free(&was);
}

static void junk(void **state)
{
	uint8_t random[2048];
	uint64_t used;

	(void)state;
	set_up(&a);
	used = o->table.used;
	for (int i = 0; i < 2000; i++) {
		size_t len = randombytes_uniform(sizeof(random));

		randombytes_buf(random, len);
		from_port(random, len, 7);
	}
	assert_int_equal(o->counters.not_ours, 2000);
	assert_int_equal(o->table.used, used);
	assert_int_equal(sent_count, 1);
}

/* Every byte of a datagram and of a set-up is looked at before anything is done. */
static void one_bit_is_changed(void **state)
{
	uint8_t out[SHROUD_DATAGRAM_MAX], heard_one[9] = { MESSAGE_HEARD };
	struct shroud_tx tx;
	uint64_t refused;
	size_t len;

	(void)state;
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 0, "");
	for (size_t bit = 0; bit < a.m1_len * 8; bit++) {
		a.m1[bit / 8] ^= 1 << bit % 8;
		from_port(a.m1, a.m1_len, 7);
		a.m1[bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(sent_count, 0);
	from_port(a.m1, a.m1_len, a.port);
	finish(&a);
	tx = a.tx;
	len = shroud_seal(&tx, out, heard_one, sizeof(heard_one), 0);
	refused = o->counters.not_ours + o->counters.not_authentic;
	for (size_t bit = 0; bit < len * 8; bit++) {
		out[bit / 8] ^= 1 << bit % 8;
		from_port(out, len, 7);
		out[bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(o->counters.not_ours + o->counters.not_authentic, refused + len * 8);
	assert_int_equal(o->counters.sessions, 0);
}

/* Renews; the RENEW is said `times`. Returns with a's keys the new ones, `was` the old end. */
static void renew(struct end *was, int times)
{
	uint8_t message[MESSAGE_RENEW_LEN] = { MESSAGE_RENEW }, out[MESSAGE_MAX],
		first[MESSAGE_MAX];
	uint8_t k2[KEY_LEN];
	struct keypair e;
	unsigned int since = sent_count;

	tryst_ephemeral(&e, a.own.secret, clock_now_ns);
	memcpy(message + 1, e.public, KEY_LEN);
	for (int i = 0; i < times; i++) {
		say(&a, message, sizeof(message));
		assert_int_equal(heard(&a, since, MESSAGE_RENEWED, out), 1);
		since = sent_count;
		if (i)
			assert_memory_equal(first, out, MESSAGE_RENEWED_LEN);
		memcpy(first, out, MESSAGE_RENEWED_LEN);
	}
	assert_memory_equal(out + 1, e.public, KEY_LEN);
	assert_int_equal(tryst_renew(k2, a.chain, &e, out + 1 + KEY_LEN, true), 0);
	*was = a;
	memset(&a.rx, 0, sizeof(a.rx));
	table_init(&a.table, 512);
	keys_taken(&a, k2);
	a.port++;
}

static void renewal_loses_nothing(void **state)
{
	struct end was;

	(void)state;
	set_up(&a);
	say_combo(&a);
	renew(&was, 3);
	assert_int_equal(o->counters.renewals, 0);
	was.combos++, was.frames++;
	say_combo(&a); /* combo 1, in the new session */
	assert_int_equal(o->counters.renewals, 1);
	assert_int_equal(o->counters.sessions, 1);
	assert_int_equal(frames_written, 2);
	/* What was under way in the old one is taken for a while. */
	say_combo(&was); /* combo 2 */
	assert_int_equal(frames_written, 3);
	pass_time(OPEN_OLD_NS + 1);
	say_combo(&was);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.not_ours, 1);
	assert_int_equal(list.list[0]->old, -1);
	end_free(&was);
	/* And again, from the new chain. */
	a.combos = 3;
	a.frames = 3;
	renew(&was, 1);
	say_combo(&a);
	assert_int_equal(o->counters.renewals, 2);
	assert_int_equal(frames_written, 4);
	end_free(&was);
}

/* What an agent that was replaced has under way is nothing of the next one's run. */
static void the_old_session_is_of_another_run(void **state)
{
	struct end was;

	(void)state;
	set_up(&a);
	say_combo(&a);
	was = a;
	memset(&a.rx, 0, sizeof(a.rx));
	table_init(&a.table, 512);
	a.run++;
	a.combos = a.frames = 0;
	clock_now_ns += SECOND;
	set_up(&a);
	say_combo(&a);
	assert_int_equal(frames_written, 2);
	say_combo(&was);
	assert_int_equal(frames_written, 2);
	assert_int_equal(list.list[0]->reassembly.next, 1);
	assert_int_equal(list.list[0]->ledger.runs, 2);
	end_free(&was);
}

/* Nothing is sent beyond what the sensor knows addresses of. */
static void the_sensor_must_be_heard(void **state)
{
	uint8_t probe[MESSAGE_PROBE_LEN] = { MESSAGE_PROBE }, out[MESSAGE_MAX];
	unsigned int since;

	(void)state;
	set_up(&a);
	since = sent_count;
	for (int i = 0; i < 100; i++)
		say(&a, probe, sizeof(probe));
	assert_int_equal(sent_count - since, shroud_room(0, SHROUD_WINDOW_DOWN));
	assert_int_equal(heard(&a, since, MESSAGE_PROBED, out), shroud_room(0, SHROUD_WINDOW_DOWN));
	say_number(&a, MESSAGE_HEARD, a.rx.highest + 1); /* it cannot have heard that */
	say(&a, probe, sizeof(probe));
	since = sent_count;
	say_number(&a, MESSAGE_HEARD, a.rx.highest);
	say(&a, probe, sizeof(probe));
	assert_int_equal(heard(&a, since, MESSAGE_PROBED, out), 1);
	assert_int_equal(load_be(out + 9, 8), clock_now_ns);
}

static void the_time_is_told(void **state)
{
	uint8_t key[KEY_LEN], keys[210][KEY_LEN], q[SHROUD_DATAGRAM_PADDED];
	unsigned int answered = 0;
	struct sent *answer;
	uint64_t time = 0;

	(void)state;
	assert_int_equal(clock_ask(key, q, CLOCK_REQUEST_MIN, &a.own, o->meet.own.public, 0), 0);
	from_port(q, CLOCK_REQUEST_MIN, a.port);
	answer = last_sent();
	assert_true(answer->len <= CLOCK_REQUEST_MIN);
	assert_int_equal(clock_answered(key, &time, answer->bytes, answer->len), 0);
	assert_int_equal(time, clock_now_ns);
	for (int i = 0; i < 210; i++) {
		clock_ask(keys[i], q, sizeof(q), &a.own, o->meet.own.public, 0);
		from_port(q, sizeof(q), a.port);
	}
	answered = sent_count - 1;
	assert_int_equal(answered, MEET_QUESTIONS_A_SECOND - 1);
	assert_int_equal(o->counters.limited_questions, 210 - answered);
}

static void set_ups_are_limited_and_not_lost(void **state)
{
	(void)state;
	o->meet.second = now_ns / SECOND;
	o->meet.inits = MEET_INITS_A_SECOND;
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 0, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.limited_set_ups, 1);
	assert_int_equal(sent_count, 0);
	pass_time(SECOND);
	from_port(a.m1, a.m1_len, a.port);
	finish(&a);
}

/* What a sensor gave up holds nothing up, and is lost to the frame. */
static void a_floor(void **state)
{
	uint8_t message[MESSAGE_FLOOR_LEN] = { MESSAGE_FLOOR };

	(void)state;
	set_up(&a);
	say_combo(&a);
	a.combos = 5;
	a.frames = 50;
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	store_be(message + 1, 5, 8);
	store_be(message + 9, 50, 8);
	say(&a, message, sizeof(message));
	assert_int_equal(frames_written, 2);
	assert_int_equal(list.list[0]->ledger.now.lost_missing, 49);
	store_be(message + 1, 9, 8);
	store_be(message + 9, 61, 8);
	say(&a, message, sizeof(message));
	say(&a, message, sizeof(message));
	assert_int_equal(list.list[0]->ledger.now.lost_missing, 49 + 10);
	assert_int_equal(list.list[0]->output.settled, 9);
	say(&a, message, 9);
	assert_int_equal(list.list[0]->ledger.bad_messages, 1);
}

/* ---- one way --------------------------------------------------------------------------------- */

/* What is no frame comes in the order of combos, each once, and in no sum of frames. */
static void combos_of_events(void **state)
{
	const uint32_t dwells[] = { 3, 40, 500 };
	struct sensor *s = list.list[0];
	const struct coverage_interface *c;
	struct combo odd;

	(void)state;
	set_up(&a);
	say_combo_of(&a, false, dwells, 2);
	say_combo_of(&a, true, dwells + 2, 1);
	assert_int_equal(combo_init(&odd, COMBO_SIZE_MIN, COMBO_SIZE_MIN), 0);
	combo_event(&odd, 77, "?", 1);
	combo_event(&odd, COMBO_EVENT_DWELL, "?", 1);
	say_filled(&a, &odd);
	assert_int_equal(s->reassembly.next, 3);
	assert_int_equal(s->output.settled, 3);
	assert_int_equal(combos_written, 2); /* the third has nothing to be written */
	assert_int_equal(frames_written, 1);
	assert_int_equal(dwells_output, 3);
	assert_int_equal(frames_in_dwells, 543);
	assert_int_equal(s->ledger.unknown_events, 1);
	assert_int_equal(s->ledger.bad_events, 1);
	assert_int_equal(s->ledger.bad_combos, 0);
	c = coverage_of(s->coverage, 0);
	assert_non_null(c);
	assert_int_equal(c->list[0].frames, 543);
}

/* The last combo may have no frames, so that all frames are here before it is. */
static void the_end_waits_for_events(void **state)
{
	const uint32_t dwell = 9;
	struct totals t = { .seen = 1, .captured = 1, .exported = 1, .combos = 2, .final = 1 };
	uint8_t message[TOTALS_WIRE_MAX];

	(void)state;
	set_up(&a);
	say_combo(&a);
	say(&a, message, totals_write(message, &t));
	pass_time(OPEN_ACK_NS);
	assert_false(list.list[0]->final_confirmed);
	say_combo_of(&a, false, &dwell, 1);
	pass_time(OPEN_ACK_NS);
	assert_true(list.list[0]->final_confirmed);
	assert_int_equal(dwells_output, 1);
}

static void listed_one_way(void)
{
	file.lines[0].one_way = true;
	assert_int_equal(open_sensors(o, &file), 0);
	pass_time(SECOND); /* an m1 is later than the collector's start */
}

static void one_way(void **state)
{
	struct ledger *l;

	(void)state;
	listed_one_way();
	l = &list.list[0]->ledger;
	announce(&a, 0, true);
	assert_int_equal(o->counters.announcements, 1);
	assert_int_equal(o->counters.sessions, 0);
	for (int i = 0; i < 20; i++)
		say_combo(&a);
	assert_int_equal(o->counters.sessions, 1);
	assert_int_equal(frames_written, 20);
	pass_time(SECOND);
	announce(&a, 1, false);
	assert_int_equal(o->counters.announcements, 2);
	say_combo(&a);
	say_totals(&a, true);
	say_floor(&a);
	say_number(&a, MESSAGE_PROBE, 1);
	pass_time(3 * SECOND);
	assert_int_equal(frames_written, 21);
	assert_int_equal(o->counters.sessions, 1);
	assert_int_equal(sent_count, 0); /* whatever it says, nothing goes there */
	assert_int_equal(o->counters.sent, 0);
	assert_true(list.list[0]->final_confirmed);
	assert_int_equal(ledger_balance(l), 0);
	assert_int_equal(l->now.lost_missing, 0);
}

/* What is missing is waited for, and then it is lost. */
static void what_is_lost_one_way(void **state)
{
	struct ledger *l;

	(void)state;
	listed_one_way();
	l = &list.list[0]->ledger;
	announce(&a, 0, true);
	say_combo(&a);
	a.combos++;
	a.frames++;
	for (int i = 0; i < 62; i++)
		say_combo(&a);
	assert_int_equal(frames_written, 1);
	say_floor(&a);
	assert_int_equal(frames_written, 1);
	say_combo(&a); /* the 63rd behind the gap */
	assert_int_equal(frames_written, 1);
	say_combo(&a);
	assert_int_equal(frames_written, 65);
	assert_int_equal(l->now.lost_missing, 1);
	a.combos += 3;
	a.frames += 3;
	say_combo(&a);
	a.combos += 2;
	a.frames += 2;
	say_totals(&a, true);
	say_floor(&a);
	pass_time(SECOND);
	assert_int_equal(frames_written, 65);
	assert_false(list.list[0]->final_confirmed);
	pass_time(2 * SECOND);
	assert_int_equal(frames_written, 66);
	assert_int_equal(l->now.lost_missing, 6);
	assert_true(list.list[0]->final_confirmed);
	assert_int_equal(ledger_balance(l), 0);
	assert_int_equal(ledger_in_flight(l), 0);
}

/* The end comes before what is missing is given up. */
static void the_end_one_way(void **state)
{
	(void)state;
	listed_one_way();
	announce(&a, 0, true);
	say_combo(&a);
	a.combos++;
	a.frames++;
	say_combo(&a);
	open_overdue(o, now_ns);
	assert_int_equal(frames_written, 2);
	assert_int_equal(list.list[0]->ledger.now.lost_missing, 1);
}

static void one_way_of_whom_it_is_not_taken(void **state)
{
	(void)state;
	announce(&a, 0, true);
	say_combo(&a);
	assert_int_equal(o->counters.ignored_set_ups, 1);
	assert_int_equal(o->counters.not_ours, 1);
	assert_int_equal(list.list[0]->candidate, -1);
	listed_one_way();
	a.combos = a.frames = 0;
	announce(&a, 1, true);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	/* No longer: its session is over at once. */
	file.lines[0].one_way = false;
	assert_int_equal(open_sensors(o, &file), 0);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
}

/* Whatever slot there is for it: an m1 that is not later than the last one makes nothing. */
static void recorded_one_way(void **state)
{
	uint64_t then;

	(void)state;
	listed_one_way();
	announce(&a, 0, true);
	say_combo(&a);
	then = clock_now_ns;
	pass_time(SECOND);
	announce(&a, 1, true);
	say_combo(&a);
	assert_int_equal(o->counters.sessions, 2);
	clock_now_ns = then;
	announce(&a, 2, true);
	assert_int_equal(o->counters.ignored_set_ups, 1);
	clock_now_ns = WORLD_START_NS + 59 * SECOND; /* before this collector was there */
	list.list[0]->announced_ns = 0;
	announce(&a, 3, true);
	assert_int_equal(o->counters.ignored_set_ups, 2);
	assert_int_equal(list.list[0]->candidate, -1);
}

/* A gap of more numbers than are known, and of more combos than are waited for. */
static void far_ahead_one_way(void **state)
{
	(void)state;
	listed_one_way();
	announce(&a, 0, true);
	say_combo(&a);
	a.tx.next += 100000;
	a.combos += 5000;
	a.frames += 5000;
	say_combo(&a);
	assert_int_equal(o->counters.not_ours, 1);
	pass_time(SECOND);
	announce(&a, 1, false);
	say_combo(&a);
	say_floor(&a);
	pass_time(3 * SECOND);
	assert_int_equal(frames_written, 2);
	assert_int_equal(list.list[0]->ledger.now.lost_missing, 5001);
	assert_int_equal(o->counters.sessions, 1);
}

/* Says that a's one-way session goes on with its next datagram. */
static void announce_at(uint64_t time_ns)
{
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, a.pair, clock_now_ns / TRYST_INTERVAL_NS);
	a.hello.time_ns = time_ns;
	a.hello.next = a.tx.next;
	a.m1_len = tryst_announce(a.m1, a.pair, slots[a.slot++], &a.hello, 0);
	from_port(a.m1, a.m1_len, a.port);
}

static void another_one_way(void)
{
	struct keypair e;
	uint8_t k2[KEY_LEN];

	file.lines[0].one_way = true;
	assert_int_equal(open_sensors(o, &file), 0);
	tryst_ephemeral(&e, a.own.secret, clock_now_ns);
	a.hello = (struct tryst_hello){ .run = a.run, .window = 256, .flags = TRYST_ONE_WAY };
	memcpy(a.hello.ephemeral, e.public, KEY_LEN);
	assert_int_equal(tryst_one_way(k2, a.pair, &a.hello, e.secret, o->meet.own.public), 0);
	keys_taken(&a, k2);
}

/* What a collector before this one was sent in a session that goes on. */
static void one_way_replays_behind_a_restart(void **state)
{
	uint8_t recorded[3][SHROUD_DATAGRAM_MAX];
	size_t len[3];

	(void)state;
	another_one_way();
	for (int i = 0; i < 3; i++) {
		say_combo(&a);
		memcpy(recorded[i], a.last, len[i] = a.last_len);
	}
	pass_time(SECOND);
	announce_at(clock_now_ns);
	for (int i = 0; i < 3; i++)
		from_port(recorded[i], len[i], a.port);
	assert_int_equal(o->counters.sessions, 0);
	assert_int_equal(frames_written, 0);
	a.combos = a.frames = 0;
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	assert_int_equal(o->counters.not_ours, 6);
}

/* Or whoever had the key once could lock out whoever has it next. */
static void one_way_times_that_cannot_be(void **state)
{
	(void)state;
	another_one_way();
	pass_time(SECOND);
	announce_at(clock_now_ns + 3 * TRYST_INTERVAL_NS);
	assert_int_equal(o->counters.announcements, 0);
	announce_at(clock_now_ns + TRYST_INTERVAL_NS);
	assert_int_equal(o->counters.announcements, 1);
	pass_time(TRYST_INTERVAL_NS + 1);
	announce_at(clock_now_ns);
	assert_int_equal(o->counters.announcements, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
		T(a_session),
		T(every_sixteenth_is_acknowledged_at_once),
		T(replays),
		T(combos_of_events),
		T(the_end_waits_for_events),
		T(slots_of_neighbours),
		T(slots_turn_and_no_more_are_kept),
		T(a_clock_that_is_set_back_does_not_go_back),
		T(a_clock_that_is_set_back_locks_nobody_out),
		T(an_older_set_up_does_not_replace_a_newer_one),
		T(an_older_set_up_does_not_replace_a_renewal),
		T(two_with_the_same_address),
		T(a_new_address_is_followed_and_confirmed),
		T(an_overtaken_datagram_is_not_followed),
		T(removed_and_listed_again),
		T(another_key_ends_the_session),
		T(junk),
		T(one_bit_is_changed),
		T(renewal_loses_nothing),
		T(the_old_session_is_of_another_run),
		T(the_sensor_must_be_heard),
		T(the_time_is_told),
		T(set_ups_are_limited_and_not_lost),
		T(a_floor),
		T(one_way),
		T(what_is_lost_one_way),
		T(the_end_one_way),
		T(one_way_of_whom_it_is_not_taken),
		T(recorded_one_way),
		T(far_ahead_one_way),
		T(one_way_replays_behind_a_restart),
		T(one_way_times_that_cannot_be),
#undef T
	};

	return keys_init() || cmocka_run_group_tests(tests, NULL, NULL);
}
