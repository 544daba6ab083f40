// SPDX-License-Identifier: GPL-2.0
/* links: collector/network/session_receive.o collector/network/sensor_sessions.o
 * collector/network/sensor_list.o collector/network/timers.o collector/network/handshake_admit.o
 * collector/network/handshake_requests.o collector/network/handshake_replays.o
 * collector/network/refusals.o collector/network/refused_list.o collector/network/wrong_key.o
 * collector/network/log_limit.o
 * collector/network/connections.o
 * collector/network/handshake_slots.o collector/network/handshake_candidate.o
 * collector/network/handshake_one_way.o collector/network/session_send.o
 * collector/network/messages.o collector/combo/intake.o collector/combo/gaps.o
 * collector/combo/split.o collector/combo/split_combo.o collector/model/module_counts.o
 * collector/combo/runs.o
 * collector/network/sensor.o collector/combo/sensor.o collector/output/sensor.o
 * collector/combo/combos.o collector/network/handshake_forward.o collector/combo/frame_check.o
 * collector/model/linktypes.o collector/combo/pseudo_header.o collector/network/handshake.o
 * collector/network/session.o collector/combo/one_way.o collector/model/sensors.o
 * collector/model/sensors_file.o collector/model/groups_file.o wire/channel.o
 * collector/combo/reassemble.o collector/combo/reassemble_pool.o collector/combo/turns.o
 * collector/output/budget.o collector/model/free_space.o collector/model/ledger.o
 * collector/output/interfaces.o collector/output/pcapng.o collector/output/pcapng_walk.o
 * pcapng/combo_name.o collector/combo/decompress.o collector/combo/unpack.o collector/combo/ahead.o
 * collector/combo/ahead_plan.o wire/tryst.o wire/shroud.o wire/derive.o wire/keys.o wire/table.o
 * wire/request.o wire/combo.o wire/columns.o collector/combo/forward.o wire/spool.o
 * wire/combo_open.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o wire/wired_next.o wire/fields.o wire/dictionary.o wire/info.o wire/totals.o
 * collector/model/coverage.o collector/combo/event.o collector/output/event_json.o wire/channel.o
 * wire/dwell.o wire/module_event.o wire/clock_readings.o wire/progress.o
 * collector/combo/progress.o */
/* Datagrams from sensors and strangers: which ones the collector takes, and its answers. */
#include "session_receive_world.h"

static struct end a, b;

static void say_progress(struct end *e, uint64_t exported, uint64_t before_ns, int64_t ahead_ns)
{
	const struct progress p = { exported, before_ns, ahead_ns, ahead_ns ? 7 : 0 };
	uint8_t message[PROGRESS_WIRE_MAX];

	say(e, message, progress_write(message, &p));
}

/* A reader may learn of a watermark only when it has the frames. */
static void watermarks_wait_for_their_frames(void **state)
{
	(void)state;
	set_up(&a);
	say_progress(&a, 0, 50, -5);
	assert_int_equal(mark_output, 50);
	assert_int_equal(offset_output, -5);
	say_progress(&a, 2, 100, 0);
	say_combo(&a);
	assert_int_equal(mark_output, 50);
	say_combo(&a);
	assert_int_equal(mark_output, 100);
	for (int i = 1; i < 9; i++)
		say_progress(&a, 2 + i, 100 + i, 0);
	assert_int_equal(mark_output, 100);
	say_combo(&a);
	assert_int_equal(mark_output, 101); /* the oldest one is kept, and the newest one */
	for (int i = 0; i < 6; i++)
		say_combo(&a);
	assert_int_equal(mark_output, 101);
	say_combo(&a);
	assert_int_equal(mark_output, 108);
	assert_int_equal(marks_output, 4);
	say_progress(&a, 10, 108, 0); /* nothing new */
	assert_int_equal(marks_output, 4);
	assert_int_equal(offset_output, -5);
}

/* Frames that will not come do not delay it. */
static void watermarks_and_lost_frames(void **state)
{
	(void)state;
	set_up(&a);
	say_progress(&a, 5, 100, 0);
	a.combos = 3;
	a.frames = 5;
	say_floor(&a);
	assert_int_equal(mark_output, 0);
	say_progress(&a, 5, 200, 0);
	assert_int_equal(mark_output, 200);
}

static void a_malformed_progress_is_counted(void **state)
{
	uint8_t message[3] = { MESSAGE_PROGRESS };

	(void)state;
	set_up(&a);
	say(&a, message, sizeof(message));
	assert_int_equal(list.list[0]->ledger.bad_messages, 1);
	assert_int_equal(marks_output, 0);
}

static void put_readings(struct combo *c, int64_t raw)
{
	const struct clock_readings r = { 1, { { 5, 6, raw } } };
	uint8_t bytes[CLOCK_READING_WIRE_MAX];

	combo_event(c, COMBO_EVENT_CLOCK, bytes, clock_readings_write(bytes, &r));
}

/* They use a frame's interface block. Without any they have no place, which is no error. */
static void readings_need_a_block(void **state)
{
	const uint8_t data[20] = { 1 };
	const struct combo_frame f = {
		.time_ns = 9, .orig_len = 20, .kept_len = 20, .linktype = 1, .data = data
	};
	struct combo c;

	(void)state;
	set_up(&a);
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, COMBO_SIZE_MIN), 0);
	put_readings(&c, 7);
	say_filled(&a, &c);
	assert_int_equal(readings_output.count, 0);
	assert_int_equal(combos_written, 0);
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, COMBO_SIZE_MIN), 0);
	put_readings(&c, 8);
	combo_append(&c, &f);
	combo_event(&c, COMBO_EVENT_CLOCK, "?", 1);
	say_filled(&a, &c);
	assert_int_equal(readings_output.count, 1);
	assert_int_equal(readings_output.list[0].raw_minus_monotonic_ns, 8);
	assert_int_equal(readings_before->time_ns, 9);
	assert_int_equal(frames_written, 1);
	assert_int_equal(list.list[0]->ledger.bad_events, 1);
	assert_int_equal(list.list[0]->ledger.unknown_events, 0);
}

static void listed_one_way(void);

static int begin(void **state)
{
	(void)state;
	world_begin();
	end_init(&a, 1, true);
	end_init(&b, 2, true);
	assert_int_equal(sensor_list_apply(o, &file), 0);
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
	assert_true(list.list[0]->network->sessions[list.list[0]->network->current].confirmed);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 0);
	pass_time(SESSION_RECEIVE_ACK_NS);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.highest, 1);
	assert_int_equal(a.ack.taken, 1);
	assert_int_equal(a.ack.settled, 1);
	assert_true(ack_has(&a.ack, 1));
	assert_int_equal(a.ack.flags, 0);
	say_totals(&a, true);
	since = sent_count;
	pass_time(SESSION_RECEIVE_ACK_NS);
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
	for (int i = 0; i < SESSION_RECEIVE_ACK_EVERY; i++)
		say_combo(&a);
	pass_time(0);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.highest, SESSION_RECEIVE_ACK_EVERY);
	assert_null(list.due);
}

/* The socket has many datagrams of a sensor: an ACK reports each one, before the socket is empty.
 */
static void all_of_many_are_acknowledged(void **state)
{
	uint8_t out[MESSAGE_MAX];
	unsigned int since;
	uint64_t next = 1;

	(void)state;
	set_up(&a);
	for (int i = 0; i < 1000; i++) {
		since = sent_count;
		say_combo(&a);
		if (!heard(&a, since, MESSAGE_ACK, out))
			continue;
		while (next <= a.ack.highest)
			assert_true(ack_has(&a.ack, next++));
	}
	assert_true(next > 1000 - SESSION_RECEIVE_ACK_AT_ONCE);
}

