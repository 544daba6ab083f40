// SPDX-License-Identifier: GPL-2.0
/* The frozen examples of docs/wire.md, tests/wire/vectors.json, made by the second implementation
 * (tests/wire/). This implementation makes and opens the same bytes. If a function draws random
 * numbers, the vector tests the other end.
 *
 * links: wire/derive.o wire/shroud.o wire/table.o wire/tryst.o wire/request.o wire/keys.o
 * wire/totals.o wire/combo.o wire/columns.o wire/combo_open.o wire/dot11_templates.o
 * wire/fields.o wire/wired_templates.o wire/wired_append.o wire/tails.o wire/wired_next.o
 * wire/dwell.o wire/module_event.o wire/clock_readings.o wire/progress.o
 * wire/spool.o
 */
#include "unit.h"

#include <sodium.h>

#include "wire/request.h"
#include "wire/combo.h"
#include "wire/clock_readings.h"
#include "wire/dwell.h"
#include "wire/module_event.h"
#include "wire/progress.h"
#include "wire/message.h"
#include "wire/spool.h"
#include "wire/totals.h"
#include "wire/tryst.h"

/* The path is relative to make's directory. */
__asm__(".section .rodata\n"
	".global vectors_json\n"
	"vectors_json:\n"
	".incbin \"tests/wire/vectors.json\"\n"
	".byte 0\n"
	".previous\n");
extern const char vectors_json[];

struct vector {
	uint8_t bytes[40000];
	size_t len;
};

