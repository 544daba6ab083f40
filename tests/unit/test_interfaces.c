// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/interfaces.o collector/model/linktypes.o collector/output/pcapng.o
 * wire/info.o wire/channel.o */
#include "unit.h"

#include "collector/output/interfaces.h"
#include "collector/output/sensor.h"

static struct output_sensor part;
static struct sensor s;
static uint32_t blocks;		    /* written so far */
static char block[PCAPNG_META_MAX]; /* the last block */
static size_t block_len;

/* Sets the sensor's info text. */
static void say(const char *lines)
{
	struct info info;

	s.info.len = strlen(lines);
	s.info.text = (char *)lines; /* which is not written to */
	info_read(&info, lines, s.info.len);
	interfaces_describe(&s, &info);
}

static int begin(void **state)
{
	(void)state;
	memset(&s, 0, sizeof(s));
	memset(&part, 0, sizeof(part));
	s.output = &part;
	strcpy(s.name, "lib");
	s.id = 7;
	blocks = 0;
	return 0;
}

/* Returns the id of the block that the next frame refers to. */
static uint32_t frame(uint16_t linktype, uint8_t interface)
{
	static uint64_t now;
	struct combo_frame f = { .linktype = linktype, .interface = interface, .time_ns = ++now };
	size_t len;
	uint32_t id = interfaces_frame(&s, &f, blocks, (uint8_t *)block, &len);

	assert_int_equal(id == blocks, len > 0);
	if (len) {
		blocks++;
		block_len = len;
	}
	return id;
}

/* Returns whether the last block has an option with this text, or with one byte before it. */
static bool says(const char *text)
{
	return memmem(block, block_len, text, strlen(text)) != NULL;
}

static uint32_t snaplen(void)
{
	uint32_t v;

	memcpy(&v, block + 12, sizeof(v)); /* in host byte order */
	return v;
}

static void each_pair_has_a_block_of_its_own(void **state)
{
	(void)state;
	say("interface.0=a\nsource.0=tc\nsnaplen.0=96\nkeep.0=all\nfilter.0=port 53\n"
	    "interface.1=b\nos=Linux\napplication=saluki 5\n");
	assert_int_equal(frame(1, 0), 0);
	assert_true(says("lib:a") && says("sensor lib (id 7), interface a by tc"));
	assert_int_equal(snaplen(), 96);
	assert_true(says("port 53") && says("Linux") && says("saluki 5, keep all"));
	assert_int_equal(frame(1, 1), 1);
	assert_true(says("lib:b") && !says("port 53") && !says(" by "));
	assert_int_equal(frame(127, 1), 2);
	assert_int_equal(frame(1, 9), 3); /* without info */
	assert_true(says("lib:9"));
	assert_int_equal(frame(1, 0), 0);
	assert_int_equal(frame(1, 1), 1);
	assert_int_equal(frame(127, 1), 2);
	assert_int_equal(frame(1, 9), 3);
	assert_int_equal(blocks, 4);
}

static void what_is_said_anew_begins_a_block(void **state)
{
	(void)state;
	say("interface.0=a\ninterface.1=b\n");
	assert_int_equal(frame(1, 0), 0);
	assert_int_equal(frame(1, 1), 1);
	say("interface.0=a\nfilter.0=arp\ninterface.1=b\nexported=5\nchange=1\n");
	assert_int_equal(frame(1, 0), 2);
	assert_true(says("arp"));
	assert_int_equal(frame(1, 1), 1); /* nothing new about this one */
	say("interface.0=a\ninterface.1=b\nchange=2\n");
	assert_int_equal(frame(1, 0), 0); /* unchanged */
	say("interface.0=a\ninterface.1=b\nos=new\n");
	assert_int_equal(frame(1, 1), 3);
}

/* The group ends the comment. */
static void a_comment_says_where_the_sensor_is(void **state)
{
	(void)state;
	s.place = (struct sensor_place){ true, true, true, -2, 12.5, -3 };
	say("interface.0=a\nkeep.0=all\napplication=saluki 5\n");
	assert_int_equal(frame(1, 0), 0);
	assert_true(says("saluki 5, keep all, floor=-2 x=12.5 y=-3"));
	strcpy(s.group_name, "hall");
	say("interface.0=a\nkeep.0=all\napplication=saluki 5\n");
	assert_int_equal(frame(1, 0), 1);
	assert_true(says("saluki 5, keep all, floor=-2 x=12.5 y=-3, group hall"));
	s.place.floor = 4; /* two collectors may say different things all the time */
	say("interface.0=a\nkeep.0=all\napplication=saluki 5\n");
	assert_int_equal(frame(1, 0), 1);
	s.place = (struct sensor_place){ .has_y = true, .y = 4 };
	assert_int_equal(frame(127, 0), 2);
	assert_true(says("saluki 5, keep all, y=4, group hall") && !says("floor="));
}

/* Changes the info `count` times and sends a frame each time. Returns the number of new blocks. */
static uint32_t changes(int count)
{
	uint32_t before = blocks;
	static int n;
	char lines[64];

	while (count--) {
		snprintf(lines, sizeof(lines), "interface.0=a\nfilter.0=port %d\n", n++);
		say(lines);
		frame(1, 0);
	}
	return blocks - before;
}

#define MOST (INTERFACES_BLOCKS_MAX + INTERFACES_EXTRA_MAX)