/* A sensor that gave up combos waits for the answer before it sends on. */
static void a_floor_is_acknowledged_at_once(void **state)
{
	uint8_t out[MESSAGE_MAX];
	unsigned int since;

	(void)state;
	set_up(&a);
	say_combo(&a);
	pass_time(SESSION_RECEIVE_ACK_NS);
	since = sent_count;
	a.combos += 500;
	say_floor(&a);
	pass_time(0);
	assert_int_equal(heard(&a, since, MESSAGE_ACK, out), 1);
	assert_int_equal(a.ack.taken, 501);
}

/* A recorded datagram has no effect a second time. */
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
	/* The later neighbour's slots keep their state when it becomes the present interval. */
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
	time = handshake_time(&o->handshake);
	clock_now_ns = was;
	pass_time(0);
	assert_int_equal(handshake_time(&o->handshake), time);
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.set_ups, 0);
	assert_int_equal(o->counters.not_ours, 1);
	clock_now_ns = time + 5;
	assert_int_equal(handshake_time(&o->handshake), time + 5);
}

/* The clock was a year ahead for a moment, and the sensor used all slots of that time. */
static void a_clock_that_is_set_back_locks_nobody_out(void **state)
{
	uint64_t was = clock_now_ns, at;

	(void)state;
	clock_now_ns += 365 * 720 * TRYST_INTERVAL_NS;
	pass_time(0);
	at = handshake_time(&o->handshake) / TRYST_INTERVAL_NS;
	for (unsigned int n = 0; n < 3 * TRYST_SLOTS; n++) {
		make_m1(&a, at - 1 + n / TRYST_SLOTS, n % TRYST_SLOTS, "");
		from_port(a.m1, a.m1_len, a.port);
		pass_time(5 * SECOND / 96);
	}
	clock_now_ns = was;
	for (int i = 0; i < 481; i++)
		pass_time(SECOND);
	assert_int_equal(handshake_time(&o->handshake) / TRYST_INTERVAL_NS, at + 2);
	make_m1(&a, at + 2, 1, "");
	from_port(a.m1, a.m1_len, a.port);
	finish(&a);
	make_m1(&a, at - 1, 1, ""); /* none comes back */
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.not_ours, 1);
}

/* The memory of used slots is lost. A recorded old handshake does not replace the sensor's newer
 * candidate. */
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
	/* The next address of a's is also a slot of b's and a datagram of b's. */
	tx = a.tx;
	shroud_seal(&tx, next, &zero, 1, 0);
	for (int kind = 0; kind < 2; kind++)
		assert_int_equal(table_add(&o->table, load_word(next), SENSOR_OWNER(1, kind), 40),
				 0);
	say_combo(&a);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.not_authentic, 0);
	/* The others are still there: a datagram that opens under none is not authentic. */
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
	pass_time(SESSION_RECEIVE_ACK_NS);
	heard(&a, 0, MESSAGE_ACK, out);
	since = sent_count;
	a.port = 77;
	for (int i = 0; i < 6; i++) {
		say_number(&a, MESSAGE_HEARD, 0);
		bytes_from += a.last_len;
		pass_time(SESSION_RECEIVE_ACK_NS);
		assert_true(bytes_to(77, since) <= bytes_from);
	}
	assert_int_equal(o->counters.moves, 1);
	assert_true(bytes_to(77, since) > 0);
	assert_int_equal(bytes_to(1000, since), 0);
	assert_int_equal(heard(&a, since, MESSAGE_CHALLENGE, out), 1);
	say_number(&a, MESSAGE_ECHO, load_be(out + 1, 8) + 1);
	assert_false(list.list[0]->network->sessions[list.list[0]->network->current].confirmed);
	say_number(&a, MESSAGE_ECHO, load_be(out + 1, 8));
	assert_true(list.list[0]->network->sessions[list.list[0]->network->current].confirmed);
}

/* A datagram delayed and sent from another address changes no address. */
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
	assert_int_equal(sensor_list_apply(o, &one), 0);
	had = o->counters.not_ours;
	say_combo(&a);
	assert_int_equal(o->counters.not_ours, had + 1);
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 9, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.not_ours, had + 2);
	assert_int_equal(o->table.used,
			 3 * TRYST_SLOTS - 1 + 1 + list.list[1]->network->sessions[0].rx.ahead - 1);
	assert_true(sodium_is_zero(list.list[0]->network->pair.shared, KEY_LEN));
	say_combo(&b); /* the other one's session continues */
	assert_int_equal(frames_written, 3);
	assert_int_equal(sensor_list_apply(o, &file), 0);
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
	tryst_pair(a.pair, &a.own, o->handshake.own[0].public, true, NULL);
	memcpy(file.lines[0].public, a.own.public, KEY_LEN);
	assert_int_equal(sensor_list_apply(o, &file), 0);
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

/* The first datagram of a batch adds the address of the second one. */
static void an_address_added_in_its_batch(void **state)
{
	uint8_t message[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD }, bytes[2][SHROUD_DATAGRAM_MAX];
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct datagram d[2];

	(void)state;
	set_up(&a);
	for (int i = 0; i < 2; i++) {
		d[i] = (struct datagram){ .bytes = bytes[i],
					  .from = (struct sockaddr *)&from,
					  .from_len = sizeof(from),
					  .now_ns = now_ns };
		d[i].len = shroud_seal(&a.tx, bytes[i], message, sizeof(message), 0);
		a.tx.next += SHROUD_WINDOW_MIN - 1;
	}
	session_receive_batch(o, d, 2);
	assert_int_equal(sensor_session(list.list[0])->rx.highest, 1 + SHROUD_WINDOW_MIN);
	assert_int_equal(o->counters.not_ours, 0);
}

/* Every byte of a datagram and of a handshake is checked before any effect. */
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

/* Renews the keys; RENEW is sent `times` times. Returns with a's new keys; `was` is the old end. */
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
	/* For a while, datagrams under way in the old session are taken. */
	say_combo(&was); /* combo 2 */
	assert_int_equal(frames_written, 3);
	pass_time(SENSOR_SESSIONS_OLD_NS + 1);
	say_combo(&was);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.not_ours, 1);
	assert_int_equal(list.list[0]->network->old, -1);
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

/* Datagrams under way from a replaced agent are not part of the next agent's run. */
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
	assert_int_equal(list.list[0]->combo->reassembly.next, 1);
	assert_int_equal(list.list[0]->ledger.runs, 2);
	end_free(&was);
}

/* Another agent continues the run: it lays out combos again and has its own final totals. Datagrams
 * under way from the former agent must not be joined with these. */
static void another_process_goes_on_with_the_run(void **state)
{
	struct sensor *s = list.list[0];
	struct end was;
	uint64_t strange;

	(void)state;
	set_up(&a);
	say_combo(&a);
	was = a;
	memset(&a.rx, 0, sizeof(a.rx));
	table_init(&a.table, 512);
	clock_now_ns += SECOND;
	set_up(&a);
	say_totals(&a, false);
	strange = o->counters.not_ours;
	say_totals(&was, true);
	say_combo(&was);
	assert_int_equal(o->counters.not_ours, strange + 2);
	assert_int_equal(frames_written, 1);
	assert_false(s->final_heard);
	assert_int_equal(s->ledger.now.sensor.final, 0);
	say_combo(&a);
	assert_int_equal(frames_written, 2);
	say_totals(&a, true);
	pass_time(SECOND);
	assert_int_equal(ledger_balance(&s->ledger), 0);
	end_free(&was);
}

