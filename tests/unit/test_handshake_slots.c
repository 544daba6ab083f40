/* SPDX-License-Identifier: GPL-2.0 */
/* links: agent/export/handshake_slots.o */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/export/handshake_slots.h"

static char folder[] = "/tmp/test_slots.XXXXXX", path[64];

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/run/slots", folder);
	return 0;
}

static int end(void **state)
{
	char inner[64];

	(void)state;
	snprintf(inner, sizeof(inner), "%s/run", folder);
	unlink(path);
	rmdir(inner);
	return rmdir(folder);
}

static void without_a_file_all_are_free(void **state)
{
	(void)state;
	assert_true(handshake_slots_take(1, 100));
	assert_true(handshake_slots_take(1, 100));
	handshake_slots_open("/proc/there/is/none");
	assert_true(handshake_slots_take(1, 100));
	handshake_slots_close();
}

static void each_is_taken_once(void **state)
{
	struct stat st;

	(void)state;
	handshake_slots_open(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(handshake_slots_take(0x1234567890, 100));
	assert_false(handshake_slots_take(0x1234567890, 100));
	assert_true(
		handshake_slots_take(0x1234567890, 101)); /* another interval's, equal by chance */
	assert_true(handshake_slots_take(0, 100));
	assert_false(handshake_slots_take(0, 100));
	handshake_slots_close();
}

/* In another process, which has ended. */
static void what_was_taken_stays_so(void **state)
{
	int status;

	(void)state;
	if (fork() == 0) {
		handshake_slots_open(path);
		_exit(handshake_slots_take(7, 200) ? 0 : 1);
	}
	wait(&status);
	assert_int_equal(status, 0);
	handshake_slots_open(path);
	assert_false(handshake_slots_take(7, 200));
	handshake_slots_close();
}

/* A past interval frees its places, and so does an interval of a clock that was ahead. */
static void room_is_found_again(void **state)
{
	uint64_t interval = 1000;

	(void)state;
	handshake_slots_open(path);
	for (int turn = 0; turn < 50; turn++, interval += 3) {
		for (uint64_t slot = 0; slot < 96; slot++)
			assert_true(handshake_slots_take(slot * 0x9e3779b97f4a7c15, interval));
		for (uint64_t slot = 0; slot < 96; slot++)
			assert_false(handshake_slots_take(slot * 0x9e3779b97f4a7c15, interval));
	}
	assert_true(handshake_slots_take(0, 10));
	assert_false(handshake_slots_take(0, 10));
	handshake_slots_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_all_are_free),
		cmocka_unit_test(each_is_taken_once),
		cmocka_unit_test(what_was_taken_stays_so),
		cmocka_unit_test(room_is_found_again),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
