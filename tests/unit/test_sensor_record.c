// SPDX-License-Identifier: GPL-2.0
/* links: collector/model/sensor_record.o collector/model/sensors_file.o
 * collector/model/groups_file.o collector/model/linktypes.o wire/info.o wire/key_text.o
 * wire/keys.o wire/channel.o */
/* The log keeps each record for ever, so what a sensor measures each minute makes no other one. */
#include "unit.h"

#include <string.h>

#include "collector/model/sensor_record.h"

static struct sensor_record record_of(char *info)
{
	static struct sensor s = { .id = 7, .name = "there" };
	struct sensor_record r;

	s.info.text = info;
	s.info.len = strlen(info);
	sensor_record_write(&r, &s);
	return r;
}

static void momentary_lines_make_no_record(void **state)
{
	struct sensor_record a, b, c;

	(void)state;
	a = record_of("change=1\nround_trip_us=5\nexported=1\ninterface.0=mon0\n");
	b = record_of("change=9\nround_trip_us=6\nahead_us=7\nexported=2\nlinks=d\n"
		      "interface.0=mon0\n");
	c = record_of("change=9\ninterface.0=mon1\n");
	assert_string_equal(a.key, b.key);
	assert_true(a.hash != c.hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(momentary_lines_make_no_record),
	};

	return cmocka_run_group_tests_name("sensor_record", tests, NULL, NULL);
}
