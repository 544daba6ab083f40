// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/event_log.o collector/output/event_log_files.o
 * collector/model/free_space.o */
/* Event logs: how often files are opened, and which lines they hold. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collector/files/files.h"
#include "collector/output/event_log.h"
#include "collector/output/sensor.h"

#define BAD 40
#define FLUSHES 20 /* per second */

static struct event_log *l;
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
	event_log_init(l, &options, -1);
}

static void say(struct event_log_names *names, unsigned int sensor, unsigned int module)
{
	char name[32];

	snprintf(name, sizeof(name), "m%u-%u", sensor, module);
	if (!event_log_have_room(l, 1))
		event_log_flush(l, (const uint8_t *)"{}", true);
	event_log_add(l, name, names, NULL, 0, 2);
}

static void flush(void)
{
	event_log_flush(l, (const uint8_t *)"{}", true);
}

/* Bad sensors use more files than can be open. The cost is bounded, and all lines of a sensor with
 * few modules are written. */
static void more_files_than_can_be_open(void **state)
{
	static struct event_log_names bad[BAD], good;
	unsigned int refused = 0;

	(void)state;
	begin();
	now_ns = 1000000000000;
	for (int n = 0; n < 2; n++) {
		for (unsigned int i = 0; i < BAD; i++)
			for (unsigned int m = 0; m < EVENT_LOG_SENSOR_MAX; m++)
				say(&bad[i], i, m);
		flush();
		now_ns += 1000000000;
	}
	opened = 0;
	for (int n = 0; n < FLUSHES; n++) {
		for (unsigned int i = 0; i < BAD; i++)
			for (unsigned int m = 0; m < EVENT_LOG_SENSOR_MAX; m++)
				say(&bad[i], i, m);
		refused = l->refused;
		for (unsigned int m = 0; m < 3; m++)
			say(&good, BAD, m);
		assert_int_equal(l->refused, refused);
		flush();
	}
	assert_in_range(opened, 1, 2 * (BAD + 1) * EVENT_LOG_OPENS);
	assert_true(refused > 0);
	assert_int_equal(l->lost, 0);
	event_log_free(l);
	free(l);
}

/* There is no limit while all fit, also after all were closed. */
static void files_that_can_be_open(void **state)
{
	static struct event_log_names sensors[EVENT_LOG_OPEN_MAX / EVENT_LOG_SENSOR_MAX];

	(void)state;
	begin();
	opened = 0;
	for (unsigned int n = 1; n <= 10; n++) {
		for (unsigned int m = 0; m < EVENT_LOG_OPEN_MAX; m++)
			say(&sensors[m / EVENT_LOG_SENSOR_MAX], m / EVENT_LOG_SENSOR_MAX, m);
		flush();
		assert_int_equal(opened, n * EVENT_LOG_OPEN_MAX);
		event_log_close(l);
	}
	assert_int_equal(l->refused, 0);
	assert_int_equal(l->written, 10 * EVENT_LOG_OPEN_MAX);
	event_log_free(l);
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