/* Sensor and collector were killed. The sensor lost its undelivered combos, and the former
 * collector's file does not have them. */
static void what_both_lost_is_missing(void **state)
{
	struct sensor_run known = { .run = a.run, .next = 3, .accounted = 30 };
	struct sensor *s = list.list[0];

	(void)state;
	for (int regular = 0; regular <= 1; regular++) {
		known_run = &known;
		output->regular = regular;
		known.run = ++a.run;
		a.combos = 5;
		a.frames = 50;
		clock_now_ns += SECOND;
		set_up(&a);
		say_floor(&a);
		say_combo(&a);
		say_totals(&a, true);
		assert_int_equal(ledger_sum(&s->ledger).lost_missing, regular ? 20 : 0);
		assert_int_equal(ledger_sum(&s->ledger).earlier, regular ? 80 : 50);
		assert_int_equal(ledger_balance(&s->ledger), 0);
	}
}

/* The collector sends nothing beyond the addresses that the sensor knows. */
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
	pass_time(SECOND);				 /* they would exceed its rate limit */
	say_number(&a, MESSAGE_HEARD, a.rx.highest + 1); /* it cannot have heard that */
	say(&a, probe, sizeof(probe));
	since = sent_count;
	say_number(&a, MESSAGE_HEARD, a.rx.highest);
	say(&a, probe, sizeof(probe));
	assert_int_equal(heard(&a, since, MESSAGE_PROBED, out), 1);
	assert_int_equal(load_be(out + 9, 8), clock_now_ns);
}

/* ---- a full disk ----------------------------------------------------------------------------- */

static void acknowledged(struct end *e, unsigned int since)
{
	uint8_t out[MESSAGE_MAX];

	pass_time(SESSION_RECEIVE_ACK_NS);
	assert_true(heard(e, since, MESSAGE_ACK, out) > 0);
}

static void room_again(void)
{
	disk_is_full = false;
	over_budget = NULL;
	pass_time(SECOND);
	pass_time(SECOND);
}

/* Combos stay whole and not taken; the sensor learns that they have arrived. */
static void combos_wait_for_the_disk(void **state)
{
	struct sensor *s = list.list[0];

	(void)state;
	set_up(&a);
	say_combo(&a);
	disk_is_full = true;
	for (int i = 0; i < 80; i++) /* more than there is place for */
		say_combo(&a);
	acknowledged(&a, sent_count);
	assert_int_equal(frames_written, 1);
	assert_int_equal(s->combo->turn.state, TURNS_HELD);
	assert_int_equal(a.ack.taken, 1);
	assert_int_equal(a.ack.settled, 1);
	assert_true(a.ack.held == UINT64_MAX >> 1);
	assert_true(a.ack.flags & ACK_WHOLE && a.ack.flags & ACK_FULL);
	assert_true(ack_has(&a.ack, 65) && !ack_has(&a.ack, 66));
	assert_int_equal(s->ledger.now.lost_disk, 0);
	pass_time(60 * SECOND);
	assert_int_equal(frames_written, 1);
	room_again();
	assert_int_equal(frames_written, 65);
	assert_int_equal(s->combo->reassembly.next, 65);
	assert_true(turns_held_ns(s, now_ns) >= 60 * SECOND);
	say_totals(&a, false);
	acknowledged(&a, sent_count);
	assert_int_equal(a.ack.taken, 65);
	assert_int_equal(a.ack.flags, 0);
}

/* A sensor's store overflows meanwhile: the received combos are written, the rest is missing. */
static void a_floor_while_combos_wait(void **state)
{
	struct sensor *s = list.list[0];

	(void)state;
	set_up(&a);
	disk_is_full = true;
	say_combo(&a);
	a.combos++;
	a.frames++;
	say_combo(&a);
	a.combos += 100;
	a.frames += 100;
	say_floor(&a);
	say_floor(&a);
	assert_int_equal(s->combo->reassembly.next, 0);
	assert_int_equal(s->ledger.now.lost_missing, 0);
	room_again();
	assert_int_equal(frames_written, 2);
	assert_int_equal(s->ledger.now.lost_missing, 101);
	assert_int_equal(s->combo->reassembly.next, a.combos);
	say_combo(&a);
	assert_int_equal(frames_written, 3);
	say_totals(&a, true);
	pass_time(SECOND);
	assert_int_equal(ledger_balance(&s->ledger), 0);
	assert_int_equal(ledger_in_flight(&s->ledger), 0);
}

/* A restarted sensor waits until its former run's received combos are written. Its session lives
 * and is renewed meanwhile. */
static void another_run_while_combos_wait(void **state)
{
	static const uint8_t changed[] = "\x04"
					 "change=1\ninterface.0=mon1\n";
	struct sensor *s = list.list[0];

	(void)state;
	assert_int_equal(changed[0], MESSAGE_INFO);
	set_up(&a);
	disk_is_full = true;
	say_combo(&a);
	say_combo(&a);
	a.run++;
	a.combos = a.frames = 0;
	clock_now_ns += SECOND;
	set_up(&a);
	say_combo(&a);
	assert_true(s->combo->waiting);
	assert_int_equal(s->ledger.run, a.run - 1);
	acknowledged(&a, sent_count);
	assert_true(a.ack.taken == 0 && a.ack.settled == 0 && a.ack.held == 0);
	assert_int_equal(a.ack.flags, ACK_FULL);
	assert_false(ack_has(&a.ack, 1)); /* so it is sent again */
	pass_time(60 * SECOND);
	say_totals(&a, false);
	say(&a, changed, sizeof(changed) - 1);
	assert_int_equal(s->ledger.run, a.run - 1);
	room_again();
	assert_false(s->combo->waiting);
	assert_int_equal(frames_written, 2);
	assert_int_equal(s->ledger.run, a.run);
	assert_string_equal(s->output->interfaces.names[0], "mon1");
	a.combos = a.frames = 0;
	say_combo(&a);
	assert_int_equal(frames_written, 3);
	assert_int_equal(s->ledger.before.written, 2);
}

/* One sensor has used its share: the others continue. */
static void one_sensor_waits_alone(void **state)
{
	(void)state;
	set_up(&a);
	set_up(&b);
	over_budget = list.list[0];
	say_combo(&a);
	say_combo(&b);
	assert_int_equal(frames_written, 1);
	assert_int_equal(list.list[1]->combo->reassembly.next, 1);
	room_again();
	assert_int_equal(frames_written, 2);
}

static void one_way_cannot_wait(void **state)
{
	struct ledger *l;

	(void)state;
	listed_one_way();
	l = &list.list[0]->ledger;
	announce(&a, 0, true);
	say_combo(&a);
	disk_is_full = true;
	say_combo(&a);
	say_combo(&a);
	assert_int_equal(l->now.lost_disk, 2);
	disk_is_full = false;
	say_combo(&a);
	assert_int_equal(frames_written, 2);
	assert_int_equal(ledger_balance(l), 0);
	assert_int_equal(ledger_in_flight(l), 0);
}

/* More combos come at once than there is place for. As none is sent again, they have their turns
 * early, for as long as allowed. */