static uint8_t nibble(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static const struct vector *vector_into(struct vector *v, const char *name)
{
	char key[64];
	const char *p;

	snprintf(key, sizeof(key), "\n \"%s\": \"", name);
	p = strstr(vectors_json, key);
	if (!p)
		fail_msg("no vector %s", name);
	v->len = 0;
	for (p += strlen(key); *p != '"'; p += 2) {
		assert_true(v->len < sizeof(v->bytes));
		v->bytes[v->len++] = nibble(p[0]) << 4 | nibble(p[1]);
	}
	return v;
}

/* Valid until eight more were requested. */
static const struct vector *vector(const char *name)
{
	static struct vector some[8];
	static unsigned int next;

	return vector_into(&some[next++ % 8], name);
}

static const uint8_t *key(const char *name)
{
	const struct vector *v = vector(name);

	assert_int_equal(v->len, KEY_LEN);
	return v->bytes;
}

static uint64_t number(const char *name)
{
	return load_be(vector(name)->bytes, 8);
}

static struct keypair keypair(const char *name, const char *public)
{
	struct keypair pair;

	memcpy(pair.secret, key(name), KEY_LEN);
	assert_int_equal(key_public(pair.public, pair.secret), 0);
	assert_memory_equal(pair.public, key(public), KEY_LEN);
	return pair;
}

#define ASSERT_VECTOR(what, len_, name)                                                            \
	do {                                                                                       \
		const struct vector *is = vector(name);                                            \
		assert_int_equal(len_, is->len);                                                   \
		assert_memory_equal(what, is->bytes, is->len);                                     \
	} while (0)

static void pairs(void **state)
{
	struct keypair s = keypair("s", "S"), c = keypair("c", "C");
	uint8_t pair[KEY_LEN];

	(void)state;
	assert_int_equal(tryst_pair(pair, &s, c.public, true, NULL), 0);
	ASSERT_VECTOR(pair, sizeof(pair), "pair");
	assert_int_equal(tryst_pair(pair, &c, s.public, false, NULL), 0);
	ASSERT_VECTOR(pair, sizeof(pair), "pair");
	assert_int_equal(tryst_pair(pair, &s, c.public, true, key("preshared")), 0);
	ASSERT_VECTOR(pair, sizeof(pair), "pair_preshared");
	assert_int_equal(tryst_pair(pair, &c, s.public, false, key("preshared")), 0);
	ASSERT_VECTOR(pair, sizeof(pair), "pair_preshared");
}

static void slots_of_intervals(void **state)
{
	uint64_t slots[TRYST_SLOTS];

	(void)state;
	tryst_slots(slots, key("pair"), number("interval"));
	ASSERT_VECTOR(slots, sizeof(slots), "slots");
	tryst_slots(slots, key("pair"), number("day_end"));
	ASSERT_VECTOR(slots, sizeof(slots), "slots_day_end");
	tryst_slots(slots, key("pair"), number("day_end") + 1);
	ASSERT_VECTOR(slots, sizeof(slots), "slots_next_day");
}

static void set_up(const char *suffix, uint8_t flags)
{
	struct keypair s = keypair("s", "S");
	char m1[32], m2[32], k1[32], k2[32], answer[32];
	struct tryst_asked asked = { .ephemeral = keypair("e_s", "e_s_public") };
	struct tryst_welcome welcome;
	struct tryst_hello hello;
	uint8_t root[KEY_LEN];

	snprintf(m1, sizeof(m1), "m1%s", suffix);
	snprintf(m2, sizeof(m2), "m2%s", suffix);
	snprintf(k1, sizeof(k1), "k1%s", suffix);
	snprintf(k2, sizeof(k2), "k2%s", suffix);
	snprintf(answer, sizeof(answer), "answer_address%s", suffix);

	assert_int_equal(tryst_accept(&hello, key("pair"), vector(m1)->bytes, vector(m1)->len), 0);
	ASSERT_VECTOR(hello.ephemeral, KEY_LEN, "e_s_public");
	assert_int_equal(hello.run, number("run"));
	assert_int_equal(hello.time_ns, number("time"));
	assert_int_equal(hello.window, number("window"));
	assert_int_equal(hello.flags, flags);
	assert_int_equal(hello.version, TRYST_VERSION);
	ASSERT_VECTOR(hello.info, hello.info_len, "info");
	ASSERT_VECTOR(hello.instance, sizeof(hello.instance), "instance");

	memcpy(asked.k1, key(k1), KEY_LEN);
	memcpy(asked.answer, vector(answer)->bytes, 8);
	assert_int_equal(
		tryst_finish(&asked, &s, &welcome, root, vector(m2)->bytes, vector(m2)->len), 0);
	ASSERT_VECTOR(root, KEY_LEN, k2);
	ASSERT_VECTOR(welcome.ephemeral, KEY_LEN, "e_c_public");
	assert_int_equal(welcome.time_ns, number("welcome_time"));
	assert_int_equal(welcome.window, number("welcome_window"));
	assert_int_equal(welcome.flags, flags);
	assert_int_equal(welcome.sensor_id, number("sensor"));
}

static void set_ups(void **state)
{
	(void)state;
	set_up("", 0);
	set_up("_padded", TRYST_PADDED);
}

static void one_way(void **state)
{
	struct keypair e_s = keypair("e_s", "e_s_public"), c = keypair("c", "C");
	struct tryst_hello hello;
	uint8_t root[KEY_LEN];

	(void)state;
	assert_int_equal(tryst_accept(&hello, key("pair"), vector("m1_one_way")->bytes,
				      vector("m1_one_way")->len),
			 0);
	assert_int_equal(hello.run, number("run"));
	assert_int_equal(hello.window, 4096);
	assert_int_equal(hello.flags, TRYST_ONE_WAY);
	ASSERT_VECTOR(hello.info, hello.info_len, "info");
	assert_int_equal(hello.next, number("next"));
	ASSERT_VECTOR(hello.instance, sizeof(hello.instance), "instance");
	assert_int_equal(tryst_one_way(root, key("pair"), &hello, e_s.secret, c.public), 0);
	ASSERT_VECTOR(root, KEY_LEN, "k2_one_way");
	assert_int_equal(tryst_one_way(root, key("pair"), &hello, c.secret, hello.ephemeral), 0);
	ASSERT_VECTOR(root, KEY_LEN, "k2_one_way");
}

static void sessions(void **state)
{
	struct keypair e_s = keypair("renew_e_s", "renew_e_s_public");
	struct keypair e_c = keypair("renew_e_c", "renew_e_c_public");
	uint8_t k2[KEY_LEN], chain[KEY_LEN];
	struct shroud_keys up, down;

	(void)state;
	memcpy(k2, key("k2"), KEY_LEN);
	tryst_session(k2, &up, &down, chain);
	ASSERT_VECTOR(up.address, KEY_LEN, "up_address");
	ASSERT_VECTOR(up.seal, KEY_LEN, "up_seal");
	ASSERT_VECTOR(down.address, KEY_LEN, "down_address");
	ASSERT_VECTOR(down.seal, KEY_LEN, "down_seal");
	ASSERT_VECTOR(chain, KEY_LEN, "chain");
	assert_true(sodium_is_zero(k2, sizeof(k2)));
	assert_int_equal(tryst_renew(k2, chain, &e_s, e_c.public, true), 0);
	ASSERT_VECTOR(k2, KEY_LEN, "k2_renewed");
	assert_int_equal(tryst_renew(k2, chain, &e_c, e_s.public, false), 0);
	ASSERT_VECTOR(k2, KEY_LEN, "k2_renewed");
}

static void opens(struct request *q, const char *name, uint64_t interval)
{
	struct keypair c = keypair("c", "C");
	const struct vector *v = vector(name);
	struct request_keys keys;
	uint64_t found;

	request_keys_init(&keys, c.public);
	assert_true(request_plausible(&keys, v->bytes, v->len, number("interval"), &found));
	assert_int_equal(found, interval);
	assert_int_equal(request_open(q, &c, v->bytes, v->len, interval), 0);
	assert_int_equal(q->version, TRYST_VERSION);
	ASSERT_VECTOR(q->sensor, KEY_LEN, "S");
	ASSERT_VECTOR(q->ephemeral, KEY_LEN, "request_e_public");
}

static void request_of(const char *name, const char *key_name, const char *answer_name,
		       uint64_t interval)
{
	static struct vector answer;
	struct request_asked asked;
	struct request_answer said;
	struct request q;

	opens(&q, name, interval);
	assert_int_equal(q.kind, REQUEST_COOKIE);
	assert_true(request_proved(&q, key("pair")));
	assert_false(request_proved(&q, key("pair_preshared")));
	ASSERT_VECTOR(q.key, KEY_LEN, key_name);
	memcpy(asked.key, key(key_name), KEY_LEN);
	vector_into(&answer, answer_name);
	assert_int_equal(request_answered(&asked, &said, answer.bytes, answer.len), 0);
	assert_int_equal(said.time_ns, number("request_time"));
	ASSERT_VECTOR(&said.cookie, 8, "cookie");
}

static void requests(void **state)
{
	struct tryst_hello hello;
	struct request q;

	(void)state;
	request_of("request", "request_key", "request_answer", REQUEST_UNDATED);
	request_of("request_padded", "request_key_padded", "request_answer_padded",
		   REQUEST_UNDATED);
	request_of("request_dated", "request_key_dated", "request_answer_dated",
		   number("interval"));
	opens(&q, "request_set_up", number("interval"));
	assert_int_equal(q.kind, REQUEST_SET_UP);
	ASSERT_VECTOR(q.rest, q.rest_len, "m1_fresh");
	assert_int_equal(tryst_accept(&hello, key("pair"), q.rest, q.rest_len), 0);
	ASSERT_VECTOR(hello.instance, sizeof(hello.instance), "instance");
}

static struct shroud_keys shroud_keys(const char *address, const char *seal)
{
	struct shroud_keys keys;

	memcpy(keys.address, key(address), KEY_LEN);
	memcpy(keys.seal, key(seal), KEY_LEN);
	return keys;
}

static void sealed(const char *suffix, size_t padded_len)
{
	struct shroud_keys up = shroud_keys("up_address", "up_seal");
	static struct vector numbers;
	uint8_t out[SHROUD_DATAGRAM_MAX];
	struct shroud_tx tx;

	vector_into(&numbers, "shroud_numbers");
	shroud_tx_init(&tx, &up);
	for (size_t i = 0; i < numbers.len / 8; i++) {
		char message[48], datagram[48];
		size_t len;

		snprintf(message, sizeof(message), "shroud_message_%zu", i);
		snprintf(datagram, sizeof(datagram), "shroud_datagram_%zu%s", i, suffix);
		tx.next = load_be(numbers.bytes + 8 * i, 8);
		len = shroud_seal(&tx, out, vector(message)->bytes, vector(message)->len,
				  padded_len);
		ASSERT_VECTOR(out, len, datagram);
	}
}

static void datagrams(void **state)
{
	(void)state;
	sealed("", 0);
	sealed("_padded", SHROUD_DATAGRAM_PADDED);
}

/* The first datagrams within the window. */
static void datagrams_open(void **state)
{
	struct shroud_keys up = shroud_keys("up_address", "up_seal");
	static const char *const suffix[] = { "", "_padded" };

	(void)state;
	for (int s = 0; s < 2; s++) {
		struct shroud_rx rx;
		struct table t;

		assert_int_equal(table_init(&t, 64), 0);
		assert_int_equal(shroud_rx_init(&rx, &t, &up, 1, 1024), 0);
		for (int i = 0; i < 5; i++) {
			const struct table_entry *e;
			const struct vector *v;
			uint8_t out[SHROUD_DATAGRAM_MAX];
			char name[48];
			uint64_t n;
			long len;

			snprintf(name, sizeof(name), "shroud_datagram_%d%s", i, suffix[s]);
			v = vector(name);
			e = table_find(&t, load_word(v->bytes), NULL);
			assert_non_null(e);
			len = shroud_open(&rx, &t, e->low, &n, out, v->bytes, v->len);
			snprintf(name, sizeof(name), "shroud_message_%d", i);
			ASSERT_VECTOR(out, len, name);
			assert_int_equal(n, load_be(vector("shroud_numbers")->bytes + 8 * i, 8));
		}
		shroud_rx_free(&rx, &t);
		table_free(&t);
	}
}

static void received_bits(void **state)
{
	struct shroud_keys down = shroud_keys("down_address", "down_seal");
	uint8_t message[MESSAGE_CHALLENGE_LEN] = { MESSAGE_CHALLENGE }, datagram[64], bits[32];
	static struct vector numbers;
	struct shroud_rx rx;
	struct shroud_tx tx;
	struct table t;

	(void)state;
	vector_into(&numbers, "received_numbers");
	shroud_tx_init(&tx, &down);
	assert_int_equal(table_init(&t, 64), 0);
	assert_int_equal(shroud_rx_init(&rx, &t, &down, 1, SHROUD_WINDOW_DOWN), 0);
	for (size_t i = 0; i < numbers.len / 8; i++) {
		const struct table_entry *e;
		uint8_t out[64];
		uint64_t n;
		size_t len;

		tx.next = load_be(numbers.bytes + 8 * i, 8);
		len = shroud_seal(&tx, datagram, message, sizeof(message), 0);
		e = table_find(&t, load_word(datagram), NULL);
		assert_non_null(e);
		assert_true(shroud_open(&rx, &t, e->low, &n, out, datagram, len) > 0);
		if (n % 4)
			shroud_keep(&rx, n);
	}
	shroud_received(&rx, bits);
	ASSERT_VECTOR(bits, sizeof(bits), "received");
	shroud_rx_free(&rx, &t);
	table_free(&t);
}

static void messages(void **state)
{
	struct ack ack = { .highest = 228,
			   .taken = 70000,
			   .settled = 69990,
			   .held = 0x8000000000000005,
			   .flags = ACK_FINAL };
	uint8_t out[ACK_LEN], header[PIECE_HEADER_LEN];
	struct piece p;

	(void)state;
	memcpy(ack.received, vector("received")->bytes, 32);
	ack_write(out, &ack);
	ASSERT_VECTOR(out, sizeof(out), "ack");
	assert_int_equal(piece_read(&p, vector("piece")->bytes, vector("piece")->len), 0);
	assert_int_equal(p.combo, 0x345678);
	assert_int_equal(p.offset, 1360);
	assert_int_equal(p.total, 1379);
	assert_int_equal(p.len, 19);
	piece_header_write(header, 0x12345678, 1360, 1379);
	assert_memory_equal(header, vector("piece")->bytes, sizeof(header));
}

static void totals(void **state)
{
	static const char *const names[] = { "totals", "totals_interfaces" };
	uint8_t out[TOTALS_WIRE_MAX];
	struct totals t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(totals_read(&t, vector(names[i])->bytes, vector(names[i])->len),
				 0);
		assert_true(t.seen == UINT64_MAX && t.filtered == 3 && t.in_ring == 43046721);
		assert_int_equal(t.interface_count, i ? 2 : 0);
		ASSERT_VECTOR(out, totals_write(out, &t), names[i]);
	}
	assert_true(t.interfaces[1].seen == 300 && t.interfaces[1].ring_full == 300);
}

