// SPDX-License-Identifier: GPL-2.0
/* links: agent/radio/radio_lock.o */
/* Which interfaces may share a radio, and which radios are locked. */
#include "unit.h"

#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/radio/radio_lock.h"

static struct {
	struct capture_options o;
	struct interface_state links[INTERFACES_MAX];
	struct lock locks[INTERFACES_MAX];
	char locked[64];
} t;

/* The radio of "a0" and "a1" is "a"; "-" has none. As in the kernel, no NUL byte ends it. */
ssize_t readlink(const char *path, char *out, size_t len)
{
	const char *interface = path + strlen("/sys/class/net/");

	assert_true(!strncmp(path, "/sys/class/net/", interface - path));
	assert_string_equal(strchr(interface, '/'), "/phy80211");
	assert_true(len > 100);
	if (*interface == '-')
		return -1;
	memcpy(out, "../../ieee80211/a", 17);
	out[16] = *interface;
	return 17;
}

int lock_take(struct lock *l, const char *interface, const char *suffix)
{
	snprintf(t.locked + strlen(t.locked), sizeof(t.locked) - strlen(t.locked), "%d %s%s,",
		 (int)(l - t.locks), interface, suffix);
	return strcmp(interface, "z") ? 0 : -EWOULDBLOCK;
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	return 0;
}

/* Adds an -i with a list, which is fixed if it has one channel. */
static void add(const char *name, const char *list)
{
	unsigned int i = t.o.count++;

	t.o.interfaces[i] = name;
	t.o.plans[i].list = list;
	if (list && !strchr(list, ',') && strcmp(list, "all"))
		t.o.channels[i] = (struct radio_channel){ 2412, 20, 2412 };
	t.links[i].linktype = LINKTYPE_RADIOTAP;
}

static void assert_locks(int err, const char *locked)
{
	t.locked[0] = 0;
	assert_int_equal(radio_lock(&t.o, t.links, t.locks), err);
	assert_string_equal(t.locked, locked);
}

static void one_that_is_sampled_is_locked(void **state)
{
	(void)state;
	add("a0", "1,6");
	add("b0", "6");
	add("c0", NULL);
	add("d0", "all");
	add("-0", "1,6");
	add("-1", "1,6");
	assert_locks(0, "0 a.radio,3 d.radio,");
	add("z0", "1,6");
	add("e0", "1,6");
	assert_locks(-EWOULDBLOCK, "0 a.radio,3 d.radio,6 z.radio,");
}

static void two_of_a_radio_stay_on_their_channel(void **state)
{
	(void)state;
	add("a0", "6");
	add("a1", "6");
	add("a2", NULL);
	assert_locks(0, "");
}

static void two_of_a_radio_are_not_sampled(void **state)
{
	static const char *const lists[][2] = {
		{ "1,6", "1,6" }, { "6", "1,6" }, { "1,6", "6" }, { "all", "6" }
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		set_up(state);
		add("a0", lists[i][0]);
		add("b0", NULL);
		add("a1", lists[i][1]);
		assert_int_equal(radio_lock(&t.o, t.links, t.locks), -EBUSY);
	}
	/* An interface without channels listens on whatever channel the other one uses. */
	set_up(state);
	add("a0", NULL);
	add("a1", "1,6");
	assert_locks(0, "1 a.radio,");
}

static void whoever_may_be_ordered_is_sampled(void **state)
{
	(void)state;
	add("a0", "6");
	add("b0", NULL);
	add("a1", NULL);
	t.links[2].linktype = LINKTYPE_ETHERNET; /* a station's: it is given no channels */
	t.o.steered = true;
	assert_locks(0, "0 a.radio,1 b.radio,");
	t.links[2].linktype = LINKTYPE_RADIOTAP;
	assert_locks(-EBUSY, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_that_is_sampled_is_locked, set_up),
		cmocka_unit_test_setup(two_of_a_radio_stay_on_their_channel, set_up),
		cmocka_unit_test_setup(two_of_a_radio_are_not_sampled, set_up),
		cmocka_unit_test_setup(whoever_may_be_ordered_is_sampled, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