static void one_way_combos_that_come_at_once(void **state)
{
	(void)state;
	listed_one_way();
	announce(&a, 0, true);
	no_turns = true;
	for (int i = 0; i < 100; i++)
		say_combo(&a);
	assert_true(frames_written >= 36);
	no_turns = false;
	say_combo(&a);
	assert_int_equal(frames_written, 101);
	assert_int_equal(list.list[0]->ledger.now.lost_missing, 0);
}

/* Runs follow each other quickly, and combos of each wait for their turns. The first run's are
 * taken at once. The second's wait, and the third's are lost meanwhile: a bad sensor cannot have
 * all its combos taken out of turn. */
static void one_way_runs_in_a_second(void **state)
{
	struct ledger *l;

	(void)state;
	listed_one_way();
	l = &list.list[0]->ledger;
	no_turns = true;
	for (unsigned int i = 0; i < 3; i++) {
		clock_now_ns++; /* an m1 is later than the one before */
		a.run++;
		a.combos = a.frames = 0;
		announce(&a, i, true);
		for (int n = 0; n < 10; n++)
			say_combo(&a);
	}
	assert_int_equal(frames_written, 10);
	assert_int_equal(l->run, a.run - 1);
	no_turns = false;
	pass_time(SECOND);
	assert_int_equal(frames_written, 20);
	assert_int_equal(l->run, a.run);
	say_combo(&a);
	say_totals(&a, true);
	say_floor(&a);
	pass_time(3 * SECOND);
	assert_int_equal(frames_written, 21);
	assert_int_equal(l->now.lost_missing, 10);
	assert_int_equal(ledger_balance(l), 0);
	assert_int_equal(ledger_in_flight(l), 0);
}

/* A late message of the run before does not describe the run that waits. */
static void a_waiting_run_has_its_own_info(void **state)
{
	static const uint8_t old[] = "\x04"
				     "change=5\ninterface.0=old\n";
	static const uint8_t new[] = "\x04"
				     "change=1\ninterface.0=new\n";
	struct end before = { 0 };

	(void)state;
	listed_one_way();
	no_turns = true;
	for (unsigned int i = 0; i < 3; i++) {
		clock_now_ns++; /* an m1 is later than the one before */
		before = a;
		a.run++;
		a.combos = a.frames = 0;
		announce(&a, i, true);
		say_combo(&a);
	}
	assert_true(list.list[0]->combo->waiting);
	say(&before, old, sizeof(old) - 1);
	say(&a, new, sizeof(new) - 1);
	no_turns = false;
	pass_time(SECOND);
	assert_false(list.list[0]->combo->waiting);
	assert_string_equal(list.list[0]->output->interfaces.names[0], "new");
}

/* A sensor's own messages are rate-limited; its combos are not. */
static void messages_are_rationed(void **state)
{
	uint8_t message[32] = { MESSAGE_INFO };
	unsigned int since;

	(void)state;
	set_up(&a);
	strcpy((char *)message + 1, "change=9\ninterface.0=x\n");
	for (int i = 0; i < MESSAGE_LIMIT_INFOS + 5; i++)
		say(&a, message, 1 + strlen((char *)message + 1));
	assert_int_equal(o->counters.limited_messages, 5);
	message[0] = 99;
	for (int i = 0; i < 100; i++)
		say(&a, message, sizeof(message));
	assert_int_equal(o->counters.limited_messages, 5);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	pass_time(SECOND);
	since = sent_count;
	message[0] = MESSAGE_PROBE;
	say_number(&a, MESSAGE_HEARD, a.rx.highest);
	for (int i = 0; i < MESSAGE_LIMIT_PROBES + 5; i++)
		say(&a, message, MESSAGE_PROBE_LEN);
	assert_int_equal(o->counters.limited_messages, 10);
	assert_true(sent_count - since <= MESSAGE_LIMIT_PROBES + 10);
}

/* Leaves out `numbers` numbers, and sends a combo. Returns whether it was taken. */
static bool leave_out(struct end *e, uint64_t numbers)
{
	uint64_t before = frames_written;

	e->tx.next += numbers;
	say_combo(e);
	if (frames_written != before)
		return true;
	e->combos--; /* it is sent again */
	e->frames--;
	return false;
}

/* A session with the widest window. */
static void set_up_wide(struct end *e)
{
	set_up(e);
	while (list.list[0]->network->sessions[0].rx.highest < 256)
		say_combo(e);
}

/* Each number left out costs work. */
static void numbers_left_out_are_rationed(void **state)
{
	uint64_t left_out = 0;

	(void)state;
	set_up_wide(&a);
	set_up(&b);
	for (int i = 0; i < 1000; i++) {
		uint64_t next = a.tx.next;

		now_ns += SECOND / 1000; /* 1,000 datagrams/s */
		if (leave_out(&a, 255))
			left_out += 255;
		else
			a.tx.next = next; /* as far ahead as possible */
	}
	assert_in_range(left_out, MESSAGE_SKIPS, MESSAGE_SKIPS + MESSAGE_SKIPS_AT_ONCE + 256);
	assert_int_equal(o->counters.limited_messages, 1000 - left_out / 255);
	assert_true(leave_out(&b, 63));
}

/* Ten thousand per second are lost, in whole windows: all that arrive are taken. */
static void a_path_that_loses_most(void **state)
{
	(void)state;
	set_up_wide(&a);
	for (int i = 0; i < 1000; i++) {
		now_ns += SECOND / 100;
		assert_true(leave_out(&a, 100 + i % 28)); /* half a window above ACK's `highest` */
	}
	assert_int_equal(o->counters.limited_messages, 0);
}

/* Two links of unequal delay: every second number comes late, and none is lost. */
static void a_path_that_reorders(void **state)
{
	unsigned int taken = 0;

	(void)state;
	set_up_wide(&a);
	for (int i = 0; i < 2 * MESSAGE_SKIPS_AT_ONCE; i++) {
		uint64_t next = a.tx.next;

		taken += leave_out(&a, 1);
		a.tx.next = next;
		taken += leave_out(&a, 0);
		a.tx.next = next + 2;
	}
	assert_int_equal(taken, 4 * MESSAGE_SKIPS_AT_ONCE);
	assert_int_equal(o->counters.limited_messages, 0);
}