static void hash_frame(crypto_generichash_state *hash, const struct combo_frame *f)
{
	uint8_t head[20];

	store_be(head, f->time_ns, 8);
	store_be(head + 8, f->orig_len, 4);
	store_be(head + 12, f->kept_len, 4);
	store_be(head + 16, f->linktype, 2);
	head[18] = f->interface;
	head[19] = f->direction;
	crypto_generichash_update(hash, head, sizeof(head));
	crypto_generichash_update(hash, f->data, f->kept_len);
}

/* Takes the events before the next frame, which is number `at` of the combo. */
static size_t take_events(struct combo_reader *r, uint32_t at, uint8_t *out)
{
	struct combo_event e;
	size_t len = 0;

	while (combo_next_event(r, &e) == 1) {
		store_be(out + len, at, 4);
		store_be(out + len + 4, e.type, 4);
		store_be(out + len + 8, e.len, 4);
		memcpy(out + len + 12, e.bytes, e.len);
		len += 12 + e.len;
	}
	return len;
}

/* Opens the combo `name`, and compares the hash of its frames and their descriptions with `hashed`.
 * Returns the bytes of its events, each with its description, in `events`. */
static size_t open_combo(const char *name, const char *hashed, uint8_t *events)
{
	static struct combo_reader reader;
	static struct vector combo;
	crypto_generichash_state hash;
	uint8_t digest[KEY_LEN];
	size_t events_len = 0;
	struct combo_header h;
	struct combo_frame f;

	vector_into(&combo, name);
	assert_int_equal(combo_header_read(&h, combo.bytes, combo.len, 9), 0);
	assert_int_equal(h.seqn, number("combo_count") & 0xffff);
	assert_int_equal(h.codec, COMBO_STORED);
	assert_int_equal(combo_open(&reader, combo.bytes + 17, combo.len - 17, h.frames), 0);
	assert_int_equal(reader.first, number("combo_first"));
	crypto_generichash_init(&hash, NULL, 0, sizeof(digest));
	for (int i = 0; i < h.frames; i++) {
		events_len += take_events(&reader, i, events + events_len);
		assert_int_equal(combo_next(&reader, &f), 1);
		hash_frame(&hash, &f);
	}
	events_len += take_events(&reader, h.frames, events + events_len);
	crypto_generichash_final(&hash, digest, sizeof(digest));
	ASSERT_VECTOR(digest, sizeof(digest), hashed);
	return events_len;
}

