// SPDX-License-Identifier: GPL-2.0
/* links: collector/lines.o collector/lines_open.o collector/budget.o */
/* Files of lines: how often they are opened, and whose lines are in them. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collector/files.h"
#include "collector/lines.h"

#define BAD 40
#define FLUSHES 20 /* in a second */

static struct lines *l;
static uint64_t now_ns;
static unsigned int opened;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = now_ns / 1000000000;
	t->tv_nsec = now_ns % 1000000000;
	return 0;
}

int files_ask_module(int sock, const char *module, struct files_answer *a, int *fd)
{
	(void)sock;
	(void)module;
	(void)a;
	opened++;
	*fd = memfd_create("lines", MFD_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static void begin(void)
{
	static const struct collector_options options = { .events = "/tmp" };

	l = calloc(1, sizeof(*l));
	lines_init(l, &options, -1);
}

static void say(struct lines_names *names, unsigned int sensor, unsigned int module)
{
	char name[32];

	snprintf(name, sizeof(name), "m%u-%u", sensor, module);
	if (!lines_have_room(l, 1))
		lines_flush(l, (const uint8_t *)"{}", true);
	lines_add(l, name, names, NULL, 0, 2);
}

static void flush(void)
{
	lines_flush(l, (const uint8_t *)"{}", true);
}

/* Bad sensors use more files than can be open. What that costs is bounded, and the lines of one
 * with a few modules are all written. */
static void more_files_than_can_be_open(void **state)
{
	static struct lines_names bad[BAD], good;
	unsigned int refused = 0;

	(void)state;
	begin();
	now_ns = 1000000000000;
	for (int n = 0; n < 2; n++) {
		for (unsigned int i = 0; i < BAD; i++)
			for (unsigned int m = 0; m < LINES_SENSOR_MAX; m++)
				say(&bad[i], i, m);
		flush();
		now_ns += 1000000000;
	}
	opened = 0;
	for (int n = 0; n < FLUSHES; n++) {
		for (unsigned int i = 0; i < BAD; i++)
			for (unsigned int m = 0; m < LINES_SENSOR_MAX; m++)
				say(&bad[i], i, m);
		refused = l->refused;
		for (unsigned int m = 0; m < 3; m++)
			say(&good, BAD, m);
		assert_int_equal(l->refused, refused);
		flush();
	}
	assert_in_range(opened, 1, 2 * (BAD + 1) * LINES_OPENS);
	assert_true(refused > 0);
	assert_int_equal(l->lost, 0);
	lines_free(l);
	free(l);
}

/* They are not rationed while there is room for all, also not after all were closed. */
static void files_that_can_be_open(void **state)
{
	static struct lines_names sensors[LINES_OPEN_MAX / LINES_SENSOR_MAX];

	(void)state;
	begin();
	opened = 0;
	for (unsigned int n = 1; n <= 10; n++) {
		for (unsigned int m = 0; m < LINES_OPEN_MAX; m++)
			say(&sensors[m / LINES_SENSOR_MAX], m / LINES_SENSOR_MAX, m);
		flush();
		assert_int_equal(opened, n * LINES_OPEN_MAX);
		lines_close(l);
	}
	assert_int_equal(l->refused, 0);
	assert_int_equal(l->written, 10 * LINES_OPEN_MAX);
	lines_free(l);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_files_than_can_be_open),
		cmocka_unit_test(files_that_can_be_open),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
