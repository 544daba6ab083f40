// SPDX-License-Identifier: GPL-2.0
/* Shroud: each datagram opens once, however late, early or often it comes, or never. The table has
 * exactly the addresses of datagrams that a receiver may get.
 *
 * links: wire/shroud.o wire/derive.o wire/table.o wire/keys.o */
#include "unit.h"

#include <sodium.h>

#include "wire/bytes.h"
#include "wire/message.h"
#include "wire/shroud.h"

#define LEN (9 + SHROUD_OVERHEAD)

static const struct shroud_keys keys = { .address = { 1 }, .seal = { 2 } };

/* A sender, a receiver, and the datagrams sent from number 1 on. */
struct world {
	struct table t;
	struct shroud_tx tx;
	struct shroud_rx rx;
	uint8_t sent[2000][LEN];
};

static struct world w;

static void world_end(void)
{
	shroud_rx_free(&w.rx, &w.t);
	assert_int_equal(w.t.used, 0);
	assert_true(sodium_is_zero((const uint8_t *)&w.rx, sizeof(w.rx)));
	table_free(&w.t);
}

static void world_begin(uint32_t window)
{
	assert_int_equal(table_init(&w.t, 16), 0);
	assert_int_equal(shroud_rx_init(&w.rx, &w.t, &keys, 7, window), 0);
	shroud_tx_init(&w.tx, &keys);
	for (uint64_t i = 1; i < 2000; i++) {
		uint8_t message[9] = { MESSAGE_PROBE };

		store_be(message + 1, i, 8);
		assert_int_equal(shroud_seal(&w.tx, w.sent[i], message, 9, 0), LEN);
	}
}

/* As a receiver: tries every entry with the address. Returns the number that opened, or 0. */
static uint64_t open_datagram(const uint8_t *datagram, size_t len)
{
	const struct table_entry *e = NULL;
	uint8_t out[SHROUD_DATAGRAM_MAX];
	uint64_t number;

	while ((e = table_find(&w.t, load_word(datagram), e))) {
		long n = shroud_open(&w.rx, &w.t, e->low, &number, out, datagram, len);

		if (n < 0)
			continue;
		assert_int_equal(out[0], MESSAGE_PROBE);
		return number;
	}
	return 0;
}

static bool comes(uint64_t number)
{
	uint64_t got = open_datagram(w.sent[number], LEN);

	assert_true(got == 0 || got == number);
	return got;
}

/* The addresses that the table must have: those ahead, and the missing ones behind. */
static void check_table(const bool *came)
{
	uint64_t h = w.rx.highest, behind = 0, ahead = SHROUD_WINDOW_MIN + h;

	for (uint64_t n = h < SHROUD_BEHIND ? 1 : h - SHROUD_BEHIND + 1; n <= h; n++)
		behind += !came[n];
	assert_int_equal(w.t.used, behind + (ahead < w.rx.window ? ahead : w.rx.window));
}

static void each_opens_once(void **state)
{
	static bool came[2000];

	(void)state;
	world_begin(1024);
	memset(came, 0, sizeof(came));
	for (uint64_t n = 1; n < 1900; n++) {
		check_table(came);
		assert_true(came[n] = comes(n));
		assert_false(comes(n));
	}
	world_end();
}

static void the_window_grows(void **state)
{
	(void)state;
	world_begin(256);
	assert_false(comes(65));
	assert_true(comes(64)); /* 64 ahead at first, 64 + 64 then */
	assert_false(comes(64 + 129));
	assert_true(comes(64 + 128));
	assert_false(comes(192 + 257)); /* 256 at most */
	assert_true(comes(192 + 256));
	world_end();
}