static void a_sensor_that_cannot_decide_is_bounded(void **state)
{
	uint64_t now_ns = 1;

	(void)state;
	interfaces_begin(&s, 1, now_ns);
	say("interface.1=b\n");
	frame(1, 1);
	assert_int_equal(changes(10000), MOST - 1);
	assert_int_equal(interfaces_left(&s), 0);
	/* It keeps the newest block; the other interface still has its own. */
	assert_int_equal(frame(1, 0), blocks - 1);
	assert_int_equal(frame(1, 1), 0);
	assert_true(interfaces_known(&s, 1, 1) && !interfaces_known(&s, 127, 1));
	/* One more each ten seconds; an hour's add up. */
	interfaces_begin(&s, 1, now_ns += INTERFACES_EXTRA_NS);
	assert_int_equal(changes(100), 1);
	interfaces_begin(&s, 1, now_ns += 360 * INTERFACES_EXTRA_NS);
	assert_int_equal(changes(1000), 360);
	/* The next section also gets the unused ones. */
	interfaces_begin(&s, 2, now_ns);
	assert_int_equal(changes(1000), INTERFACES_BLOCKS_MAX);
	interfaces_begin(&s, 3, now_ns += 1000000000000000);
	assert_int_equal(changes(10000), MOST);
}

/* Frames of the next run have their own blocks while blocks are left. */
static void runs_are_bounded(void **state)
{
	struct pcapng_statistics st;

	(void)state;
	interfaces_begin(&s, 1, 1);
	say("interface.0=a\n");
	for (uint32_t run = 0; run < 10000; run++) {
		assert_int_equal(frame(1, 0), run < MOST ? run : MOST - 1);
		frame(1, 0);
		for (unsigned int i = 0, present = 0; i < s.output->interfaces.count; i++) {
			if (!interfaces_present(&s, i))
				continue;
			interfaces_statistics(&s, i, &st);
			assert_int_equal(present++, 0);
			assert_int_equal(st.delivered, 2);
			assert_true(st.time_ns == st.start_ns + 1);
		}
		interfaces_run_end(&s);
	}
	assert_int_equal(blocks, MOST);
}

/* An operator who changes filters all the time takes no block from a later interface, until all are
 * used up. */
static void each_kind_keeps_a_block(void **state)
{
	(void)state;
	interfaces_begin(&s, 1, 1);
	say("interface.0=a\n");
	for (uint8_t i = 1; i < 32; i++)
		frame(127, i);
	changes(200);
	assert_int_equal(frame(127, 1), 0);
	assert_int_equal(frame(127, 31), 30);
	assert_int_equal(blocks, 231);
}

static void statistics_are_the_interfaces_own(void **state)
{
	struct pcapng_statistics st;

	(void)state;
	s.ledger.now.sensor = (struct totals){
		.seen = 100,
		.interface_count = 2,
		.interfaces = { { .seen = 60, .filtered = 4, .ring_full = 2, .copy_failed = 1 },
				{ .seen = 40 } },
	};
	say("interface.0=a\ninterface.1=b\n");
	frame(1, 1);
	frame(127, 1);
	frame(127, 1);
	frame(1, 0);
	frame(1, 2);
	interfaces_statistics(&s, 0, &st);
	assert_true(st.interface == 0 && st.received == 40 && st.accepted == 40);
	assert_true(st.delivered == 1 && st.start_ns == st.time_ns);
	interfaces_statistics(&s, 1, &st); /* the same interface, another link type */
	assert_true(st.interface == 1 && st.received == 0 && st.delivered == 2);
	assert_int_equal(st.time_ns, st.start_ns + 1);
	interfaces_statistics(&s, 2, &st);
	assert_true(st.received == 60 && st.accepted == 56 && st.dropped == 3);
	assert_int_equal(st.os_dropped, 2);
	interfaces_statistics(&s, 3, &st); /* missing from the totals */
	assert_true(st.received == 0 && st.delivered == 1);
}

/* From the first dwell's start to the last's end. */
static void a_block_of_dwells_alone_lasts_as_they_do(void **state)
{
	struct pcapng_statistics st;
	uint32_t id;
	size_t len;

	(void)state;
	say("interface.0=a\n");
	for (uint64_t n = 1; n < 4; n++) {
		struct dwell d = { .mhz = 2412, .from_ns = n * 100, .to_ns = n * 100 + 90 };

		id = interfaces_dwell(&s, &d, blocks, (uint8_t *)block, &len);
		assert_int_equal(id, 0);
		assert_int_equal(len > 0, n == 1);
		blocks = 1;
	}
	interfaces_statistics(&s, 0, &st);
	assert_true(st.start_ns == 100 && st.time_ns == 390 && st.delivered == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_pair_has_a_block_of_its_own, begin),
		cmocka_unit_test_setup(what_is_said_anew_begins_a_block, begin),
		cmocka_unit_test_setup(a_comment_says_where_the_sensor_is, begin),
		cmocka_unit_test_setup(a_sensor_that_cannot_decide_is_bounded, begin),
		cmocka_unit_test_setup(runs_are_bounded, begin),
		cmocka_unit_test_setup(each_kind_keeps_a_block, begin),
		cmocka_unit_test_setup(statistics_are_the_interfaces_own, begin),
		cmocka_unit_test_setup(a_block_of_dwells_alone_lasts_as_they_do, begin),
	};

	return cmocka_run_group_tests_name("interfaces", tests, NULL, NULL);
}
