// SPDX-License-Identifier: GPL-2.0
/* links: wire/seal.o wire/keys.o */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/seal.h"

#define INFO "interface=mon0\n"

struct ends {
	struct keypair collector;
	struct seal_initiator initiator;
	struct seal_session sensor, peer;
};

static void pair(struct keypair *p)
{
	key_generate(p->secret);
	assert_int_equal(key_public(p->public, p->secret), 0);
}

static long init(struct ends *e, uint8_t *out)
{
	return seal_init(&e->initiator, out, 1000, 77, INFO, strlen(INFO));
}

static void set_up(struct ends *e)
{
	uint8_t in[SEAL_INIT_MAX], answer[SEAL_ANSWER_LEN];
	struct seal_responder r;
	uint16_t id;
	long len;

	pair(&e->collector);
	pair(&e->initiator.own);
	memcpy(e->initiator.peer, e->collector.public, KEY_LEN);
	len = init(e, in);
	assert_true(seal_init_plausible(&e->collector, in, len));
	assert_int_equal(seal_accept(&r, &e->collector, in, len), 0);
	assert_memory_equal(r.sensor, e->initiator.own.public, KEY_LEN);
	assert_int_equal(r.time_ns, 1000);
	assert_int_equal(r.run, 77);
	assert_string_equal((char *)r.info, INFO);
	seal_answer(&r, &e->peer, answer, 0xcafe, 9);
	assert_int_equal(seal_finish(&e->initiator, &e->sensor, &id, answer, sizeof(answer)), 0);
	assert_int_equal(id, 9);
	/* An INIT is answered once. */
	assert_int_equal(seal_finish(&e->initiator, &e->sensor, &id, answer, sizeof(answer)),
			 -EBADMSG);
}

static void both_ways(void **state)
{
	uint8_t d[100], m[100];
	struct ends e;
	uint32_t session;

	(void)state;
	set_up(&e);
	assert_int_equal(seal_datagram(&e.sensor.tx, d, (const uint8_t *)"hello", 5),
			 5 + SEAL_OVERHEAD);
	assert_int_equal(seal_session_of(d, 5 + SEAL_OVERHEAD, &session), 0);
	assert_int_equal(session, 0xcafe);
	assert_int_equal(seal_open(&e.peer.rx, m, d, 5 + SEAL_OVERHEAD), 5);
	assert_memory_equal(m, "hello", 5);
	assert_int_equal(seal_open(&e.peer.rx, m, d, 5 + SEAL_OVERHEAD), -EALREADY);
	seal_datagram(&e.peer.tx, d, (const uint8_t *)"yes", 3);
	assert_int_equal(seal_open(&e.peer.rx, m, d, 3 + SEAL_OVERHEAD), -EALREADY); /* counter 1 */
	assert_int_equal(seal_open(&e.sensor.rx, m, d, 3 + SEAL_OVERHEAD), 3);
	/* A message of no bytes is one too. */
	seal_datagram(&e.sensor.tx, d, NULL, 0);
	assert_int_equal(seal_open(&e.peer.rx, m, d, SEAL_OVERHEAD), 0);
}

static void nothing_changed_or_cut_opens(void **state)
{
	uint8_t d[64], m[64];
	struct ends e;
	size_t len;

	(void)state;
	set_up(&e);
	len = seal_datagram(&e.sensor.tx, d, (const uint8_t *)"hello", 5);
	for (size_t i = 0; i < len; i++) {
		if (i >= 1 && i < 5)
			continue; /* the session's id: it would not be looked up */
		d[i] ^= 1;
		assert_true(seal_open(&e.peer.rx, m, d, len) < 0);
		d[i] ^= 1;
		assert_true(seal_open(&e.peer.rx, m, d, i) < 0);
	}
	assert_int_equal(seal_open(&e.peer.rx, m, d, len), 5);
}