static void combos(void **state)
{
	uint8_t events[500];
	size_t len = open_combo("combo", "combo_frames", events);

	(void)state;
	ASSERT_VECTOR(events, len, "combo_events");
	assert_int_equal(open_combo("combo_wired", "combo_wired_frames", events), 0);
}

static void events_alone(void **state)
{
	struct combo writer;
	struct combo_reader *reader = malloc(sizeof(*reader));
	static struct vector vector_combo;
	struct combo_event e;

	(void)state;
	vector_into(&vector_combo, "combo_of_events");
	assert_int_equal(combo_open(reader, vector_combo.bytes + 17, vector_combo.len - 17, 0), 0);
	assert_int_equal(combo_init(&writer, COMBO_SIZE_DEFAULT, 192), 0);
	while (combo_next_event(reader, &e) == 1)
		combo_event(&writer, e.type, e.bytes, e.len);
	writer.first = reader->first;
	combo_close(&writer);
	assert_int_equal(writer.body_len, vector_combo.len - 17);
	assert_memory_equal(writer.body, vector_combo.bytes + 17, writer.body_len);
	combo_free(&writer);
	free(reader);
}

static void assert_dwell(const char *name, uint64_t mhz, uint64_t frames, uint64_t error)
{
	const struct vector *v = vector(name);
	uint8_t out[DWELL_MAX];
	struct dwell d;

	assert_int_equal(dwell_read(&d, v->bytes, v->len), 0);
	assert_int_equal(d.mhz, mhz);
	assert_int_equal(d.frames, frames);
	assert_int_equal(d.error, error);
	ASSERT_VECTOR(out, dwell_write(out, &d), name);
}