/* Whatever was left out before, a path that no longer loses is as good as any. */
static void nobody_is_locked_out(void **state)
{
	static const uint64_t pauses[] = { SECOND / 8, SECOND, 3600 * SECOND };
	uint64_t next;

	(void)state;
	set_up_wide(&a);
	for (int i = 0; i < 3; i++) {
		do
			next = a.tx.next;
		while (leave_out(&a, 127));
		a.tx.next = next;
		say_combo(&a); /* leaves out none */
		now_ns += pauses[i];
		assert_true(leave_out(&a, 255)); /* the furthest known */
		say_combo(&a);
	}
	assert_int_equal(o->counters.limited_messages, 3);
	assert_int_equal(list.list[0]->combo->reassembly.next, a.combos);
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct request_asked asked_of;
static uint8_t request[SHROUD_DATAGRAM_PADDED];

static void ask_dated(struct end *e, unsigned int port, uint64_t interval)
{
	assert_int_equal(request_cookie(&asked_of, request,
					&(struct request_from){ &e->own,
								o->handshake.own[e->to].public,
								clock_now_ns, interval },
					e->pair),
			 0);
	from_port(request, sizeof(request), port);
}

static void ask_cookie(struct end *e, unsigned int port)
{
	ask_dated(e, port, clock_now_ns / TRYST_INTERVAL_NS);
}

/* As after a restart of the collector. */
static void forget_requests(void)
{
	memset(&o->requests.seen, 0, sizeof(o->requests.seen));
}

/* Opens the last answer sent. */
static struct request_answer told(void)
{
	struct sent *answer = last_sent();
	struct request_answer got;

	assert_true(answer->len <= sizeof(request));
	assert_int_equal(request_answered(&asked_of, &got, answer->bytes, answer->len), 0);
	return got;
}

static void ask_for_session(struct end *e, uint64_t cookie)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX];

	e->hello = (struct tryst_hello){ .run = e->run, .time_ns = clock_now_ns, .window = 256 };
	memcpy(e->hello.instance, e->instance, sizeof(e->instance));
	assert_int_equal(
		tryst_init(&e->asked, m1,
			   &(struct tryst_keys){ &e->own, o->handshake.own[e->to].public, e->pair },
			   cookie, &e->hello, REQUEST_INIT_LEN),
		REQUEST_INIT_LEN);
	assert_int_equal(request_set_up(request, m1,
					&(struct request_from){
						&e->own, o->handshake.own[e->to].public,
						clock_now_ns, clock_now_ns / TRYST_INTERVAL_NS }),
			 0);
	e->m1_len = sizeof(request);
	from_port(request, sizeof(request), e->port);
}

static void the_time_is_told(void **state)
{
	(void)state;
	ask_cookie(&a, a.port);
	assert_true(told().time_ns == clock_now_ns);
	assert_int_equal(o->counters.questions, 1);
}

/* A recorded request that is sent again uses no sensor's share, and costs a lookup. */
static void a_request_is_answered_once(void **state)
{
	unsigned int sent;

	(void)state;
	ask_cookie(&a, a.port);
	sent = sent_count;
	for (int i = 0; i < 1000; i++)
		from_port(request, sizeof(request), a.port + 1);
	assert_int_equal(sent_count, sent);
	assert_int_equal(o->counters.repeated_requests, 1000);
	ask_cookie(&b, b.port);
	assert_int_equal(sent_count, sent + 1);
}

#define RECORDED 1000

/* Recorded requests are replayed in any order. Two in turn are the worst case for a memory with one
 * place for both. */
static void recorded_requests_take_nobodys_share(void **state)
{
	static uint8_t recorded[RECORDED][sizeof(request)];
	unsigned int sent;

	(void)state;
	for (int i = 0; i < RECORDED; i++) {
		ask_cookie(i % 2 ? &a : &b, a.port);
		memcpy(recorded[i], request, sizeof(request));
		pass_time(SECOND / 32);
	}
	assert_int_equal(o->counters.questions, RECORDED);
	sent = sent_count;
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < RECORDED; i++)
			from_port(recorded[round % 2 ? RECORDED - 1 - i : i], sizeof(request), 7);
	for (int i = 0; i < 4 * RECORDED; i++)
		from_port(recorded[randombytes_uniform(RECORDED)], sizeof(request), 7);
	assert_int_equal(sent_count, sent);
	assert_int_equal(o->counters.repeated_requests, 8 * RECORDED);
	assert_int_equal(o->counters.limited_questions, 0);
	pass_time(SECOND);
	from_port(recorded[0], sizeof(request), 7);
	for (int i = 0; i < HANDSHAKE_REQUESTS_OF_A_SENSOR; i++)
		ask_cookie(&a, a.port);
	assert_int_equal(sent_count, sent + HANDSHAKE_REQUESTS_OF_A_SENSOR);
}

/* Recordings older than the memory: their date shows their age. */
static void old_recordings_are_not_opened(void **state)
{
	uint8_t recorded[sizeof(request)];
	unsigned int sent;

	(void)state;
	ask_cookie(&a, a.port);
	memcpy(recorded, request, sizeof(recorded));
	sent = sent_count;
	forget_requests();
	pass_time(2 * TRYST_INTERVAL_NS);
	from_port(recorded, sizeof(recorded), 7);
	assert_int_equal(sent_count, sent);
	assert_int_equal(o->counters.not_ours, 1);
	assert_int_equal(o->counters.questions, 1);
}

/* Any number of recordings without a date, of any age: they can use up only the share of sensors
 * that do not know the time. */
static void undated_requests_leave_enough_to_dated_ones(void **state)
{
	struct end stranger = a;
	unsigned int sent;

	(void)state;
	for (int i = 0; i < 2 * HANDSHAKE_REQUESTS_OF_A_SENSOR; i++)
		ask_dated(&a, a.port, REQUEST_UNDATED);
	assert_int_equal(sent_count, HANDSHAKE_REQUESTS_OF_A_SENSOR_UNDATED);
	for (int i = 0; i < HANDSHAKE_REQUESTS_OF_A_SENSOR; i++)
		ask_cookie(&a, a.port);
	assert_int_equal(sent_count, HANDSHAKE_REQUESTS_OF_A_SENSOR);
	key_generate(stranger.own.secret);
	key_public(stranger.own.public, stranger.own.secret);
	for (int i = 0; i < HANDSHAKE_REQUESTS_OPENED_A_SECOND; i++)
		ask_dated(&stranger, a.port, REQUEST_UNDATED);
	sent = sent_count;
	ask_dated(&b, b.port, REQUEST_UNDATED);
	assert_int_equal(sent_count, sent);
	ask_cookie(&b, b.port);
	assert_int_equal(sent_count, sent + 1);
}

/* Anyone with the collector's public key can make any number of them. */
static void no_more_are_opened_than_may_be(void **state)
{
	struct end stranger = a;
	unsigned int sent;

	(void)state;
	key_generate(stranger.own.secret);
	key_public(stranger.own.public, stranger.own.secret);
	for (int i = 0; i < HANDSHAKE_REQUESTS_OPENED_A_SECOND - 1; i++)
		ask_cookie(&stranger, a.port);
	sent = sent_count;
	ask_cookie(&a, a.port);
	assert_int_equal(sent_count, sent + 1);
	ask_cookie(&b, b.port);
	ask_cookie(&a, a.port);
	assert_int_equal(sent_count, sent + 1);
	assert_int_equal(o->counters.limited_questions, HANDSHAKE_REQUESTS_OPENED_A_SECOND - 1 -
								HANDSHAKE_REQUESTS_OF_STRANGERS +
								2);
	pass_time(SECOND);
	ask_cookie(&b, b.port);
	assert_int_equal(sent_count, sent + 2);
}

/* When a request is forgotten, as after a restart, its second answer is under another key. */
static void a_request_answered_twice_has_two_keys(void **state)
{
	uint8_t first[SHROUD_DATAGRAM_MAX], again[sizeof(request)];
	struct sent *answer;

	(void)state;
	ask_dated(&a, a.port, REQUEST_UNDATED);
	memcpy(first, last_sent()->bytes, last_sent()->len);
	memcpy(again, request, sizeof(again));
	forget_requests();
	clock_now_ns += 3600 * SECOND;
	from_port(again, sizeof(again), a.port);
	answer = last_sent();
	assert_memory_not_equal(answer->bytes, first, 8);
	assert_memory_not_equal(answer->bytes + 8, first + 8, DERIVE_FRESH_LEN);
	assert_memory_not_equal(answer->bytes + 32, first + 32, 64); /* after the time */
}

