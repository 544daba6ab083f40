// SPDX-License-Identifier: GPL-2.0
/* Nothing secret is left on a stack that is no more used: what was called had one of its own, which
 * is searched behind it. A compiler takes a plain memset() there for of no use and leaves it out;
 * with link-time optimisation it sees through a library's function too (packaging/ap70/ap70.mk).
 *
 * links: wire/seal.o wire/keys.o */
#include "unit.h"

#include <pthread.h>
#include <sodium.h>
#include <unistd.h>

#include "wire/seal.h"

/* RFC 7748, section 6.1: Alice's. */
static const char key_text[] = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";

static _Alignas(4096) uint8_t stack[256 * 1024];

static void (*called)(void);

/* Deep enough that what ends the thread does not write there. */
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

/* Sanitizers would not have it: nobody's memory. */
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

/* ---- set-up ---------------------------------------------------------------------------------- */

static struct keypair collector;
static struct seal_initiator initiator;
static struct seal_responder responder;
static struct seal_session sensor, peer;
static uint8_t init[SEAL_INIT_MAX], answer[SEAL_ANSWER_LEN];
static long init_len;

static void finish(void)
{
	uint16_t id;

	seal_finish(&initiator, &sensor, &id, answer, sizeof(answer));
}

static void make(struct keypair *p)
{
	key_generate(p->secret);
	assert_int_equal(key_public(p->public, p->secret), 0);
}

/* As wire/seal.c does with what a key of ours and one of theirs share. */
static void mix(uint8_t chain[KEY_LEN], const char *label, size_t len, const uint8_t *secret)
{
	uint8_t shared[KEY_LEN];
	crypto_generichash_state s;

	assert_int_equal(crypto_scalarmult(shared, secret, answer + 1), 0);
	crypto_generichash_init(&s, chain, KEY_LEN, KEY_LEN);
	crypto_generichash_update(&s, (const uint8_t *)label, strlen(label) + 1);
	crypto_generichash_update(&s, answer, len);
	crypto_generichash_update(&s, shared, KEY_LEN);
	crypto_generichash_final(&s, chain, KEY_LEN);
}

/* The secret that both keys of a session come from. */
static void a_set_up_is_wiped(void **state)
{
	uint8_t chain[KEY_LEN], key[KEY_LEN], ephemeral[KEY_LEN];

	(void)state;
	make(&collector);
	make(&initiator.own);
	memcpy(initiator.peer, collector.public, KEY_LEN);
	init_len = seal_init(&initiator, init, 1, 2, "", 0);
	memcpy(ephemeral, initiator.ephemeral.secret, KEY_LEN);
	assert_int_equal(seal_accept(&responder, &collector, init, init_len), 0);
	memcpy(chain, responder.chain, KEY_LEN);
	seal_answer(&responder, &peer, answer, 3, 4);
	mix(chain, "ee", 33, ephemeral);
	mix(chain, "se", 0, initiator.own.secret);
	crypto_generichash(key, KEY_LEN, (const uint8_t *)"to collector", sizeof("to collector"),
			   chain, KEY_LEN);
	call_there(finish);
	assert_memory_equal(sensor.tx.key, key, KEY_LEN);
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