static void what_is_behind_comes_late(void **state)
{
	(void)state;
	world_begin(1024);
	for (uint64_t n = 64; n <= 448; n += 64)
		assert_true(comes(n));
	assert_false(comes(448 - 256)); /* has come */
	assert_false(comes(448 - 257)); /* too late */
	assert_true(comes(448 - 255));
	assert_true(comes(447));
	assert_false(comes(447));
	world_end();
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* A bad network: it loses, repeats, and reorders within 50. */
static void loss_reordering_and_repetition(void **state)
{
	static bool came[2000];
	uint64_t seed = 1;

	(void)state;
	world_begin(1024);
	memset(came, 0, sizeof(came));
	for (uint64_t base = 1; base + 50 < 2000; base++) {
		uint64_t n = base + draw(&seed) % 50;

		if (draw(&seed) % 5 == 0)
			continue;
		assert_int_equal(comes(n), !came[n]);
		came[n] = true;
		check_table(came);
	}
	world_end();
}

static void what_is_altered_changes_nothing(void **state)
{
	uint8_t bad[LEN];
	uint64_t used;

	(void)state;
	world_begin(1024);
	used = w.t.used;
	for (size_t i = 0; i < LEN; i++) {
		memcpy(bad, w.sent[5], LEN);
		bad[i] ^= 1;
		assert_int_equal(open_datagram(bad, LEN), 0);
		assert_int_equal(open_datagram(w.sent[5], i < 8 ? 8 : i), 0);
	}
	assert_int_equal(w.t.used, used);
	assert_int_equal(w.rx.highest, 0);
	assert_true(comes(5));
	world_end();
}

static void another_session_does_not_open_it(void **state)
{
	static const struct shroud_keys other = { .address = { 1 }, .seal = { 3 } };
	struct shroud_tx tx;
	uint8_t message[9] = { MESSAGE_PROBE }, out[LEN];

	(void)state;
	world_begin(1024);
	shroud_tx_init(&tx, &other);
	shroud_seal(&tx, out, message, sizeof(message), 0);
	assert_memory_equal(out, w.sent[1], 8);
	assert_int_equal(open_datagram(out, LEN), 0);
	world_end();
}

/* Two receivers, or two numbers, with the same address: each opens its own. */
static void equal_addresses(void **state)
{
	static const struct shroud_keys other = { .address = { 1 }, .seal = { 3 } };
	struct shroud_rx *rx[2] = { &w.rx, NULL }, second;
	uint8_t message[9] = { MESSAGE_PROBE }, out[LEN], opened[SHROUD_DATAGRAM_MAX];
	struct shroud_tx tx;

	(void)state;
	world_begin(256);
	assert_int_equal(shroud_rx_init(&second, &w.t, &other, 8, 256), 0);
	rx[1] = &second;
	assert_int_equal(w.t.used, 128);
	shroud_tx_init(&tx, &other);
	for (uint64_t i = 1; i < 100; i++) {
		const uint8_t *datagrams[2] = { w.sent[i], out };

		shroud_seal(&tx, out, message, sizeof(message), 0);
		for (int k = 0; k < 2; k++) {
			const struct table_entry *e = NULL;
			uint64_t number = 0;
			int tried = 0;

			while (!number && (e = table_find(&w.t, load_word(datagrams[k]), e))) {
				uint32_t owner = e->owner;

				tried++;
				if (shroud_open(rx[owner - 7], &w.t, e->low, &number, opened,
						datagrams[k], LEN) < 0)
					number = 0;
				else
					assert_int_equal(owner, 7 + k);
			}
			assert_int_equal(number, i);
			assert_true(tried <= 2);
		}
	}
	/* And within one receiver: in the table, number 300 also has the address of 200. */
	assert_int_equal(table_add(&w.t, load_word(w.sent[200]), 7, 300), 0);
	assert_int_equal(open_datagram(w.sent[200], LEN), 200);
	table_remove(&w.t, load_word(w.sent[200]), 7, 300);
	shroud_rx_free(&second, &w.t);
	world_end();
}

static void acknowledged_is_what_was_kept(void **state)
{
	struct ack ack = { 0 };

	(void)state;
	world_begin(1024);
	shroud_keep(&w.rx, 1);
	shroud_received(&w.rx, ack.received);
	assert_true(sodium_is_zero(ack.received, sizeof(ack.received)));
	for (uint64_t n = 1; n <= 600; n++) {
		if (n % 7 == 0)
			continue;
		assert_true(comes(n));
		if (n % 5)
			shroud_keep(&w.rx, n);
		ack.highest = w.rx.highest;
		shroud_received(&w.rx, ack.received);
		for (uint64_t i = 1; i <= n; i++)
			assert_int_equal(ack_has(&ack, i), n - i < SHROUD_BEHIND && i % 7 && i % 5);
	}
	shroud_keep(&w.rx, 601);
	shroud_keep(&w.rx, 344);
	assert_false(ack_has(&ack, 601));
	world_end();
}

static void padding(void **state)
{
	uint8_t message[1300] = { MESSAGE_INFO }, out[SHROUD_DATAGRAM_MAX],
		opened[SHROUD_DATAGRAM_MAX];

	(void)state;
	memset(message + 1, 0xaa, sizeof(message) - 1);
	for (size_t len = 1; len <= 1232 - SHROUD_OVERHEAD - 2; len++) {
		uint64_t number;

		if (len % 100 == 1 || len == 1) {
			if (len > 1)
				world_end();
			world_begin(256);
			shroud_tx_init(&w.tx, &keys);
		}
		assert_int_equal(shroud_seal(&w.tx, out, message, len, SHROUD_DATAGRAM_PADDED),
				 1232);
		assert_int_equal(shroud_open(&w.rx, &w.t,
					     table_find(&w.t, load_word(out), NULL)->low, &number,
					     opened, out, 1232),
				 len);
		assert_memory_equal(opened, message, len);
	}
	world_end();
}

/* A message that contradicts itself comes from a holder of the keys: it counts as received, and is
 * malformed.
 */
static void padding_that_lies(void **state)
{
	static const struct {
		uint8_t bytes[4];
		int len;
	} lies[] = {
		{ { 0x86 }, 1 },
		{ { 0x86, 2 }, 2 },
		{ { 0x86, 0, 0 }, 3 },
		{ { 0x86, 0, 1 }, 3 },
		{ { 0x86, 0, 3 }, 3 },
		{ { 0x86, 0, 0, 4 }, 4 },
		{ { 0x86, 0, 0xff, 0xff }, 4 },
	};
	uint8_t out[64], opened[64];
	uint64_t number;

	(void)state;
	world_begin(256);
	shroud_tx_init(&w.tx, &keys);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		size_t len = shroud_seal(&w.tx, out, lies[i].bytes, lies[i].len, 0);

		assert_int_equal(shroud_open(&w.rx, &w.t,
					     table_find(&w.t, load_word(out), NULL)->low, &number,
					     opened, out, len),
				 0);
		assert_int_equal(open_datagram(out, len), 0);
	}
	world_end();
}