static void strangers_have_a_share(void **state)
{
	struct end stranger = a;
	unsigned int sent;

	(void)state;
	key_generate(stranger.own.secret);
	key_public(stranger.own.public, stranger.own.secret);
	for (int i = 0; i < HANDSHAKE_REQUESTS_OF_STRANGERS + 10; i++)
		ask_cookie(&stranger, a.port);
	assert_int_equal(sent_count, HANDSHAKE_REQUESTS_OF_STRANGERS);
	assert_int_equal(o->counters.limited_questions, 10);
	assert_int_equal(o->counters.refused_requests, HANDSHAKE_REQUESTS_OF_STRANGERS + 10);
	/* The limit for sensors is another one, and each sensor has its own. */
	sent = sent_count;
	for (int i = 0; i < HANDSHAKE_REQUESTS_OF_A_SENSOR + 10; i++)
		ask_cookie(&a, a.port);
	assert_int_equal(sent_count, sent + HANDSHAKE_REQUESTS_OF_A_SENSOR);
	ask_cookie(&b, b.port);
	assert_int_equal(sent_count, sent + HANDSHAKE_REQUESTS_OF_A_SENSOR + 1);
	pass_time(SECOND);
	ask_cookie(&a, a.port);
	assert_int_equal(sent_count, sent + HANDSHAKE_REQUESTS_OF_A_SENSOR + 2);
}

/* Whatever strangers send, the log shows the key of a sensor that an operator has just set up. */
static void strangers_that_get_no_answer_are_named(void **state)
{
	struct end stranger = a;

	(void)state;
	for (int i = 0; i < HANDSHAKE_REQUESTS_OF_STRANGERS + 1; i++) {
		key_generate(stranger.own.secret);
		key_public(stranger.own.public, stranger.own.secret);
		ask_cookie(&stranger, a.port);
	}
	assert_int_equal(sent_count, HANDSHAKE_REQUESTS_OF_STRANGERS);
	assert_int_equal(o->counters.refused_requests, HANDSHAKE_REQUESTS_OF_STRANGERS + 1);
}

static void a_cookie_takes_the_place_of_a_slot(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * TRYST_SLOTS + 5; i++) {
		ask_cookie(&a, a.port);
		ask_for_session(&a, told().cookie);
		finish(&a);
		pass_time(SECOND / 8);
	}
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	assert_int_equal(o->counters.set_ups, 3 * TRYST_SLOTS + 5);
	assert_int_equal(table_of(SENSOR_OWNER(0, SENSOR_SLOTS)), 3 * TRYST_SLOTS);
}

static void a_cookie_is_a_sensors_and_of_now(void **state)
{
	uint8_t kept[sizeof(request)];
	uint64_t cookie;

	(void)state;
	ask_cookie(&a, a.port);
	cookie = told().cookie;
	ask_for_session(&b, cookie);
	assert_int_equal(o->counters.refused_requests, 1);
	ask_for_session(&a, cookie ^ 1);
	assert_int_equal(o->counters.refused_requests, 2);
	ask_for_session(&a, cookie);
	memcpy(kept, request, sizeof(kept));
	finish(&a);
	say_totals(&a, false);
	forget_requests();
	from_port(kept, sizeof(kept), a.port); /* a replay that the collector does not remember */
	assert_int_equal(o->counters.refused_requests, 3);
	assert_int_equal(o->counters.set_ups, 1);
	assert_int_equal(list.list[0]->network->candidate, -1);
	ask_cookie(&a, a.port);
	cookie = told().cookie;
	pass_time(2 * HANDSHAKE_REQUESTS_COOKIE_NS);
	ask_for_session(&a, cookie);
	assert_int_equal(o->counters.refused_requests, 4);
	assert_int_equal(o->counters.set_ups, 1);
}

/* A sender that names a sensor must share its P. */
static void a_set_up_under_a_cookie_is_authentic(void **state)
{
	struct end thief = a;
	uint8_t psk[KEY_LEN] = { 1 };
	uint64_t cookie;

	(void)state;
	assert_int_equal(tryst_pair(thief.pair, &thief.own, o->handshake.own[0].public, true, psk),
			 0);
	ask_cookie(&thief, a.port);
	assert_int_equal(o->counters.refused_requests, 1);
	cookie = told().cookie;
	for (int i = 0; i < 2 * HANDSHAKE_REQUESTS_OF_A_SENSOR; i++)
		ask_for_session(&thief, cookie);
	assert_int_equal(o->counters.refused_requests, 1 + 2 * HANDSHAKE_REQUESTS_OF_A_SENSOR);
	assert_int_equal(o->counters.set_ups, 0);
	ask_cookie(&a, a.port); /* it has used up none of the sensor's share */
	ask_for_session(&a, told().cookie);
	assert_int_equal(o->counters.set_ups, 1);
}

static void another_version_is_told_apart(void **state)
{
	uint8_t key[KEY_LEN], zeros[8] = { 0 };

	(void)state;
	ask_cookie(&a, a.port);
	told();
	request_cookie(&asked_of, request,
		       &(struct request_from){ &a.own, o->handshake.own[0].public, clock_now_ns,
					       REQUEST_UNDATED },
		       a.pair);
	memcpy(key, asked_of.key, KEY_LEN);
	derive_seal(key, 0, request + REQUEST_FRONT_LEN, zeros, sizeof(zeros));
	from_port(request, REQUEST_MIN + sizeof(zeros), a.port);
	assert_int_equal(o->counters.other_versions, 1);
	assert_int_equal(sent_count, 1);
	/* An m1 of version 1 has no version in its flags, and no instance. */
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 3, "");
	derive(key, a.pair, "set-up", a.m1, 24, NULL, 0);
	assert_int_equal(derive_open(key, 0, a.m1 + 24, a.m1 + 24, a.m1_len - 24), 0);
	a.m1[24 + 52] &= 15;
	derive_seal(key, 0, a.m1 + 24, a.m1 + 24, TRYST_HELLO_LEN);
	from_port(a.m1, 24 + TRYST_HELLO_LEN + DERIVE_TAG_LEN, a.port);
	assert_int_equal(o->counters.other_versions, 2);
	assert_int_equal(sent_count, 1);
}

/* ---- one key, two machines ------------------------------------------------------------------- */

static void another_machine_has_to_wait(void **state)
{
	struct end copy = a;
	struct tryst_welcome welcome;
	uint8_t k2[KEY_LEN];

	(void)state;
	copy.run++;
	copy.instance[0]++;
	copy.port++;
	assert_int_equal(table_init(&copy.table, 512), 0);
	set_up(&a);
	say_combo(&a);
	make_m1(&copy, clock_now_ns / TRYST_INTERVAL_NS, 30, "");
	from_port(copy.m1, copy.m1_len, copy.port);
	assert_int_equal(tryst_finish(&copy.asked, &copy.own, &welcome, k2, last_sent()->bytes,
				      last_sent()->len),
			 0);
	assert_int_equal(welcome.flags, TRYST_BUSY);
	assert_int_equal(o->counters.busy_set_ups, 1);
	say_combo(&a); /* which continues */
	assert_int_equal(frames_written, 2);
	pass_time(HANDSHAKE_SILENT_NS);
	make_m1(&copy, clock_now_ns / TRYST_INTERVAL_NS, 31, "");
	from_port(copy.m1, copy.m1_len, copy.port);
	finish(&copy);
	say_combo(&copy);
	assert_int_equal(frames_written, 3);
	end_free(&copy);
}

