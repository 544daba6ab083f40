// SPDX-License-Identifier: GPL-2.0
/* links: collector/control/groups.o collector/model/groups_file.o collector/control/refocus.o
 * wire/channel.o wire/dwell.o wire/info.o */
/* Groups: what the file says, who gets which share when, and what a frame leads to. */
#include "common/monotonic.h"
#include "unit.h"

#include "collector/control/groups.h"
#include "collector/combo/sensor.h"
#include "collector/control/refocus.h"
#include "wire/dwell.h"

#define S 1000000000ULL
#define SENSORS 3
#define MHZ_AT 10 /* in `tagged` */

static struct {
	struct groups g;
	struct refocus r;
	struct commands d;
	struct network network;
	struct combos combos;
	struct combo_sensor combo[SENSORS];
	struct sensors list;
	struct sensor sensors[SENSORS], *pointers[SENSORS];
	struct groups_file f;
	/* The last order to each, and their number. */
	struct {
		char text[WIRE_ORDER_TEXT_MAX + 1];
		commands_done *done;
		void *user;
		unsigned int count;
	} order[SENSORS];
	unsigned int matched;
	uint64_t now;
	int64_t age_ns; /* of frames, by their stamps */
} t;

int commands_add(struct commands *d, struct sensor *s, const char *text, uint64_t until_ns,
		 commands_done *done, void *user)
{
	unsigned int i = s - t.sensors;

	assert_ptr_equal(d, &t.d);
	assert_true(until_ns > t.now);
	assert_null(t.order[i].done); /* or it would have two at a time */
	strcpy(t.order[i].text, text);
	t.order[i].done = done;
	t.order[i].user = user;
	t.order[i].count++;
	return 0;
}

void commands_cancel(struct commands *d, const void *user)
{
	(void)d;
	(void)user;
}

struct expression *expression_new(const char *text, char *why, size_t why_len)
{
	snprintf(why, why_len, "no");
	if (!strcmp(text, "beacon"))
		return (struct expression *)&t.f;
	return strcmp(text, "wrong") ? (struct expression *)&t : NULL;
}

void expression_free(struct expression *e)
{
	(void)e;
}

bool expression_match(const struct expression *e, const struct combo_frame *f)
{
	t.matched++;
	return f->orig_len == ((const void *)e == &t.f ? 78 : 77);
}

static const char *line(const char *text)
{
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", text);
	assert_true(groups_file_has(copy));
	return groups_file_line(&t.f, copy, 1);
}

static void present(unsigned int i)
{
	t.sensors[i].up = true;
	t.sensors[i].heard_ns = t.now;
	t.sensors[i].begun++;
	groups_begun(&t.g, &t.sensors[i]);
}

/* Time passes; all connected sensors are heard. */
static void pass(uint64_t ns)
{
	do {
		uint64_t step = ns < S ? ns : S;

		t.now += step;
		ns -= step;
		for (int i = 0; i < SENSORS; i++)
			if (t.sensors[i].up)
				t.sensors[i].heard_ns = t.now;
		groups_tick(&t.g, t.now);
	} while (ns);
}

static void answered(unsigned int i, int status)
{
	commands_done *done = t.order[i].done;

	assert_non_null(done);
	t.order[i].done = NULL;
	done(t.order[i].user, &t.sensors[i], status, "text");
}

static void all_done(void)
{
	for (int i = 0; i < SENSORS; i++)
		if (t.order[i].done)
			answered(i, ANSWER_DONE);
}

static void ordered(unsigned int i, const char *text)
{
	assert_string_equal(t.order[i].text, text);
}

