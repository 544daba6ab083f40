// SPDX-License-Identifier: GPL-2.0
/* No secret stays on a stack that is no longer used: each call has its own stack, which is searched
 * afterwards. A compiler may remove a plain memset() there; with link-time optimisation it sees
 * through a library's function too (packaging/ap70/ap70.mk).
 *
 * links: wire/tryst.o wire/derive.o wire/keys.o */
#include "unit.h"

#include <pthread.h>
#include <sodium.h>
#include <unistd.h>

#include "wire/tryst.h"

/* RFC 7748, section 6.1: Alice's. */
static const char key_text[] = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";

static _Alignas(4096) uint8_t stack[256 * 1024];

static void (*called)(void);

/* Deep enough that the thread's exit does not write there. */
static void *call(void *arg)
{
	uint8_t above[16 * 1024];

	__asm__ volatile("" : : "r"(above) : "memory");
	called();
	__asm__ volatile("" : : "r"(above) : "memory");
	return arg;
}

static void call_there(void (*function)(void))
{
	pthread_attr_t attr;
	pthread_t thread;

	called = function;
	memset(stack, 0x55, sizeof(stack));
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, stack, sizeof(stack)), 0);
	assert_int_equal(pthread_create(&thread, &attr, call, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

/* Sanitizers forbid this: the memory has no owner. */
__attribute__((no_sanitize("address"))) static bool is_left(const void *what, size_t len)
{
	const uint8_t *p = what;

	for (size_t at = 0; at + len <= sizeof(stack); at++) {
		size_t same = 0;

		while (same < len && stack[at + same] == p[same])
			same++;
		if (same == len)
			return true;
	}
	return false;
}

/* ---- the search itself ----------------------------------------------------------------------- */

static void leave(void)
{
	volatile char text[sizeof(key_text)];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = key_text[i];
}

static void what_is_left_is_found(void **state)
{
	(void)state;
	call_there(leave);
	assert_true(is_left(key_text, 40));
}

/* ---- key files ------------------------------------------------------------------------------- */

static int file;
static struct keypair own;

static void read_key(void)
{
	const char *why;

	keys_read(file, &own, NULL, &why);
}

static void a_key_file_is_wiped(void **state)
{
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], key_text, sizeof(key_text) - 1), sizeof(key_text) - 1);
	close(p[1]);
	file = p[0];
	call_there(read_key);
	close(file);
	assert_int_equal(own.secret[1], 0x07);
	assert_false(is_left(key_text, 16));
}

/* ---- handshake ------------------------------------------------------------------------------- */

static struct keypair collector, sensor;
static struct tryst_asked asked;
static struct tryst_hello hello = { .run = 1, .time_ns = 2, .window = 64 };
static uint8_t pair[KEY_LEN], k2[KEY_LEN];
static uint8_t init[SHROUD_DATAGRAM_MAX], answer[SHROUD_DATAGRAM_MAX];
static long init_len, answer_len;
static struct shroud_keys up, down;
static uint8_t chain[KEY_LEN];

static void set_up(void)
{
	init_len = tryst_init(&asked, init, &(struct tryst_keys){ &sensor, collector.public, pair },
			      3, &hello, 0);
}

static void finish(void)
{
	struct tryst_welcome welcome;
	uint8_t root[KEY_LEN];

	assert_int_equal(tryst_finish(&asked, &sensor, &welcome, root, answer, answer_len), 0);
	tryst_session(root, &up, &down, chain);
}

static void make(struct keypair *p)
{
	key_generate(p->secret);
	assert_int_equal(key_public(p->public, p->secret), 0);
}

/* The collector's half, which is not searched. */
static void answer_it(void)
{
	struct tryst_welcome welcome = { .time_ns = 3, .window = 64 };
	struct tryst_hello heard;

	assert_int_equal(tryst_accept(&heard, pair, init, init_len), 0);
	answer_len = tryst_answer(answer, k2,
				  &(struct tryst_keys){ &collector, sensor.public, pair }, &heard,
				  &welcome, init, init_len);
	assert_true(answer_len > 0);
}

static void a_set_up_is_wiped(void **state)
{
	uint8_t ephemeral[KEY_LEN], k1[KEY_LEN];

	(void)state;
	make(&collector);
	make(&sensor);
	assert_int_equal(tryst_pair(pair, &sensor, collector.public, true, NULL), 0);
	call_there(set_up);
	memcpy(ephemeral, asked.ephemeral.secret, KEY_LEN);
	memcpy(k1, asked.k1, KEY_LEN);
	assert_false(is_left(ephemeral, 16));
	assert_false(is_left(k1, 16));
	answer_it();
	call_there(finish);
	assert_false(is_left(ephemeral, 16));
	assert_false(is_left(k1, 16));
	/* The root secret of the session's keys, and the keys. */
	assert_false(is_left(k2, 16));
	assert_false(is_left(up.seal, 16));
	assert_false(is_left(down.seal, 16));
	assert_false(is_left(chain, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_is_found),
		cmocka_unit_test(a_key_file_is_wiped),
		cmocka_unit_test(a_set_up_is_wiped),
	};

	return keys_init() || cmocka_run_group_tests(tests, NULL, NULL);
}