/* No answer reaches it, and its clock may be behind: it is refused, not ignored. */
static void another_machine_has_to_wait_one_way(void **state)
{
	struct end copy = a;
	const struct session *present;

	(void)state;
	listed_one_way();
	copy.run++;
	copy.hello.instance[0]++;
	copy.port++;
	pass_time(10 * SECOND);
	announce(&a, 0, true);
	say_combo(&a);
	present = &list.list[0]->network->sessions[list.list[0]->network->current];
	assert_int_equal(ntohs(present->address.in.sin_port), a.port);
	clock_now_ns -= 5 * SECOND;
	announce(&copy, 1, true);
	clock_now_ns += 5 * SECOND;
	assert_int_equal(o->counters.busy_set_ups, 1);
	assert_int_equal(o->counters.ignored_set_ups, 0);
	pass_time(SECOND);
	announce(&a, 2, false); /* which continues */
	assert_int_equal(o->counters.announcements, 2);
	pass_time(HANDSHAKE_SILENT_NS);
	announce(&copy, 3, true);
	assert_int_equal(o->counters.announcements, 3);
	assert_int_equal(sent_count, 0);
}

/* A restarted agent continues at once, and so does any agent after the run before has ended. */
static void the_same_machine_takes_over_at_once(void **state)
{
	(void)state;
	set_up(&a);
	say_combo(&a);
	a.run++;
	a.combos = a.frames = 0;
	set_up(&a);
	say_combo(&a);
	say_totals(&a, true);
	pass_time(SECOND);
	a.run++;
	a.combos = a.frames = 0;
	a.instance[0]++;
	set_up(&a);
	say_combo(&a);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.busy_set_ups, 0);
	assert_int_equal(o->counters.alternations, 0);
}

static void two_processes_in_turn_are_noticed(void **state)
{
	uint64_t runs[] = { 7, 8 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		a.run = runs[i % 2];
		set_up(&a);
		say_totals(&a, false);
		pass_time(SECOND);
	}
	assert_int_equal(o->counters.alternations, 4);
}

/* ---------------------------------------------------------------------------------------------- */

static void set_ups_are_limited_and_not_lost(void **state)
{
	(void)state;
	o->handshake.inits =
		(struct rate_limit){ .second = now_ns / SECOND, .used = HANDSHAKE_INITS_A_SECOND };
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 0, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.limited_set_ups, 1);
	assert_int_equal(sent_count, 0);
	pass_time(SECOND);
	from_port(a.m1, a.m1_len, a.port);
	finish(&a);
}

/* Combos given up by a sensor delay nothing, and their frames count as lost exactly. */
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
	assert_int_equal(list.list[0]->output->settled, 9);
	say(&a, message, 9);
	assert_int_equal(list.list[0]->ledger.bad_messages, 1);
}

/* ---- one way --------------------------------------------------------------------------------- */

/* Combos of events come in order, each once, and in no sum of frames. */
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
	assert_int_equal(s->combo->reassembly.next, 3);
	assert_int_equal(s->output->settled, 3);
	assert_int_equal(combos_written, 2); /* nothing of the third is to be written */
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

/* The last combo may have no frames, so all frames can be here before it is. */
static void the_end_waits_for_events(void **state)
{
	const uint32_t dwell = 9;
	struct totals t = { .seen = 1, .captured = 1, .exported = 1, .combos = 2, .final = 1 };
	uint8_t message[TOTALS_WIRE_MAX];

	(void)state;
	set_up(&a);
	say_combo(&a);
	say(&a, message, totals_write(message, &t));
	pass_time(SESSION_RECEIVE_ACK_NS);
	assert_false(list.list[0]->final_confirmed);
	say_combo_of(&a, false, &dwell, 1);
	pass_time(SESSION_RECEIVE_ACK_NS);
	assert_true(list.list[0]->final_confirmed);
	assert_int_equal(dwells_output, 1);
}

static void listed_one_way(void)
{
	file.lines[0].one_way = true;
	assert_int_equal(sensor_list_apply(o, &file), 0);
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
	assert_int_equal(sent_count, 0); /* nothing is ever sent there */
	assert_int_equal(o->counters.sent, 0);
	assert_true(list.list[0]->final_confirmed);
	assert_int_equal(ledger_balance(l), 0);
	assert_int_equal(l->now.lost_missing, 0);
}

/* A missing combo is waited for, and then it is lost. */
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
	say_combo(&a); /* the 63rd after the gap */
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

/* The end comes before missing combos are given up. */
static void the_end_one_way(void **state)
{
	(void)state;
	listed_one_way();
	announce(&a, 0, true);
	say_combo(&a);
	a.combos++;
	a.frames++;
	say_combo(&a);
	intake_finish(combos, now_ns);
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
	assert_int_equal(list.list[0]->network->candidate, -1);
	listed_one_way();
	a.combos = a.frames = 0;
	announce(&a, 1, true);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
	/* One-way no longer: its session ends at once. */
	file.lines[0].one_way = false;
	assert_int_equal(sensor_list_apply(o, &file), 0);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
}

/* In any free slot, an m1 that is not later than the last one has no effect. */
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
	clock_now_ns = WORLD_START_NS + 59 * SECOND; /* before the collector's start */
	list.list[0]->network->announced_ns = 0;
	announce(&a, 3, true);
	assert_int_equal(o->counters.ignored_set_ups, 2);
	assert_int_equal(list.list[0]->network->candidate, -1);
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

/* Announces that a's one-way session continues with its next datagram. */
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
	assert_int_equal(sensor_list_apply(o, &file), 0);
	tryst_ephemeral(&e, a.own.secret, clock_now_ns);
	a.hello = (struct tryst_hello){ .run = a.run, .window = 256, .flags = TRYST_ONE_WAY };
	memcpy(a.hello.ephemeral, e.public, KEY_LEN);
	assert_int_equal(tryst_one_way(k2, a.pair, &a.hello, e.secret, o->handshake.own[0].public),
			 0);
	keys_taken(&a, k2);
}

/* Datagrams to a former collector, in a session that continues. */
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

/* Otherwise anyone who once had the key could lock out its next holder. */
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

/* ---- second keys ----------------------------------------------------------------------------- */

#define SLOTS_LISTED (3 * TRYST_SLOTS) /* table entries of a pair of keys */

/* A sensor of the same name and run, with another key of its own or of the collector. */
static void end_again(struct end *e, const struct end *was, const struct keypair *own,
		      unsigned int to)
{
	*e = *was;
	e->own = *own;
	e->to = to;
	e->port++;
	memset(&e->rx, 0, sizeof(e->rx));
	memset(e->instance, 7, sizeof(e->instance)); /* which depends on the key */
	assert_int_equal(tryst_pair(e->pair, own, o->handshake.own[to].public, true, NULL), 0);
	assert_int_equal(table_init(&e->table, 512), 0);
}

static void list_next(struct keypair *next)
{
	key_generate(next->secret);
	key_public(next->public, next->secret);
	memcpy(file.lines[0].next, next->public, KEY_LEN);
	assert_int_equal(sensor_list_apply(o, &file), 0);
}

/* As at a start with two keys. */
static void answer_to_two_keys(void)
{
	struct sensors_file none = { .groups = file.groups };

	sensor_list_apply(o, &none);
	o->handshake.two_keys = true;
	handshake_requests_init(&o->requests);
	assert_int_equal(sensor_list_apply(o, &file), 0);
}