static void apply(void)
{
	assert_int_equal(groups_apply(&t.g, &t.f), 0);
	refocus_apply(&t.r, &t.f);
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.now = 1000 * S;
	t.list = (struct sensors){ .list = t.pointers, .count = SENSORS };
	for (int i = 0; i < SENSORS; i++) {
		t.pointers[i] = &t.sensors[i];
		t.sensors[i].combo = &t.combo[i];
		t.sensors[i].listed = true;
		t.sensors[i].group = 1;
		t.sensors[i].up = false;
		snprintf(t.sensors[i].name, SENSOR_NAME_MAX, "s%d", i);
	}
	t.d.network = &t.network;
	groups_init(&t.g, &t.d, &t.list);
	assert_int_equal(refocus_init(&t.r, &t.g, &t.combos, &t.f, "file"), 0);
	assert_null(line("group lib channels 1,6 dwell 100ms"));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	groups_free(&t.g);
	refocus_free(&t.r);
	groups_file_free(&t.f);
	return 0;
}

static void the_file(void **state)
{
	static const char *const wrong[] = {
		"group",
		"group 7 hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
		"group lib",
		"group a/b",
		"group x channels",
		"group x channels 1 channels 6",
		"group x dwell 250ms",
		"group x channels 1,,6",
		"group x channels 1,6,1",
		"group x channels 6/40",
		"group x channels 1x2",
		"group x channels all",
		"group x channels 1 dwell 4ms",
		"group x channels 1 dwell 250",
		"group x channels 1 dwell 25h",
		"group x channels 1,6 dwell 1801s", /* together more than an hour: none takes it */
		"refocus",
		"refocus 7 hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
		"refocus lib for 30s",
		"refocus lib for 30 wlan type mgt",
		"refocus lib for 0s wlan type mgt",
		"refocus lib for 25h wlan type mgt",
		"refocus lib for 5124095577h wlan type mgt", /* modulo 2^64 it is less */
		"refocus lib at 30s wlan type mgt",
	};
	unsigned int number;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_non_null(line(wrong[i]));
	assert_int_equal(t.f.groups_count, 1);
	assert_string_equal(t.f.groups[0].list, "1@100ms,6@100ms");
	assert_null(line("group  other\tdwell 7500us channels 36/80,2437,6g:37"));
	assert_string_equal(t.f.groups[1].list, "36/80@7500us,6@7500us,6g:37@7500us");
	assert_null(line("group bare"));
	assert_null(line("refocus other for 2m  wlan type mgt  subtype deauth"));
	assert_int_equal(t.f.rules[0].ms, 120000);
	assert_string_equal(t.f.rules[0].expression, "wlan type mgt  subtype deauth");
	assert_null(groups_file_check(&t.f, &number));
	assert_int_equal(t.f.rules[0].group, 2);
	assert_null(line("refocus nobody for 1s tcp"));
	assert_non_null(groups_file_check(&t.f, &number));
	assert_int_equal(number, 1);
}