static void dwells(void **state)
{
	(void)state;
	assert_dwell("dwell", 5180, 49, 0);
	assert_dwell("dwell_failed", 5975, 0, 22);
	assert_dwell("dwell_up", 2437, 7, 0);
}

static void assert_said(const char *name, const char *module, uint64_t serial, size_t len)
{
	const struct vector *v = vector(name);
	uint8_t out[MODULE_EVENT_ENCODED_MAX];
	struct module_event s;

	assert_int_equal(module_event_read(&s, v->bytes, v->len), 0);
	assert_string_equal(s.name, module);
	assert_true(s.serial == serial);
	assert_int_equal(s.len, len);
	ASSERT_VECTOR(out, module_event_write(out, &s), name);
}

static void words_of_modules(void **state)
{
	(void)state;
	assert_said("said", "worm-2_b", 70000, 9);
	assert_said("said_most", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", UINT64_MAX,
		    MODULE_EVENT_BYTES_MAX);
	assert_said("said_least", "A", 0, 0);
}

static void assert_readings(const char *name, unsigned int count, const struct clock_reading *last)
{
	const struct vector *v = vector(name);
	uint8_t out[CLOCK_READINGS_MAX * CLOCK_READING_WIRE_MAX];
	struct clock_readings r;

	assert_int_equal(clock_readings_read(&r, v->bytes, v->len), 0);
	assert_int_equal(r.count, count);
	assert_memory_equal(&r.list[count - 1], last, sizeof(*last));
	ASSERT_VECTOR(out, clock_readings_write(out, &r), name);
}

