// SPDX-License-Identifier: GPL-2.0
/* links: wire/tryst.o wire/request.o wire/derive.o wire/shroud.o wire/table.o wire/keys.o */
/*
 * Handshakes and requests: strangers', altered ones, and those of a key holder that breaks the
 * rules. Always holds: no stranger's and no altered one is accepted; an accepted one is within its
 * bounds; and an honest handshake succeeds afterwards, with the same keys at both ends.
 */
#include <errno.h>

#include "fuzz_random.h"
#include "wire/bytes.h"
#include "wire/request.h"
#include "wire/tryst.h"

#define INTERVAL 77

static struct keypair s, c;
static uint8_t P[KEY_LEN];
static struct request_keys request_keys;
static uint64_t date;

struct state {
	struct tryst_asked asked;
	struct tryst_hello hello;
	uint8_t m1[SHROUD_DATAGRAM_MAX], m2[SHROUD_DATAGRAM_MAX], k2[KEY_LEN];
	long m1_len, m2_len;
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_keypair(&s);
	fuzz_keypair(&c);
	CHECK(tryst_pair(P, &s, c.public, true, NULL) == 0);
	request_keys_init(&request_keys, c.public);
	return 0;
}

static int accept_copy(struct tryst_hello *hello, const uint8_t *m1, size_t len)
{
	uint8_t *copy = fuzz_copy(m1, len);
	int err = tryst_accept(hello, P, copy, len);

	CHECK(err == 0 || err == -EBADMSG);
	CHECK(err || hello->version != TRYST_VERSION ||
	      (hello->info_len <= TRYST_INFO_MAX && !hello->info[hello->info_len]));
	fuzz_free(copy);
	return err;
}

static int finish_copy(struct state *st, const uint8_t *m2, size_t len, uint8_t k2[KEY_LEN])
{
	struct tryst_welcome welcome;
	uint8_t *copy = fuzz_copy(m2, len);
	int err = tryst_finish(&st->asked, &s, &welcome, k2, copy, len);

	CHECK(err == 0 || err == -EBADMSG || err == -EPROTO);
	fuzz_free(copy);
	return err;
}

static void ask(struct state *st)
{
	uint64_t slots[TRYST_SLOTS];

	tryst_slots(slots, P, 5);
	st->hello.info_len = st->hello.run++ % 7;
	st->m1_len = tryst_init(&st->asked, st->m1, &(struct tryst_keys){ &s, c.public, P },
				slots[1], &st->hello, 0);
	CHECK(st->m1_len >= TRYST_INIT_MIN);
}

/* The collector's part, for any hello that it accepts. */
static long answer(struct state *st, const struct tryst_hello *hello, const uint8_t *m1, size_t len)
{
	struct tryst_welcome welcome = { .window = 512 };

	return tryst_answer(st->m2, st->k2, &(struct tryst_keys){ &c, s.public, P }, hello,
			    &welcome, m1, len);
}

static void honest(struct state *st)
{
	struct tryst_hello hello;
	uint8_t k2[KEY_LEN];

	ask(st);
	CHECK(accept_copy(&hello, st->m1, st->m1_len) == 0);
	st->m2_len = answer(st, &hello, st->m1, st->m1_len);
	CHECK(st->m2_len == TRYST_ANSWER_MIN);
	CHECK(finish_copy(st, st->m2, st->m2_len, k2) == 0);
	CHECK(!memcmp(k2, st->k2, KEY_LEN));
}

static void stranger(struct state *st, const uint8_t *p, size_t len)
{
	uint8_t *copy = fuzz_copy(p, len), k2[KEY_LEN];
	struct request_answer answer;
	struct request_asked asked = { { 1 } };
	struct tryst_hello hello;
	struct request q;

	CHECK(accept_copy(&hello, p, len) == -EBADMSG);
	CHECK(finish_copy(st, p, len, k2) == -EBADMSG);
	CHECK(!request_plausible(&request_keys, copy, len, INTERVAL, &date));
	CHECK(request_open(&q, &c, copy, len, INTERVAL) == -EBADMSG);
	CHECK(request_answered(&asked, &answer, copy, len) == -EBADMSG);
	fuzz_free(copy);
}

/* A listed sensor's hello with these bytes. */
static void sealed_hello(struct state *st, const uint8_t *p, size_t len)
{
	uint8_t m1[SHROUD_DATAGRAM_MAX], key[KEY_LEN];
	struct tryst_hello hello;
	long n;

	if (len > sizeof(m1) - 24 - DERIVE_TAG_LEN)
		return;
	memset(m1, 1, 24);
	derive(key, P, "set-up", m1, 24, NULL, 0);
	derive_seal(key, 0, m1 + 24, p, len);
	len += 24 + DERIVE_TAG_LEN;
	if (accept_copy(&hello, m1, len) || hello.version != TRYST_VERSION)
		return;
	n = answer(st, &hello, m1, len);
	CHECK(n == -EBADMSG || (n == TRYST_ANSWER_MIN && n <= (long)len));
}

