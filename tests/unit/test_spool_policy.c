// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/spool.o agent/export/store.o agent/export/spool_begin.o
 * agent/export/spool_thread.o agent/export/spool_log.o agent/export/spool_file.o
 * agent/capture/queue.o wire/spool.o wire/tryst.o wire/derive.o wire/keys.o wire/combo.o
 * wire/columns.o wire/fields.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o */
/* Combos between memory and the spool, where the disk is full for a while. */
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "spool_world.h"

#define LEN 30000 /* bytes of a combo: two fill the memory */

static struct deliver *d;
static struct session *session;
static struct spool *s;
static char path[] = "/tmp/stow.XXXXXX";

/* Limits the size of any file. */
static void limit(rlim_t bytes)
{
	struct rlimit r;

	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static int begin(void **state)
{
	struct keypair own;

	(void)state;
	if (keys_init())
		return -1;
	signal(SIGXFSZ, SIG_IGN);
	close(mkstemp(path));
	key_generate(own.secret);
	session = session_new(&own, NULL);
	d = calloc(1, sizeof(*d));
	s = spool_new(path, session);
	if (!s || store_init(&d->store, STORE_BYTES_MIN))
		return -1;
	s->deliver = d;
	return 0;
}

static int end(void **state)
{
	(void)state;
	spool_free(s);
	store_free(&d->store);
	session_delete(session);
	free(d);
	unlink(path);
	return 0;
}

static bool put(uint64_t count)
{
	static uint8_t bytes[LEN];

	memset(bytes, (int)count, sizeof(bytes));
	return spool_keep(s, bytes, sizeof(bytes), 10 * count, 10, true);
}

/* As with no collector in reach. */
static void hand_over_until(uint64_t count)
{
	for (; !spool_has(s, count); await(s))
		spool_turn(s, false, 1);
}

static void what_came_back_is_written_when_it_can_be(void **state)
{
	const struct spool_reader *r;

	(void)state;
	assert_true(put(0) && put(1));
	hand_over_until(1);
	limit(1);
	assert_true(put(2));
	while (spool_works(s))
		await(s);
	assert_false(put(3));
	store_settle(&d->store, 1);
	for (; d->store.end < 3; await(s))
		spool_turn(s, true, 1);
	limit(RLIM_INFINITY);
	store_settle(&d->store, 2);
	assert_true(put(3));
	hand_over_until(3);
	for (int i = 0; !(r = spool_read(s, &s->ours, SPOOL_OURS, 2)) && i < 5; i++)
		await(s);
	assert_non_null(r);
	assert_int_equal(r->state, SPOOL_READY);
	assert_int_equal(r->r.len, LEN);
	assert_int_equal(r->r.data[0], 2);
	spool_read_done(&s->ours);
	spool_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_back_is_written_when_it_can_be),
	};

	return cmocka_run_group_tests_name("stow", tests, begin, end);
}
