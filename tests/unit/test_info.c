// SPDX-License-Identifier: GPL-2.0
/* links: wire/info.o */
#include "unit.h"

#include "wire/info.h"

static char text[INFO_LEN_MAX + 1];

static struct info some(unsigned int interfaces)
{
	struct info i = { .application = "saluki 1",
			  .os = "Linux 6.1 x86_64",
			  .exported = 12345678901234ULL,
			  .change = 3,
			  .count = interfaces };

	for (unsigned int n = 0; n < interfaces; n++) {
		struct info_interface *f = &i.interfaces[n];

		snprintf(f->name, sizeof(f->name), "wlan%u", n);
		strcpy(f->source, n % 2 ? "tc" : "xdp native");
		strcpy(f->keep, "headers");
		f->snaplen = 192 + n;
	}
	return i;
}

static void it_comes_back(void **state)
{
	(void)state;
	memset(text, 'x', sizeof(text)); /* no interfaces give an empty text */
	assert_int_equal(info_write(text, &(struct info){ 0 }), 0);
	assert_string_equal(text, "");
	for (unsigned int count = 0; count <= INFO_INTERFACES_MAX; count++) {
		struct info i = some(count), got;
		size_t len = info_write(text, &i);

		assert_int_equal(len, strlen(text));
		info_read(&got, text, len);
		assert_memory_equal(&got, &i, sizeof(i));
	}
}

static void it_reads_as_it_is_specified(void **state)
{
	struct info i = some(2);

	(void)state;
	strcpy(i.interfaces[1].filter, "port 53");
	i.interfaces[0].snaplen = 0;
	info_write(text, &i);
	assert_string_equal(text, "application=saluki 1\nos=Linux 6.1 x86_64\n"
				  "exported=12345678901234\nchange=3\n"
				  "interface.0=wlan0\nsource.0=xdp native\nkeep.0=headers\n"
				  "interface.1=wlan1\nsource.1=tc\nsnaplen.1=193\nkeep.1=headers\n"
				  "filter.1=port 53\n");
}

/* A long filter is truncated; short ones stay unchanged. */
static void filters_are_cut_first(void **state)
{
	struct info i = some(8), got;

	(void)state;
	for (int n = 0; n < 3; n++)
		memset(i.interfaces[n].filter, 'a' + n, sizeof(i.interfaces[n].filter) - 1);
	for (int n = 3; n < 8; n++)
		strcpy(i.interfaces[n].filter, "arp");
	assert_in_range(info_write(text, &i), INFO_LEN_MAX - 3, INFO_LEN_MAX);
	info_read(&got, text, strlen(text));
	for (int n = 0; n < 8; n++) {
		const char *filter = got.interfaces[n].filter;

		assert_string_equal(got.interfaces[n].name, i.interfaces[n].name);
		assert_string_equal(got.interfaces[n].source, i.interfaces[n].source);
		if (n < 3) {
			assert_int_equal(strspn(filter, (char[]){ 'a' + n, 0 }),
					 strlen(filter) - 3);
			assert_string_equal(filter + strlen(filter) - 3, "...");
			assert_int_equal(strlen(filter), strlen(got.interfaces[0].filter));
			assert_in_range(strlen(filter), 50, 120);
		} else {
			assert_string_equal(filter, "arp");
		}
	}
}

static void alone_a_filter_may_be_as_long_as_there_is_room(void **state)
{
	struct info i = some(1), got;

	(void)state;
	memset(i.interfaces[0].filter, 'f', sizeof(i.interfaces[0].filter) - 1);
	info_read(&got, text, info_write(text, &i));
	assert_memory_equal(&got, &i, sizeof(i));
}

static void whatever_is_in_it_all_lines_are_there(void **state)
{
	struct info i, got;

	(void)state;
	memset(&i, 'x', sizeof(i));
	i.count = 100;
	i.exported = i.change = UINT64_MAX;
	for (int n = 0; n < INFO_INTERFACES_MAX; n++)
		i.interfaces[n].snaplen = UINT32_MAX;
	assert_in_range(info_write(text, &i), INFO_LEN_MAX - 40, INFO_LEN_MAX);
	info_read(&got, text, strlen(text));
	assert_true(got.count == 8 && got.exported == UINT64_MAX && got.change == UINT64_MAX);
	assert_int_equal(strlen(got.os), sizeof(got.os) - 1);
	for (int n = 0; n < INFO_INTERFACES_MAX; n++) {
		assert_int_equal(got.interfaces[n].snaplen, UINT32_MAX);
		assert_string_equal(got.interfaces[n].filter, "...");
		assert_true(*got.interfaces[n].name && *got.interfaces[n].source &&
			    *got.interfaces[n].keep);
	}
}