static void window_takes_each_once_in_any_order(void **state)
{
	enum { N = 3 * SEAL_WINDOW };
	static uint8_t d[N][SEAL_OVERHEAD + 1];
	uint8_t m[8];
	struct ends e;

	(void)state;
	set_up(&e);
	for (int i = 0; i < N; i++)
		seal_datagram(&e.sensor.tx, d[i], (const uint8_t *)"x", 1);
	srand(3);
	for (int block = 0; block < N; block += 512) /* shuffled within reach */
		for (int k = 0; k < 512; k++) {
			int i = block + (k * 197 + 5) % 512;

			assert_int_equal(seal_open(&e.peer.rx, m, d[i], sizeof(d[i])), 1);
			assert_int_equal(seal_open(&e.peer.rx, m, d[i], sizeof(d[i])), -EALREADY);
		}
	for (int i = 0; i < N; i++)
		assert_int_equal(seal_open(&e.peer.rx, m, d[i], sizeof(d[i])), -EALREADY);
}

static void window_forgets_what_is_too_old(void **state)
{
	uint8_t old[SEAL_OVERHEAD + 1], new[SEAL_OVERHEAD + 1], m[8];
	struct ends e;

	(void)state;
	set_up(&e);
	seal_datagram(&e.sensor.tx, old, (const uint8_t *)"x", 1);
	e.sensor.tx.counter = SEAL_WINDOW + 10;
	seal_datagram(&e.sensor.tx, new, (const uint8_t *)"x", 1);
	assert_int_equal(seal_open(&e.peer.rx, m, new, sizeof(new)), 1);
	assert_int_equal(seal_open(&e.peer.rx, m, old, sizeof(old)), -EALREADY);
	/* And a jump over more than a whole window. */
	e.sensor.tx.counter = 100 * SEAL_WINDOW;
	seal_datagram(&e.sensor.tx, new, (const uint8_t *)"x", 1);
	assert_int_equal(seal_open(&e.peer.rx, m, new, sizeof(new)), 1);
	assert_int_equal(seal_open(&e.peer.rx, m, new, sizeof(new)), -EALREADY);
	e.sensor.tx.counter = 100 * SEAL_WINDOW - 1000;
	seal_datagram(&e.sensor.tx, new, (const uint8_t *)"x", 1);
	assert_int_equal(seal_open(&e.peer.rx, m, new, sizeof(new)), 1);
}

static void set_up_refuses_everything_else(void **state)
{
	uint8_t in[SEAL_INIT_MAX];
	struct keypair stranger;
	struct seal_responder r;
	struct ends e;
	long len;

	(void)state;
	set_up(&e);
	pair(&stranger);
	len = init(&e, in);
	assert_false(seal_init_plausible(&stranger, in, len));
	assert_int_equal(seal_accept(&r, &stranger, in, len), -EBADMSG);
	for (long i = 0; i < len; i++) {
		assert_false(seal_init_plausible(&e.collector, in, i));
		in[i] ^= 0x80;
		/* X25519 ignores the highest bit of a point (RFC 7748), the mac does not. */
		assert_false(seal_init_plausible(&e.collector, in, len));
		if (i < len - 16 && i != 32)
			assert_int_equal(seal_accept(&r, &e.collector, in, len), -EBADMSG);
		in[i] ^= 0x80;
	}
	memset(in + 1, 0, 32); /* a point of low order */
	assert_int_equal(seal_accept(&r, &e.collector, in, len), -EBADMSG);
}

static void sessions_have_keys_of_their_own(void **state)
{
	uint8_t in[SEAL_INIT_MAX], answer[SEAL_ANSWER_LEN], d[64], m[64];
	struct seal_session second;
	struct seal_responder r;
	struct ends e;
	long len;

	(void)state;
	set_up(&e);
	len = init(&e, in);
	assert_int_equal(seal_accept(&r, &e.collector, in, len), 0);
	seal_answer(&r, &second, answer, 0xcafe, 9);
	assert_memory_not_equal(second.rx.key, e.peer.rx.key, KEY_LEN);
	seal_datagram(&e.sensor.tx, d, (const uint8_t *)"hello", 5);
	assert_int_equal(seal_open(&second.rx, m, d, 5 + SEAL_OVERHEAD), -EBADMSG);
}

static int group_setup(void **state)
{
	(void)state;
	return keys_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(nothing_changed_or_cut_opens),
		cmocka_unit_test(window_takes_each_once_in_any_order),
		cmocka_unit_test(window_forgets_what_is_too_old),
		cmocka_unit_test(set_up_refuses_everything_else),
		cmocka_unit_test(sessions_have_keys_of_their_own),
	};

	return cmocka_run_group_tests_name("seal", tests, group_setup, NULL);
}