static void readings_of_clocks(void **state)
{
	(void)state;
	assert_readings("readings", 3,
			&(struct clock_reading){ 86400100000000,
						 1792000000123456789 - 86400000000000 + 37000000000,
						 -123506789 });
	assert_readings("readings_extreme", 2, &(struct clock_reading){ 0, INT64_MIN, INT64_MAX });
}

static void assert_progress(const char *name, const struct progress *want)
{
	const struct vector *v = vector(name);
	uint8_t out[PROGRESS_WIRE_MAX], longer[PROGRESS_WIRE_MAX + 1] = { 0 };
	struct progress p;

	assert_int_equal(progress_read(&p, v->bytes, v->len), 0);
	assert_memory_equal(&p, want, sizeof(p));
	ASSERT_VECTOR(out, progress_write(out, &p), name);
	for (size_t len = 0; len < v->len; len++)
		assert_int_equal(progress_read(&p, v->bytes, len), -EBADMSG);
	memcpy(longer, v->bytes, v->len); /* of a later version */
	assert_int_equal(progress_read(&p, longer, v->len + 1), 0);
}

static void what_was_sent_and_the_clocks_offset(void **state)
{
	(void)state;
	assert_progress("progress",
			&(struct progress){ 70000, 1792000000123456789, -5000000, 300000 });
	assert_progress("progress_most",
			&(struct progress){ UINT64_MAX, UINT64_MAX, INT64_MIN, UINT64_MAX });
}

static void spool_keys(const char *pair, const char *wrapped_name)
{
	struct keypair e = keypair("spool_e", "spool_e_public"), c = keypair("c", "C");
	uint8_t hello[SPOOL_HELLO_LEN], file[KEY_LEN], *wrapped = hello + KEY_LEN;

	assert_int_equal(spool_wrap(wrapped, &e, key(pair), c.public, key("spool_key")), 0);
	ASSERT_VECTOR(wrapped, SPOOL_WRAPPED_LEN, wrapped_name);
	memcpy(hello, e.public, KEY_LEN);
	assert_int_equal(spool_unwrap(file, hello, &c, key(pair)), 0);
	ASSERT_VECTOR(file, KEY_LEN, "spool_key");
}

static void spool_hello(void)
{
	static struct tryst_hello hello;
	uint8_t file[KEY_LEN];
	struct keypair c = keypair("c", "C");

	assert_int_equal(tryst_accept(&hello, key("pair"), vector("m1_spool")->bytes,
				      vector("m1_spool")->len),
			 0);
	assert_int_equal(hello.flags, TRYST_SPOOL);
	assert_int_equal(hello.run, number("run"));
	assert_int_equal(spool_unwrap(file, hello.info, &c, key("pair")), 0);
	ASSERT_VECTOR(file, KEY_LEN, "spool_key");
	ASSERT_VECTOR(hello.info + SPOOL_HELLO_LEN, hello.info_len - SPOOL_HELLO_LEN, "info");
}

static void spools(void **state)
{
	static uint8_t out[SPOOL_RECORD_MAX];
	const struct vector *record;
	const uint8_t *opened;
	size_t len;
	uint64_t run = number("run"), count = number("combo_count");

	(void)state;
	spool_keys("pair", "spool_wrapped");
	spool_keys("pair_preshared", "spool_wrapped_preshared");
	spool_hello();
	record = vector("spool_record");
	opened = spool_open(out, &len, key("spool_key"), run, count, record->bytes, record->len);
	assert_non_null(opened);
	ASSERT_VECTOR(opened, len, "spool_combo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(slots_of_intervals),
		cmocka_unit_test(set_ups),
		cmocka_unit_test(sessions),
		cmocka_unit_test(requests),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(datagrams_open),
		cmocka_unit_test(received_bits),
		cmocka_unit_test(messages),
		cmocka_unit_test(totals),
		cmocka_unit_test(combos),
		cmocka_unit_test(one_way),
		cmocka_unit_test(events_alone),
		cmocka_unit_test(dwells),
		cmocka_unit_test(readings_of_clocks),
		cmocka_unit_test(what_was_sent_and_the_clocks_offset),
		cmocka_unit_test(words_of_modules),
		cmocka_unit_test(spools),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