static void what_lasts_is_not_of_a_moment(void **state)
{
	struct info i = some(2), got;
	struct info_lasting lasting;

	(void)state;
	i.round_trip_us = i.ahead_us = i.behind_us = 5;
	strcpy(i.links, "ud");
	info_write_lasting(&lasting, &i);
	assert_true(lasting.change == 3 && lasting.len == strlen(lasting.text));
	info_read(&got, lasting.text, lasting.len);
	i.exported = i.round_trip_us = i.ahead_us = i.behind_us = 0;
	memset(i.links, 0, sizeof(i.links));
	assert_memory_equal(&got, &i, sizeof(i));
	memset(&i, 'x', sizeof(i));
	info_write_lasting(&lasting, &i);
	assert_in_range(lasting.len, INFO_LASTING_MAX - 80, INFO_LASTING_MAX);
	info_read(&got, lasting.text, lasting.len);
	for (int n = 0; n < INFO_INTERFACES_MAX; n++)
		assert_true(*got.interfaces[n].name && *got.interfaces[n].filter &&
			    got.interfaces[n].snaplen);
}

static void text_of_any_kind(void **state)
{
	char out[8];

	(void)state;
	info_text(out, sizeof(out), "seven..");
	assert_string_equal(out, "seven..");
	info_text(out, sizeof(out), "more than seven");
	assert_string_equal(out, "more...");
	info_text(out, sizeof(out), "a\nb\t\x80");
	assert_string_equal(out, "a b  ");
	for (size_t size = 1; size < sizeof(out); size++) {
		info_text(out, size, "endless");
		assert_int_equal(strlen(out), size - 1);
	}
}

static void read(struct info *i, const char *lines)
{
	info_read(i, lines, strlen(lines));
}

static void hostile_lines(void **state)
{
	struct info i;

	(void)state;
	read(&i, "\n\n=\n.0=x\n.=y\ninterface=x\ninterface.8=x\ninterface./=x\ninterface.00=x\n"
		 "interface.\nos.0=x\nsource.1\nfilter.\xff=x\nsnaplen=5\nchangex=4\nchang=4\n");
	assert_memory_equal(&i, &(struct info){ 0 }, sizeof(i));
	read(&i,
	     "exported=99999999999999999999\nsnaplen.0=4294967296\nchange=18446744073709551615");
	assert_true(i.exported == UINT64_MAX && i.change == UINT64_MAX);
	assert_int_equal(i.interfaces[0].snaplen, UINT32_MAX);
	read(&i, "exported=12x\nchange=-1\nsnaplen.0= 5\nkeep.7=all\nkeep.7=headers\nkeep.7=no");
	assert_true(i.exported == 12 && i.change == 0 && i.count == 8);
	assert_string_equal(i.interfaces[7].keep, "no");
	info_read(&i, "os=a\0b\x1b\xff", 8);
	assert_string_equal(i.os, "a?b??");
	info_read(&i, "os=x", 0);
	assert_memory_equal(&i, &(struct info){ 0 }, sizeof(i));
	memset(text, '=', INFO_LEN_MAX);
	memcpy(text, "filter.3=", 9);
	info_read(&i, text, INFO_LEN_MAX);
	assert_int_equal(strlen(i.interfaces[3].filter), sizeof(i.interfaces[3].filter) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_back),
		cmocka_unit_test(it_reads_as_it_is_specified),
		cmocka_unit_test(filters_are_cut_first),
		cmocka_unit_test(alone_a_filter_may_be_as_long_as_there_is_room),
		cmocka_unit_test(whatever_is_in_it_all_lines_are_there),
		cmocka_unit_test(what_lasts_is_not_of_a_moment),
		cmocka_unit_test(text_of_any_kind),
		cmocka_unit_test(hostile_lines),
	};

	return cmocka_run_group_tests_name("info", tests, NULL, NULL);
}