/* The collector's welcome with these bytes: once, and the sensor asks again. */
static void sealed_welcome(struct state *st, const uint8_t *p, size_t len)
{
	uint8_t m2[SHROUD_DATAGRAM_MAX] = { 0 }, key[KEY_LEN], k2[KEY_LEN];
	const size_t front = 8 + DERIVE_FRESH_LEN;

	if (len > sizeof(m2) - front - DERIVE_TAG_LEN)
		return;
	ask(st);
	memcpy(m2, st->asked.answer, 8);
	derive(key, st->asked.k1, "answer", m2 + 8, DERIVE_FRESH_LEN, NULL, 0);
	derive_seal(key, 0, m2 + front, p, len);
	if (finish_copy(st, m2, front + len + DERIVE_TAG_LEN, k2) == 0)
		CHECK(len >= TRYST_WELCOME_LEN);
}

/* A request by a holder of the collector's public key, with these bytes inside. */
static void sealed_request(const uint8_t *p, size_t len)
{
	uint8_t in[SHROUD_DATAGRAM_MAX], out[SHROUD_DATAGRAM_MAX];
	const struct request_answer said = { .time_ns = 9 };
	struct request_asked asked;
	struct request q;

	if (len > sizeof(in) - REQUEST_MIN)
		return;
	CHECK(request_cookie(&asked, in, &(struct request_from){ &s, c.public, 1, INTERVAL }, P) ==
	      0);
	derive_seal(asked.key, 0, in + REQUEST_FRONT_LEN, p, len);
	if (request_open(&q, &c, in, REQUEST_MIN + len, INTERVAL) || q.version != TRYST_VERSION)
		return;
	CHECK(q.rest_len == len - REQUEST_BODY_LEN);
	request_proved(&q, P);
	CHECK(request_answer(out, &q, &said) <= REQUEST_MIN + len);
}

/* A request, the offset `where` it is altered, and its answer. */
static void the_time(size_t where, uint8_t how)
{
	uint8_t in[REQUEST_LEN], a[SHROUD_DATAGRAM_MAX];
	const struct request_answer said = { .time_ns = 9 };
	struct request_answer got;
	struct request_asked asked;
	struct request q;
	size_t n;
	int err;

	CHECK(request_cookie(&asked, in, &(struct request_from){ &s, c.public, 1, INTERVAL }, P) ==
	      0);
	CHECK(request_plausible(&request_keys, in, sizeof(in), INTERVAL, &date));
	where %= sizeof(in);
	in[where] ^= how;
	err = request_open(&q, &c, in, sizeof(in), INTERVAL);
	if (err) {
		CHECK(how && request_plausible(&request_keys, in, sizeof(in), INTERVAL, &date) ==
				     (where >= 24));
		return;
	}
	CHECK(!how || (where >= 16 && where < 24));
	n = request_answer(a, &q, &said);
	CHECK(n <= sizeof(in));
	a[where % n] ^= how;
	CHECK(request_answered(&asked, &got, a, n) == (how ? -EBADMSG : 0));
	CHECK(how || got.time_ns == 9);
}

static void altered(struct state *st, size_t where, uint8_t how)
{
	struct tryst_hello hello;
	uint8_t k2[KEY_LEN];

	ask(st);
	st->m1[where % st->m1_len] ^= how;
	CHECK(accept_copy(&hello, st->m1, st->m1_len) == (how ? -EBADMSG : 0));
	st->m1[where % st->m1_len] ^= how;
	st->m2_len = answer(st, &st->hello, st->m1, st->m1_len);
	st->m2[where % st->m2_len] ^= how;
	CHECK(finish_copy(st, st->m2, st->m2_len, k2) == (how ? -EBADMSG : 0));
}

static void step(struct state *st, struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1), how = fuzz_number(in, 1);
	size_t number = fuzz_number(in, 2), len;
	const uint8_t *p = in->p;

	if (what % 6 < 3 || what % 6 == 5)
		p = fuzz_bytes(in, number, &len);
	switch (what % 6) {
	case 0:
		stranger(st, p, len);
		break;
	case 1:
		sealed_hello(st, p, len);
		break;
	case 2:
		sealed_welcome(st, p, len);
		break;
	case 3:
		altered(st, number, how);
		break;
	case 4:
		the_time(number, how);
		break;
	case 5:
		sealed_request(p, len);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	static struct state st;

	fuzz_random_state = 1;
	memset(&st, 0, sizeof(st));
	ask(&st);
	for (int i = 0; in.p < in.end && i < 40; i++)
		step(&st, &in);
	honest(&st);
	return 0;
}