static void an_old_key_of_the_collector(void **state)
{
	struct end old;
	uint64_t used = o->table.used;

	(void)state;
	end_again(&old, &a, &a.own, 1);
	ask_cookie(&old, old.port);
	make_m1(&old, clock_now_ns / TRYST_INTERVAL_NS, 3, "");
	from_port(old.m1, old.m1_len, old.port);
	assert_int_equal(o->counters.not_ours, 2); /* it has one key */
	assert_int_equal(used, 2 * (SLOTS_LISTED + 1));
	answer_to_two_keys();
	assert_int_equal(o->table.used, used + 2 * SLOTS_LISTED);
	set_up(&old);
	say_combo(&old);
	assert_int_equal(sensor_session(list.list[0])->pair, SENSOR_PAIR_OLD);
	ask_cookie(&old, old.port);
	ask_for_session(&old, told().cookie);
	finish(&old);
	say_combo(&old);
	set_up(&b); /* the others use the present key */
	say_combo(&b);
	assert_int_equal(frames_written, 3);
	assert_int_equal(o->counters.not_ours, 2);
	end_free(&old);
}

static void an_old_key_one_way(void **state)
{
	struct end old;

	(void)state;
	answer_to_two_keys();
	listed_one_way();
	end_again(&old, &a, &a.own, 1);
	announce(&old, 3, true);
	say_combo(&old);
	assert_int_equal(frames_written, 1);
	assert_int_equal(sensor_session(list.list[0])->pair, SENSOR_PAIR_OLD);
	end_free(&old);
}

static void a_next_key_takes_over_at_once(void **state)
{
	struct keypair next;
	struct end then;

	(void)state;
	memset(a.instance, 1, sizeof(a.instance));
	set_up(&a);
	say_combo(&a);
	list_next(&next);
	say_combo(&a); /* its session goes on */
	end_again(&then, &a, &next, 0);
	set_up(&then);
	assert_false(list.list[0]->network->next_logged);
	say_combo(&then);
	assert_true(list.list[0]->network->next_logged);
	assert_int_equal(frames_written, 3);
	assert_int_equal(list.list[0]->ledger.runs, 1);
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 9, ""); /* another machine has the old key */
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.busy_set_ups, 1);
	ask_cookie(&then, then.port);
	ask_for_session(&then, told().cookie);
	finish(&then);
	say_combo(&then);
	assert_int_equal(frames_written, 4);
	end_free(&then);
}

static void a_next_key_becomes_the_only_one(void **state)
{
	uint64_t used = o->table.used;
	struct keypair next;
	struct end then;

	(void)state;
	list_next(&next);
	assert_int_equal(o->table.used, used + SLOTS_LISTED + 1);
	end_again(&then, &a, &next, 0);
	set_up(&then);
	say_combo(&then);
	memcpy(file.lines[0].public, next.public, KEY_LEN);
	memset(file.lines[0].next, 0, KEY_LEN);
	assert_int_equal(sensor_list_apply(o, &file), 0);
	assert_null(list.list[0]->network->second);
	say_combo(&then);
	assert_int_equal(frames_written, 2);
	assert_int_equal(o->counters.sessions, 1);
	make_m1(&a, clock_now_ns / TRYST_INTERVAL_NS, 9, "");
	from_port(a.m1, a.m1_len, a.port);
	assert_int_equal(o->counters.not_ours, 1);
	end_free(&then);
}

static void a_removed_next_key_ends_its_session(void **state)
{
	struct keypair next;
	struct end then;

	(void)state;
	list_next(&next);
	end_again(&then, &a, &next, 0);
	set_up(&then);
	say_combo(&then);
	memset(file.lines[0].next, 0, KEY_LEN);
	assert_int_equal(sensor_list_apply(o, &file), 0);
	say_combo(&then);
	assert_int_equal(frames_written, 1);
	assert_int_equal(o->counters.not_ours, 1);
	end_free(&then);
}

static void both_change_their_keys(void **state)
{
	struct keypair next;
	struct end then;

	(void)state;
	answer_to_two_keys();
	list_next(&next);
	clock_now_ns += 3 * TRYST_INTERVAL_NS; /* all slots are turned */
	while (handshake_turn(&o->handshake, &o->table, o->sensors))
		;
	assert_int_equal(o->table.used, 6 * SLOTS_LISTED + 3);
	for (unsigned int to = 0; to < 2; to++) {
		end_again(&then, &a, &next, to);
		then.slot = 10 + to;
		set_up(&then);
		say_combo(&then);
		assert_int_equal(sensor_session(list.list[0])->pair, SENSOR_PAIR_NEXT | to);
		a.combos = then.combos;
		a.frames = then.frames;
		end_free(&then);
	}
	assert_int_equal(frames_written, 2);
	from_port(then.m1, then.m1_len, then.port); /* its slot is spent */
	assert_int_equal(o->counters.not_ours, 1);
}

static void an_invalid_next_key(void **state)
{
	(void)state;
	memset(file.lines[0].next, 0, KEY_LEN);
	file.lines[0].next[0] = 1; /* of low order */
	assert_int_equal(sensor_list_apply(o, &file), 0);
	assert_true(list.list[0]->listed);
	set_up(&a);
	say_combo(&a);
	assert_int_equal(frames_written, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
		T(a_session),
		T(every_sixteenth_is_acknowledged_at_once),
		T(all_of_many_are_acknowledged),
		T(a_floor_is_acknowledged_at_once),
		T(replays),
		T(combos_of_events),
		T(watermarks_wait_for_their_frames),
		T(watermarks_and_lost_frames),
		T(a_malformed_progress_is_counted),
		T(readings_need_a_block),
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
		T(an_address_added_in_its_batch),
		T(one_bit_is_changed),
		T(renewal_loses_nothing),
		T(the_old_session_is_of_another_run),
		T(another_process_goes_on_with_the_run),
		T(what_both_lost_is_missing),
		T(the_sensor_must_be_heard),
		T(combos_wait_for_the_disk),
		T(a_floor_while_combos_wait),
		T(another_run_while_combos_wait),
		T(one_sensor_waits_alone),
		T(one_way_cannot_wait),
		T(one_way_combos_that_come_at_once),
		T(one_way_runs_in_a_second),
		T(a_waiting_run_has_its_own_info),
		T(messages_are_rationed),
		T(numbers_left_out_are_rationed),
		T(a_path_that_loses_most),
		T(a_path_that_reorders),
		T(nobody_is_locked_out),
		T(the_time_is_told),
		T(a_request_is_answered_once),
		T(recorded_requests_take_nobodys_share),
		T(old_recordings_are_not_opened),
		T(undated_requests_leave_enough_to_dated_ones),
		T(no_more_are_opened_than_may_be),
		T(a_request_answered_twice_has_two_keys),
		T(strangers_have_a_share),
		T(strangers_that_get_no_answer_are_named),
		T(a_cookie_takes_the_place_of_a_slot),
		T(a_cookie_is_a_sensors_and_of_now),
		T(a_set_up_under_a_cookie_is_authentic),
		T(another_version_is_told_apart),
		T(another_machine_has_to_wait),
		T(another_machine_has_to_wait_one_way),
		T(the_same_machine_takes_over_at_once),
		T(two_processes_in_turn_are_noticed),
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
		T(an_old_key_of_the_collector),
		T(an_old_key_one_way),
		T(a_next_key_takes_over_at_once),
		T(a_next_key_becomes_the_only_one),
		T(a_removed_next_key_ends_its_session),
		T(both_change_their_keys),
		T(an_invalid_next_key),
#undef T
	};

	return keys_init() || cmocka_run_group_tests(tests, NULL, NULL);
}