static void too_many_channels(void **state)
{
	char text[4096] = "group x dwell 250001us channels 5180";

	(void)state;
	for (int n = 2412; n < 2412 + 70; n++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d", n);
	assert_string_equal(line(text), "has more channels than an order has room for");
}

/* The expression is not truncated. */
static void a_long_expression(void **state)
{
	char text[600] = "refocus lib for 30s ";
	size_t len = strlen(text);

	(void)state;
	memset(text + len, 'x', REFOCUS_TEXT_MAX - 1);
	assert_null(line(text));
	assert_int_equal(strlen(t.f.rules[0].expression), REFOCUS_TEXT_MAX - 1);
	text[len + REFOCUS_TEXT_MAX - 1] = 'x';
	assert_string_equal(line(text), "an expression has at most 511 characters");
}

static void shares(void **state)
{
	(void)state;
	assert_int_equal(groups_tick(&t.g, t.now), -1); /* there are no groups */
	apply();
	pass(0);
	assert_int_equal(t.order[0].count, 0); /* no sensor is connected */
	present(0);
	pass(0);
	ordered(0, "set channels 1@100ms,6@100ms share 0/1");
	pass(S); /* no second order while the first is under way */
	answered(0, ANSWER_DONE);
	pass(5 * S);
	assert_int_equal(t.order[0].count, 1); /* it has been reported */
	present(2);
	pass(0);
	ordered(0, "set channels 1@100ms,6@100ms share 0/2");
	ordered(2, "set channels 1@100ms,6@100ms share 1/2");
	all_done();
	present(1);
	pass(GROUPS_BALANCE_NS / 2);
	assert_int_equal(t.order[1].count, 0); /* not so soon */
	pass(GROUPS_BALANCE_NS / 2);
	ordered(1, "set channels 1@100ms,6@100ms share 1/3");
	ordered(2, "set channels 1@100ms,6@100ms share 2/3");
	all_done();
	t.sensors[0].final_heard = true; /* it ends in order */
	pass(GROUPS_BALANCE_NS);
	ordered(1, "set channels 1@100ms,6@100ms share 0/2");
	all_done();
	t.sensors[1].one_way = true;
	t.sensors[1].no_acks = true;
	pass(GROUPS_BALANCE_NS);
	ordered(2, "set channels 1@100ms,6@100ms share 0/1");
	all_done();
	assert_int_equal(t.g.list[0]->present, 1);
}

static void who_is_not_heard_is_not_there(void **state)
{
	(void)state;
	apply();
	present(0);
	present(1);
	pass(0);
	all_done();
	t.sensors[0].up = false; /* pass() keeps it silent */
	pass(GROUPS_SILENT_NS);
	t.sensors[0].up = true;
	ordered(1, "set channels 1@100ms,6@100ms share 0/1");
	ordered(0, "set channels 1@100ms,6@100ms share 0/2");
	all_done();
	pass(GROUPS_BALANCE_NS); /* it returns in the same session */
	ordered(1, "set channels 1@100ms,6@100ms share 1/2");
	assert_int_equal(t.order[0].count, 1); /* it keeps that share */
}

static void behind_a_stall_nobody_is_gone(void **state)
{
	(void)state;
	apply();
	present(0);
	present(1);
	pass(0);
	all_done();
	t.now += 2 * GROUPS_SILENT_NS;
	t.sensors[1].heard_ns = t.now; /* the first whose datagrams are read */
	groups_tick(&t.g, t.now);
	pass(2 * GROUPS_BALANCE_NS);
	assert_true(t.order[0].count == 1 && t.order[1].count == 1);
}

static void without_members_there_is_nothing_to_do(void **state)
{
	(void)state;
	groups_file_free(&t.f);
	for (int i = 0; i < SENSORS; i++)
		t.sensors[i].group = 0;
	apply();
	assert_int_equal(groups_tick(&t.g, t.now), -1);
	assert_null(line("group lib channels 1"));
	apply();
	assert_int_equal(groups_tick(&t.g, t.now), -1);
	t.sensors[1].group = 1;
	apply();
	present(1);
	assert_true(groups_tick(&t.g, t.now) > 0);
	ordered(1, "set channels 1@250ms share 0/1");
}

static void a_stale_order_is_asked_again(void **state)
{
	(void)state;
	apply();
	present(0);
	present(1);
	pass(0);
	answered(0, ANSWER_STALE);
	answered(1, ANSWER_DONE);
	pass(GROUPS_BALANCE_NS - 1);
	assert_int_equal(t.order[0].count, 1);
	pass(GROUPS_TICK_NS);
	assert_int_equal(t.order[0].count, 2);
	ordered(0, "set channels 1@100ms,6@100ms share 0/2"); /* which is no refusal */
	assert_int_equal(t.order[1].count, 1);
}

static void a_new_session_is_told_again(void **state)
{
	(void)state;
	apply();
	present(0);
	pass(0);
	all_done();
	present(0);
	pass(1);
	assert_int_equal(t.order[0].count, 2);
	answered(0, COMMANDS_GIVEN_UP);
	pass(S);
	assert_int_equal(t.order[0].count, 3);
}

static void who_refuses_is_left_out(void **state)
{
	(void)state;
	apply();
	present(0);
	present(1);
	pass(0);
	answered(0, ANSWER_NOT_ALLOWED);
	answered(1, ANSWER_DONE);
	pass(GROUPS_BALANCE_NS);
	ordered(1, "set channels 1@100ms,6@100ms share 0/1");
	all_done();
	pass(9 * S);
	assert_int_equal(t.order[0].count, 1);
	for (int i = 0; i < 10; i++) {
		present(0);
		pass(GROUPS_BALANCE_NS);
		assert_int_equal(t.order[0].count, 1);
		assert_int_equal(t.order[1].count, 2);
	}
	pass(GROUPS_REFUSED_NS); /* another run may allow it */
	assert_int_equal(t.order[0].count, 2);
	ordered(0, "set channels 1@100ms,6@100ms share 0/2");
}

static void another_file(void **state)
{
	(void)state;
	apply();
	present(0);
	present(1);
	pass(0);
	all_done();
	apply(); /* the same again */
	pass(GROUPS_BALANCE_NS);
	assert_int_equal(t.order[0].count, 1);
	groups_file_free(&t.f);
	assert_null(line("group lib channels 11"));
	t.sensors[1].group = 0;
	apply();
	pass(GROUPS_BALANCE_NS);
	ordered(0, "set channels 11@250ms share 0/1");
	ordered(1, "set channels");
	all_done();
	groups_file_free(&t.f);
	assert_null(line("group lib"));
	apply();
	pass(GROUPS_BALANCE_NS);
	ordered(0, "set channels");
	all_done();
	pass(9 * S);
	assert_true(t.order[0].count == 3 && t.order[1].count == 2);
}

static void nothing(void *user, struct sensor *s, int status, const char *text)
{
	(void)user;
	(void)s;
	(void)status;
	(void)text;
}

static void to_all_that_are_present(void **state)
{
	(void)state;
	apply();
	assert_int_equal(groups_order(&t.g, "none",
				      &(struct group_order){ "x", 0, t.now + 1, nothing, &t },
				      t.now),
			 -ENOENT);
	assert_int_equal(groups_order(&t.g, "lib",
				      &(struct group_order){ "x", 0, t.now + 1, nothing, &t },
				      t.now),
			 0);
	present(0);
	present(2);
	assert_int_equal(groups_order(&t.g, "lib",
				      &(struct group_order){ "x", 0, t.now + 1, nothing, &t },
				      t.now),
			 2);
	assert_true(t.order[0].count == 1 && t.order[1].count == 0 && t.order[2].count == 1);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Radiotap with a flag, a rate and a channel. */
static uint8_t tagged[] = { 0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0xc0, 0 };

static void frame(unsigned int i, uint32_t len, unsigned int mhz)
{
	struct combo_frame f = { .orig_len = len,
				 .kept_len = sizeof(tagged),
				 .linktype = 127,
				 .interface = 1,
				 .data = tagged };

	f.time_ns = clock_ns(CLOCK_REALTIME) - t.age_ns;
	tagged[4] = mhz ? 0x0e : 0x06;
	tagged[MHZ_AT] = mhz;
	tagged[MHZ_AT + 1] = mhz >> 8;
	t.combos.framed(t.combos.framed_user, &t.sensors[i], &f, NULL, t.now);
}

static void dwell(unsigned int i, unsigned int interface, unsigned int mhz)
{
	struct dwell d = { .interface = interface,
			   .mhz = mhz,
			   .width = 20,
			   .center = mhz,
			   .from_ns = 1,
			   .to_ns = 2 };
	uint8_t bytes[DWELL_MAX];
	struct combo_event e = { .type = COMBO_EVENT_DWELL, .bytes = bytes };

	e.len = dwell_write(bytes, &d);
	t.combos.framed(t.combos.framed_user, &t.sensors[i], NULL, &e, t.now);
}

static void with_rules(const char *one, const char *other)
{
	unsigned int number;

	groups_file_free(&t.f);
	assert_null(line("group lib"));
	assert_null(line(one));
	if (other)
		assert_null(line(other));
	assert_null(groups_file_check(&t.f, &number));
	assert_int_equal(refocus_init(&t.r, &t.g, &t.combos, &t.f, "file"), 0);
	apply();
	assert_non_null(t.combos.framed);
	present(0);
	present(1);
	pass(0);
}

static void with_rule(void)
{
	with_rules("refocus lib for 3s deauth", NULL);
}

static void a_frame_refocuses(void **state)
{
	(void)state;
	with_rule();
	frame(0, 76, 2437);
	assert_int_equal(t.order[0].count, 0);
	frame(0, 77, 2437);
	ordered(0, "focus 6 3000");
	ordered(1, "focus 6 3000");
	assert_int_equal(t.g.list[0]->refocused, 1);
	all_done();
	t.matched = 0;
	for (int i = 0; i < 1000; i++) /* orders and work are bounded */
		frame(1, 77, 2437);
	assert_int_equal(t.matched, 0);
	assert_int_equal(t.order[0].count, 1);
	pass(REFOCUS_AGAIN_NS);
	frame(1, 77, 5180); /* another channel, while it is in force */
	frame(0, 77, 2437);
	assert_int_equal(t.matched, 1); /* bounded, too */
	assert_int_equal(t.order[0].count, 1);
	pass(REFOCUS_UNFIT_NS);
	frame(1, 77, 2437); /* prolonged */
	assert_int_equal(t.order[0].count, 2);
	assert_int_equal(t.g.list[0]->refocused, 1);
	all_done();
	pass(2 * S);
	frame(1, 77, 5180);
	assert_int_equal(t.order[0].count, 2); /* still in force, as prolonged */
	pass(2 * S);
	frame(1, 77, 5180);
	ordered(0, "focus 36 3000");
	assert_int_equal(t.g.list[0]->refocused, 2);
}

static void rules_do_not_pull_to_and_fro(void **state)
{
	(void)state;
	with_rules("refocus lib for 3s deauth", "refocus lib for 1s beacon");
	frame(0, 77, 2437);
	ordered(1, "focus 6 3000");
	all_done();
	t.matched = 0;
	frame(1, 78, 5180); /* another channel, too soon: orders and work are bounded */
	assert_int_equal(t.matched, 0);
	pass(REFOCUS_AGAIN_NS);
	for (int i = 0; i < 50; i++, pass(REFOCUS_UNFIT_NS)) {
		frame(1, 78, 5180);
		frame(1, 77, 5180);
	}
	frame(1, 78, 2437); /* it would end sooner */
	apply();	    /* the file was read again */
	frame(1, 78, 5180);
	assert_true(t.order[0].count == 1 && t.order[1].count == 1);
	pass(S / 2);
	frame(1, 78, 2437); /* prolonged by the other rule */
	ordered(0, "focus 6 1000");
	all_done();
	assert_int_equal(t.g.list[0]->refocused, 1);
	pass(S);
	frame(1, 78, 5180);
	ordered(0, "focus 36 1000");
	all_done();
	assert_int_equal(t.g.list[0]->refocused, 2);
}

static void one_order_a_second_of_all_rules(void **state)
{
	(void)state;
	with_rules("refocus lib for 1ms deauth", "refocus lib for 1ms beacon");
	for (int i = 0; i < 100; i++, pass(50000000)) {
		frame(1, 77, 0); /* the dwell gives the channel */
		frame(0, 78, 5180);
		frame(0, 77, 2437);
		all_done();
		pass(2000000);
		dwell(1, 1, 2412);
		all_done();
	}
	assert_int_equal(t.order[0].count, 5);
}

/* Does what `saluki-collector ctl focus` does, for the group or for sensor 1. */
static void by_hand(bool of_group, uint32_t ms, int status)
{
	if (of_group)
		assert_int_equal(groups_order(&t.g, "lib",
					      &(struct group_order){ "focus 1 9", ms, t.now + 5 * S,
								     nothing, &t },
					      t.now),
				 2);
	else
		groups_hold(&t.sensors[1], false, ms, t.now);
	frame(0, 77, 2437); /* while it is under way */
	for (unsigned int i = !of_group; i < 2; i++)
		groups_held(&t.sensors[i], of_group, ms, status, t.now);
	all_done();
}

static void a_rule_does_not_override_the_operator(void **state)
{
	(void)state;
	with_rule();
	by_hand(true, 5000, ANSWER_DONE);
	for (int i = 0; i < 49; i++, pass(S / 10)) {
		frame(0, 77, 2437);
		ordered(0, "focus 1 9");
	}
	assert_int_equal(t.g.list[0]->refocused, 0);
	pass(S / 10);
	frame(0, 77, 2437);
	ordered(0, "focus 6 3000");
	all_done();
	by_hand(true, 1000, ANSWER_DONE); /* replaces the rule's */
	pass(S);
	frame(0, 77, 5180);
	ordered(1, "focus 36 3000");
	all_done();
	pass(4 * S);
	by_hand(true, 60000, ANSWER_NOT_ALLOWED); /* unchanged */
	pass(REFOCUS_UNFIT_NS);
	frame(0, 77, 2437);
	ordered(1, "focus 6 3000");
	all_done();
	pass(4 * S);
	by_hand(true, 60000, COMMANDS_UNSENT);
	pass(REFOCUS_UNFIT_NS);
	frame(0, 77, 5180);
	ordered(1, "focus 36 3000");
	all_done();
	pass(4 * S);
	by_hand(true, 2000, COMMANDS_GIVEN_UP); /* it may have been carried out */
	pass(S);
	frame(0, 77, 5180);
	ordered(1, "focus 1 9");
	pass(S);
	frame(0, 77, 5180);
	ordered(1, "focus 36 3000");
}

/* The group is the operator's while any connected sensor carries out the order. */
static void only_who_is_there_holds_the_group(void **state)
{
	(void)state;
	with_rule();
	by_hand(true, 60000, ANSWER_DONE);
	groups_hold(&t.sensors[0], false, 1, t.now);
	groups_held(&t.sensors[0], false, 1, ANSWER_DONE, t.now); /* sensor 0 does no longer */
	pass(S);
	frame(0, 77, 2437);
	ordered(0, "focus 1 9");
	t.sensors[1].final_heard = true;
	pass(REFOCUS_UNFIT_NS);
	frame(0, 77, 2437);
	ordered(0, "focus 6 3000");
}

static void an_operators_sensor_is_left_out(void **state)
{
	(void)state;
	with_rule();
	by_hand(true, 1000, ANSWER_DONE);
	pass(S); /* it is over, for the group and so for the sensor */
	t.order[0].count = t.order[1].count = 0;
	by_hand(false, 5000, ANSWER_DONE);
	ordered(0, "focus 6 3000");
	pass(S);
	frame(0, 77, 2437);
	assert_true(t.order[0].count == 2 && t.order[1].count == 0);
	all_done();
	t.sensors[0].final_heard = true; /* no other sensor is connected */
	pass(3 * S);
	frame(1, 77, 5180);
	assert_int_equal(t.order[1].count, 0);
	assert_int_equal(t.g.list[0]->refocused, 1);
	pass(S);
	frame(1, 77, 5180);
	ordered(1, "focus 36 3000");
	assert_int_equal(t.g.list[0]->refocused, 2);
}

static void who_has_not_answered_is_left_out(void **state)
{
	(void)state;
	with_rule();
	frame(0, 77, 2437);
	answered(0, ANSWER_FAILED);
	pass(REFOCUS_AGAIN_NS);
	frame(0, 77, 2437);
	assert_true(t.order[0].count == 2 && t.order[1].count == 1);
}

static void without_a_channel_its_dwell_tells(void **state)
{
	(void)state;
	with_rule();
	frame(0, 77, 0);
	dwell(1, 1, 2412); /* another sensor's */
	dwell(0, 0, 2412); /* of another interface */
	assert_int_equal(t.order[0].count, 0);
	dwell(0, 1, 2462);
	ordered(1, "focus 11 3000");
	dwell(0, 1, 2412); /* once */
	assert_int_equal(t.order[0].count, 1);
}

static void another_does_not_put_it_off(void **state)
{
	(void)state;
	with_rule();
	frame(0, 77, 0);
	frame(1, 77, 0);
	dwell(1, 1, 2412);
	assert_int_equal(t.order[0].count, 0);
	pass(REFOCUS_OLD_NS); /* it starts none */
	frame(1, 77, 0);
	dwell(0, 1, 2462);
	assert_int_equal(t.order[0].count, 0);
	dwell(1, 1, 2412);
	ordered(0, "focus 1 3000");
}

static void frames_of_long_ago(void **state)
{
	static char ahead[] = "ahead_us=3600000000\n", behind[] = "behind_us=3600000000\n";

	(void)state;
	with_rule();
	t.age_ns = 11 * S;
	frame(0, 77, 2437);
	frame(0, 77, 0);
	dwell(0, 1, 2437);
	pass(REFOCUS_UNFIT_NS);
	t.sensors[0].info.text = ahead;
	t.sensors[0].info.len = strlen(ahead);
	t.age_ns = 0; /* with a clock an hour ahead */
	frame(0, 77, 2437);
	assert_int_equal(t.order[0].count, 0);
	pass(REFOCUS_UNFIT_NS);
	t.sensors[0].info.text = behind;
	t.sensors[0].info.len = strlen(behind);
	t.age_ns = 3600 * (int64_t)S; /* with a clock an hour behind */
	frame(0, 77, 2437);
	assert_int_equal(t.order[0].count, 1);
}

static void what_leads_to_nothing(void **state)
{
	(void)state;
	with_rule();
	t.combo[0].forward.id = 1; /* of another time */
	frame(0, 77, 2437);
	t.combo[0].forward.id = 0;
	frame(0, 77, 17); /* no channel */
	pass(REFOCUS_AGAIN_NS);
	tagged[2] = 11; /* truncated */
	frame(0, 77, 2437);
	tagged[2] = 200;
	frame(0, 77, 2437);
	tagged[2] = 14;
	t.sensors[2].group = 0;
	apply();
	frame(2, 77, 2437); /* of no sensor in the group */
	assert_int_equal(t.order[0].count, 0);
	t.f.rules_count = 0;
	apply();
	assert_null(t.combos.framed);
}

static void expressions_are_of_the_start(void **state)
{
	unsigned int number;

	(void)state;
	with_rule();
	assert_null(line("refocus lib for 9s deauth"));
	assert_null(groups_file_check(&t.f, &number));
	assert_true(refocus_knows(&t.r, &t.f, "file"));
	assert_null(line("refocus lib for 9s wrong"));
	assert_false(refocus_knows(&t.r, &t.f, "file"));
	refocus_free(&t.r);
	assert_int_equal(refocus_init(&t.r, &t.g, &t.combos, &t.f, "file"), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_file),
		TEST(too_many_channels),
		TEST(a_long_expression),
		TEST(shares),
		TEST(who_is_not_heard_is_not_there),
		TEST(behind_a_stall_nobody_is_gone),
		TEST(without_members_there_is_nothing_to_do),
		TEST(a_stale_order_is_asked_again),
		TEST(a_new_session_is_told_again),
		TEST(who_refuses_is_left_out),
		TEST(another_file),
		TEST(to_all_that_are_present),
		TEST(a_frame_refocuses),
		TEST(rules_do_not_pull_to_and_fro),
		TEST(one_order_a_second_of_all_rules),
		TEST(a_rule_does_not_override_the_operator),
		TEST(only_who_is_there_holds_the_group),
		TEST(an_operators_sensor_is_left_out),
		TEST(who_has_not_answered_is_left_out),
		TEST(without_a_channel_its_dwell_tells),
		TEST(another_does_not_put_it_off),
		TEST(frames_of_long_ago),
		TEST(what_leads_to_nothing),
		TEST(expressions_are_of_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