/* Moves a receiver to where the low 32 bits of numbers wrap. */
static void numbers_beyond_32_bits(void **state)
{
	uint64_t from = (1ULL << 32) - 100;
	uint8_t message[9] = { MESSAGE_PROBE }, out[400][LEN];

	(void)state;
	world_begin(64); /* always as many ahead */
	shroud_rx_free(&w.rx, &w.t);
	assert_int_equal(shroud_rx_init(&w.rx, &w.t, &keys, 7, 64), 0);
	for (uint64_t n = 1; n <= 64; n++)
		table_remove(&w.t, load_word(w.sent[n]), 7, n);
	assert_int_equal(w.t.used, 0);
	w.rx.highest = from;
	w.rx.ahead = from + 64;
	memset(w.rx.received, 0xff, sizeof(w.rx.received));
	w.tx.next = from + 1;
	for (int i = 1; i < 400; i++) {
		shroud_seal(&w.tx, out[i], message, sizeof(message), 0);
		if (i <= 64)
			assert_int_equal(table_add(&w.t, load_word(out[i]), 7, from + i), 0);
	}
	for (int i = 1; i < 400; i++)
		if (i % 3)
			assert_int_equal(open_datagram(out[i], LEN), from + i);
	for (int i = 150; i < 400; i += 3) /* the remaining ones from 2^32 + 50 on */
		assert_int_equal(open_datagram(out[i], LEN), from + i);
	world_end();
}

static void room_is_half_of_what_is_known(void **state)
{
	(void)state;
	assert_int_equal(shroud_room(0, 1024), 32);
	assert_int_equal(shroud_room(100, 1024), 82);
	assert_int_equal(shroud_room(960, 1024), 512);
	assert_int_equal(shroud_room(1ULL << 40, 1024), 512);
	assert_int_equal(shroud_room(UINT64_MAX, 65536), 32768);
	assert_int_equal(shroud_room(0, 64), 32);
}

/* A sensor that hears nothing announces its number. */
static void the_window_is_moved(void **state)
{
	uint64_t highest;

	(void)state;
	world_begin(256);
	shroud_rx_move(&w.rx, &w.t, 1);
	assert_int_equal(w.rx.highest, 0);
	assert_int_equal(w.t.used, 256); /* all at once */
	assert_true(comes(256));
	assert_true(comes(3));
	shroud_rx_move(&w.rx, &w.t, 301); /* inside: those before it may still come */
	assert_int_equal(w.rx.highest, 300);
	assert_true(comes(300));
	assert_false(comes(40)); /* too late */
	assert_true(comes(45));
	shroud_rx_move(&w.rx, &w.t, 200);
	assert_int_equal(w.rx.highest, 300);
	assert_true(comes(301 + 255));
	shroud_rx_move(&w.rx, &w.t, 1500); /* beyond: those are not waited for */
	assert_int_equal(w.t.used, 256);
	assert_false(comes(1499));
	assert_false(comes(1499 + 257));
	assert_true(comes(1500));
	assert_true(comes(1510));
	assert_true(comes(1505));
	highest = w.rx.highest;
	shroud_rx_move(&w.rx, &w.t, UINT64_MAX); /* no session gets that far */
	assert_int_equal(w.rx.highest, highest);
	shroud_rx_move(&w.rx, &w.t, 1ULL << 50); /* and this takes no longer than any */
	assert_int_equal(w.rx.highest, (1ULL << 50) - 1);
	assert_int_equal(w.t.used, 256);
	world_end();
}

static void nothing_to_free(void **state)
{
	struct shroud_rx rx = { 0 };
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 0), 0);
	shroud_rx_free(&rx, &t);
	table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_opens_once),
		cmocka_unit_test(the_window_grows),
		cmocka_unit_test(what_is_behind_comes_late),
		cmocka_unit_test(loss_reordering_and_repetition),
		cmocka_unit_test(what_is_altered_changes_nothing),
		cmocka_unit_test(another_session_does_not_open_it),
		cmocka_unit_test(equal_addresses),
		cmocka_unit_test(acknowledged_is_what_was_kept),
		cmocka_unit_test(padding),
		cmocka_unit_test(padding_that_lies),
		cmocka_unit_test(numbers_beyond_32_bits),
		cmocka_unit_test(room_is_half_of_what_is_known),
		cmocka_unit_test(the_window_is_moved),
		cmocka_unit_test(nothing_to_free),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
