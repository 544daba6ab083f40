// SPDX-License-Identifier: GPL-2.0
/* links: agent/radio/sampler.o agent/radio/sampler_order.o agent/radio/sampler_tell.o
 * agent/radio/plan.o agent/radio/dwells.o agent/source/clock.o wire/channel.o */
/* The sampler, with the test's own privileged process, hook and clock. */
#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/radio/sampler.h"
#include "common/privsep.h"

#define MS 1000000ULL

static struct {
	struct sampler *s;
	struct source source;
	struct info info;
	uint64_t seen; /* frames at the hook */
	uint64_t now;
	uint64_t wall;	 /* ns since 1970 */
	uint64_t summed; /* frames of dwells, and those marked */
	int privileged;	 /* our end */
	struct capture_options o;
	struct handover h;
} t;

/* The channel before the switch, as the privileged process found it; 0 MHz: not reported. */
static struct radio_channel was;

const char *radio_reason(int err)
{
	return strerror(-err);
}

static void counters(const struct source *s, unsigned int i, struct saluki_counters *out)
{
	assert_ptr_equal(s, &t.source);
	assert_in_range(i, 0, t.h.count - 1);
	*out = (struct saluki_counters){ .seen = t.seen };
}

static const struct source_ops ops = { .counters = counters };

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	memset(&was, 0, sizeof(was));
	t.source.ops = &ops;
	t.now = monotonic_ns();
	t.h.kind = HANDOVER_RING;
	t.h.count = 1;
	t.h.interfaces[0].linktype = LINKTYPE_RADIOTAP;
	t.h.interfaces[0].channel = (struct radio_channel){ 2412, 20, 2412 };
	strcpy(t.info.interfaces[0].name, "mon0");
	plan_asked_init(&t.o.plans[0]);
	return 0;
}

static void begin(const char *list)
{
	int socks[2], err = 0;

	t.o.plans[0].list = list;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, socks), 0);
	t.privileged = socks[0];
	t.s = sampler_new(&t.o, &t.h, &(struct sampler_meets){ &t.source, socks[1], &t.info },
			  &err);
	assert_non_null(t.s);
	sampler_start(t.s, t.now);
}

static int tear_down(void **state)
{
	(void)state;
	if (t.s) {
		close(t.privileged);
		close(t.s->meets.privileged);
	}
	sampler_free(t.s);
	return 0;
}

/* Reads the request: a frequency, 0 for the card's channels, -1 for none. */
static int asked(void)
{
	static struct ordered r;
	ssize_t n = privsep_receive(t.privileged, &r, sizeof(r), NULL);

	if (n == -EAGAIN)
		return -1;
	assert_int_equal(n, REQUEST_HEAD_LEN);
	return r.kind == REQUEST_TUNE ? r.channel.mhz : 0;
}

static void answer_of(unsigned int i, int err, uint64_t took_ns)
{
	struct order o = { .what = COMMAND_TUNED, .error = err, .number = i };

	o.tuned.was = was;
	o.tuned.begin_ns = t.now;
	t.now += took_ns;
	o.tuned.end_ns = t.now;
	sampler_told(t.s, &o, t.now);
}

static void answer(int err, uint64_t took_ns)
{
	answer_of(0, err, took_ns);
}

/* Advances the clock by `ms`, in which `frames` frames come. */
static int wait_ms(uint64_t ms, unsigned int frames)
{
	t.now += ms * MS;
	t.seen += frames;
	return sampler_tick(t.s, t.now);
}

static void assert_dwell(unsigned int mhz, unsigned int ms, unsigned int frames,
			 unsigned int marked, unsigned int error)
{
	const struct dwell *d = dwells_front(&t.s->dwells, UINT64_MAX);

	assert_non_null(d);
	assert_int_equal(d->mhz, mhz);
	assert_int_equal((d->to_ns - d->from_ns + MS / 2) / MS, ms);
	if (!error)
		assert_int_equal((t.s->dwells.ring[t.s->dwells.tail % DWELLS_RING].ended_ns -
				  d->up_ns + MS / 2) /
					 MS,
				 ms);
	assert_int_equal(d->frames, frames);
	assert_int_equal(d->marked, marked);
	assert_int_equal(d->error, error);
	t.summed += frames + marked;
	dwells_pop(&t.s->dwells);
}

static void assert_no_dwell(void)
{
	assert_null(dwells_front(&t.s->dwells, UINT64_MAX));
}

static void one_after_the_other(void **state)
{
	(void)state;
	begin("1,6,11@20ms");
	assert_int_equal(asked(), -1); /* the tap tuned it */
	assert_int_equal(wait_ms(0, 0), 250);
	assert_int_equal(wait_ms(249, 7), 1);
	assert_no_dwell();
	assert_int_equal(wait_ms(1, 1), -1);
	assert_int_equal(asked(), 2437);
	assert_true(dwells_unsettled(&t.s->dwells, 0, t.now));
	assert_false(dwells_unsettled(&t.s->dwells, 0, t.now - 1));
	t.seen += 3; /* during the switch */
	answer(0, MS);
	assert_dwell(2412, 250, 8, 0, 0);
	assert_true(dwells_unsettled(&t.s->dwells, 0, t.now + 2 * MS - 1));
	assert_false(dwells_unsettled(&t.s->dwells, 0, t.now + 2 * MS));
	assert_int_equal(wait_ms(0, 0), 250); /* from its arrival */
	wait_ms(250, 5);
	assert_int_equal(asked(), 2462);
	answer(0, MS);
	assert_dwell(2437, 250, 5, 3, 0);
	assert_int_equal(wait_ms(0, 0), 20);
	wait_ms(20, 2);
	assert_int_equal(asked(), 2412);
	answer(0, MS);
	assert_dwell(2462, 20, 2, 0, 0);
	wait_ms(100, 4);
	sampler_end(t.s, t.now);
	assert_dwell(2412, 100, 4, 0, 0);
	assert_no_dwell();
	assert_int_equal(t.summed, t.seen);
	assert_int_equal(sampler_tick(t.s, t.now), -1);
}

static void one_channel_is_told_in_parts(void **state)
{
	(void)state;
	begin("1");
	assert_int_equal(wait_ms(0, 0), 5000);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(wait_ms(5000, 10 * i), -1);
		assert_int_equal(asked(), 2412); /* the check whether it is still there */
		assert_false(dwells_unsettled(&t.s->dwells, 0, t.now));
		was = (struct radio_channel){ 2412, 20, 2412 };
		answer(0, 0);
		assert_dwell(2412, 5000, 10 * i, 0, 0);
		assert_int_equal(wait_ms(0, 0), 5000);
	}
	wait_ms(10, 1);
	sampler_end(t.s, t.now);
	assert_int_equal(asked(), -1);
	assert_dwell(2412, 10, 1, 0, 0);
	assert_no_dwell();
}

/* Another program tuned the radio: none of that time counts for the channel. */
static void a_radio_that_strays(void **state)
{
	(void)state;
	begin("1");
	wait_ms(5000, 10);
	assert_int_equal(asked(), 2412);
	was = (struct radio_channel){ 2437, 20, 2437 };
	t.seen += 2;
	answer(0, MS);
	assert_dwell(2412, 0, 0, 10, EXDEV);
	assert_true(dwells_unsettled(&t.s->dwells, 0, t.now));
	was.mhz = 0;
	wait_ms(100, 3);
	sampler_end(t.s, t.now);
	assert_dwell(2412, 100, 3, 2, 0);
	assert_no_dwell();
	assert_int_equal(t.summed, t.seen);
}

/* If it cannot be tuned back, it stays where it is. */
static void a_radio_that_strays_for_good(void **state)
{
	(void)state;
	begin("1,6");
	wait_ms(250, 10);
	assert_int_equal(asked(), 2437);
	was = (struct radio_channel){ 5180, 20, 5180 };
	answer(-EBUSY, MS);
	assert_int_equal(asked(), 2412);
	answer(-EBUSY, MS);
	assert_int_equal(asked(), -1);
	wait_ms(250, 4);
	assert_dwell(2412, 0, 0, 10, EXDEV);
	assert_dwell(2437, 0, 0, 0, EBUSY);
	assert_dwell(2412, 0, 0, 0, EBUSY);
	assert_int_equal(asked(), 2437);
	was = (struct radio_channel){ 5180, 20, 5180 };
	answer(0, MS);
	assert_dwell(5180, 250, 4, 0, 0);
}

/* The short time on the old channel after a failed switch is no dwell, and no sign of a deaf
 * card. */
static void nothing_between_two_tries(void **state)
{
	const struct plan_entry *e;

	(void)state;
	t.o.plans[0].proportional = true;
	begin("1,14,6");
	e = t.s->radios[0]->plan.entries;
	for (int i = 0; i < 20; i++) {
		int mhz = asked();

		if (mhz == 2437)
			t.now += MS; /* on 2412, after the switch to 2484 */
		if (mhz > 0)
			answer(mhz == 2484 ? -EINVAL : 0, MS);
		else /* equal traffic on both */
			wait_ms(1, 1);
		while (dwells_front(&t.s->dwells, UINT64_MAX))
			dwells_pop(&t.s->dwells);
		i -= mhz <= 0;
	}
	assert_true(e[0].rate && e[0].rate == e[2].rate && !e[1].rate);
}

static void what_is_refused(void **state)
{
	(void)state;
	begin("1,14,6");
	wait_ms(250, 1);
	assert_int_equal(asked(), 2484);
	t.seen += 2;
	answer(-EINVAL, MS);
	assert_int_equal(asked(), 2437); /* at once */
	answer(0, MS);
	assert_dwell(2412, 250, 1, 0, 0);
	assert_dwell(2484, 0, 0, 2, EINVAL);
	wait_ms(250, 0);
	assert_int_equal(asked(), 2412);
	/* It can stay on its present channel. */
	answer(-EBUSY, MS);
	assert_int_equal(asked(), 2484);
	answer(-EBUSY, MS);
	assert_int_equal(asked(), -1);
	assert_int_equal(wait_ms(0, 0), 250);
	wait_ms(250, 9);
	assert_int_equal(asked(), 2412);
	answer(0, MS);
	wait_ms(5, 1);
	sampler_end(t.s, t.now);
	assert_dwell(2437, 250, 0, 0, 0);
	assert_dwell(2412, 0, 0, 0, EBUSY);
	assert_dwell(2484, 0, 0, 0, EBUSY);
	assert_dwell(2437, 250, 9, 0, 0);
	assert_dwell(2412, 5, 1, 0, 0);
	assert_no_dwell();
	assert_int_equal(t.summed, t.seen);
}

/* Returns the number of lines on standard error so far. */
static unsigned int lines_said(FILE *said)
{
	unsigned int lines = 0;

	rewind(said);
	for (int c; (c = fgetc(said)) != EOF;)
		lines += c == '\n';
	return lines;
}

/* A channel's reason is logged once, whatever is logged of others. The interface's own reason,
 * which blocks all channels, is logged once until it is tuned again. */
static void each_reason_is_said_once(void **state)
{
	static const struct {
		int of_13, of_14;
		unsigned int lines; /* by then */
	} rounds[] = {
		{ -EBUSY, -EINVAL, 2 },	     { -EBUSY, -EINVAL, 2 },   { -EINVAL, -EBUSY, 4 },
		{ -ENETDOWN, -ENETDOWN, 5 }, { -ENETDOWN, -EBUSY, 5 }, { 0, -ENETDOWN, 6 },
	};
	size_t count = sizeof(rounds) / sizeof(rounds[0]), done = 0;
	int was = dup(2);
	FILE *said = tmpfile();

	(void)state;
	assert_non_null(said);
	begin("13,14");
	dup2(fileno(said), 2);
	for (; done < count; done++) {
		for (int left = 2, mhz; left;) {
			mhz = asked();
			if (mhz < 0) {
				wait_ms(2000, 0);
				continue;
			}
			answer(mhz == 2472 ? rounds[done].of_13 : rounds[done].of_14, MS);
			left--;
		}
		if (lines_said(said) != rounds[done].lines)
			break;
	}
	dup2(was, 2);
	close(was);
	fclose(said);
	assert_int_equal(done, count);
}

static void none_is_to_be_had(void **state)
{
	(void)state;
	begin("14,13");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(asked(), 2484);
		answer(-EINVAL, MS);
		assert_int_equal(asked(), 2472);
		answer(-EINVAL, MS);
		assert_int_equal(asked(), -1);
		assert_int_equal(wait_ms(0, 0), 250); /* and then again */
		wait_ms(250, 1);
	}
}

static void an_interface_that_goes_and_comes(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	begin("1,6");
	wait_ms(100, 3);
	sampler_told(t.s, &o, t.now);
	assert_dwell(2412, 100, 3, 0, 0);
	assert_true(dwells_unsettled(&t.s->dwells, 0, t.now + 1000 * MS));
	wait_ms(250, 0);
	assert_int_equal(asked(), 2437);
	answer(-ENETDOWN, MS);
	assert_dwell(2437, 0, 0, 0, ENETDOWN);
	assert_int_equal(asked(), -1);
	o.what = COMMAND_INTERFACE;
	o.interface.channel = (struct radio_channel){ 2412, 20, 2412 };
	t.seen += 4;
	sampler_told(t.s, &o, t.now);
	assert_int_equal(asked(), -1);
	wait_ms(10, 1);
	sampler_end(t.s, t.now);
	assert_dwell(2412, 10, 1, 4, 0);
	assert_no_dwell();
}

/* Carries out an order until all radios were asked. Returns its status. */
static int order(const struct order_channels *c)
{
	*t.s->said = 0;
	return sampler_order(t.s, c);
}

static int order_list(const char *list, unsigned int member, unsigned int members)
{
	struct order_channels c = {
		.list = list, .list_len = strlen(list), .member = member, .members = members
	};

	return order(&c);
}

/* The tap restores a channel from the command line. The sampler restores an ordered one.
 */
static void one_ordered_channel_is_lost(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	t.o.steered = true;
	begin("1");
	assert_int_equal(order_list("6", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	t.now = monotonic_ns();
	answer(0, MS);
	sampler_told(t.s, &o, t.now);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wait_ms(0, 0), 250);
		wait_ms(250, 0);
		assert_int_equal(asked(), 2437);
		answer(-EBUSY, MS);
	}
	wait_ms(250, 0);
	assert_int_equal(asked(), 2437);
	answer(0, MS);
	assert_int_equal(asked(), -1);
}

/* A share of one channel has no other slot to wait for. */
static void a_share_of_one_channel_is_lost(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	t.o.steered = true;
	begin("1");
	assert_int_equal(order_list("6", 0, 1), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	t.now = monotonic_ns();
	answer(0, MS);
	/* Other users keep it busy for a while; then the interface was down. */
	for (int k = 0; k < 2; k++) {
		if (k == 0)
			wait_ms(5000, 1);
		else
			sampler_told(t.s, &o, t.now);
		if (k == 0)
			was = (struct radio_channel){ 5180, 20, 5180 };
		else
			wait_ms(250, 0);
		assert_int_equal(asked(), 2437);
		answer(-EBUSY, MS);
		wait_ms(250, 0);
		assert_int_equal(asked(), 2437);
		was.mhz = 0;
		answer(0, MS);
	}
}

/* Its check returns after it was lost: as if it had been tuned. */
static void a_check_amid_which_it_is_lost(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	begin("1");
	wait_ms(5000, 10);
	assert_int_equal(asked(), 2412);
	sampler_told(t.s, &o, t.now);
	assert_dwell(2412, 5000, 10, 0, 0);
	t.seen += 2;
	was = (struct radio_channel){ 2412, 20, 2412 };
	answer(0, MS);
	assert_int_equal(wait_ms(0, 0), 5000);
	wait_ms(100, 3);
	sampler_end(t.s, t.now);
	assert_dwell(2412, 100, 3, 2, 0);
	assert_no_dwell();
	assert_int_equal(t.summed, t.seen);
}

/* While the channel is lost, all frames are marked, however often it is tried. */
static void a_try_that_fails_settles_nothing(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	begin("1");
	wait_ms(100, 3);
	sampler_told(t.s, &o, t.now);
	wait_ms(250, 4);
	assert_int_equal(asked(), 2412);
	answer(-EBUSY, MS);
	assert_true(dwells_unsettled(&t.s->dwells, 0, t.now + 100 * MS));
}

/* Frames received on an unknown channel are in no channel's dwell, but are reported. */
static void frames_of_nowhere(void **state)
{
	struct order o = { .what = COMMAND_LOST };

	(void)state;
	begin("1,6");
	wait_ms(100, 3);
	sampler_told(t.s, &o, t.now);
	wait_ms(300, 4);
	assert_int_equal(asked(), 2437);
	answer(-EBUSY, MS);
	assert_int_equal(asked(), 2412);
	answer(-EBUSY, MS);
	wait_ms(10, 2);
	sampler_end(t.s, t.now);
	assert_dwell(2412, 100, 3, 0, 0);
	assert_dwell(2437, 0, 0, 4, EBUSY);
	assert_dwell(2412, 0, 0, 0, EBUSY);
	assert_dwell(2412, 0, 0, 2, ENETDOWN);
	assert_int_equal(t.summed, t.seen);
}

static void no_room_for_dwells(void **state)
{
	uint64_t sum = 0;
	const struct dwell *d;

	(void)state;
	begin("1,6@10ms");
	for (int i = 0; i < DWELLS_RING + 24; i++) {
		while (asked() < 0)
			wait_ms(10, 1);
		answer(0, 0);
	}
	for (; (d = dwells_front(&t.s->dwells, UINT64_MAX)); dwells_pop(&t.s->dwells))
		sum += d->frames + d->marked;
	assert_true(sum < t.seen && t.s->untold > 10);
	sampler_end(t.s, t.now);
	d = dwells_front(&t.s->dwells, UINT64_MAX);
	assert_int_equal(sum + d->frames + d->marked, t.seen);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void a_focus_is_for_a_time(void **state)
{
	struct order_channels c = { .focus = true, .channel = { 5180, 80, 5210 }, .ms = 3000 };

	(void)state;
	t.o.steered = true;
	begin("1,6");
	t.now = monotonic_ns(); /* orders use the real clock */
	assert_int_equal(order(&c), -EINPROGRESS);
	assert_int_equal(asked(), 5180);
	answer(0, MS);
	assert_in_range(wait_ms(0, 0), 2900, 3000);
	wait_ms(1000, 0);
	assert_int_equal(asked(), -1);
	wait_ms(2001, 0);
	assert_true(asked() > 0); /* back to the plan */
	/* Ordered during a switch: it goes there afterwards. */
	c.ms = 60000;
	assert_int_equal(order(&c), -EINPROGRESS);
	assert_int_equal(asked(), -1);
	answer(0, MS);
	assert_int_equal(asked(), 5180);
}

static void another_list(void **state)
{
	struct order o = { .what = COMMAND_CARD, .card = { .count = 2, .mhz = { 5180, 5200 } } };
	struct sampler_view v;

	(void)state;
	t.o.steered = true;
	begin(NULL);
	assert_int_equal(asked(), -1);
	assert_int_equal(order_list("6,x", 0, 0), -EINVAL);
	assert_non_null(strstr(t.s->said, "'x'"));
	assert_int_equal(asked(), -1);
	assert_int_equal(order_list("6,11", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	assert_int_equal(order_list("all", 0, 0), -EINPROGRESS); /* while it is switched */
	t.now = monotonic_ns();
	answer(0, MS);
	assert_int_equal(asked(), 0);
	sampler_told(t.s, &o, t.now);
	assert_int_equal(asked(), 5180);
	answer(0, MS);
	sampler_view(t.s, 0, &v);
	assert_true(v.mhz == 5180 && v.entries == 2 && v.how == SAMPLER_ORDERED);
	/* Back: no list was ordered, so it stays. */
	assert_int_equal(order_list("", 0, 0), 0);
	assert_int_equal(asked(), -1);
	assert_int_equal(wait_ms(4000, 0), 1000); /* the next part */
	sampler_view(t.s, 0, &v);
	assert_true(v.mhz == 5180 && v.entries == 0);
}

/* Two radios on channel 1, by the command line or by default. */
static void begin_two(const char *list)
{
	t.o.steered = true;
	t.h.count = 2;
	t.h.interfaces[1] = t.h.interfaces[0];
	strcpy(t.info.interfaces[1].name, "mon1");
	begin(list);
	t.now = monotonic_ns();
}

static int ordered(void)
{
	return sampler_ordered(t.s);
}

static int order_focus(unsigned int mhz)
{
	struct order_channels c = { .focus = true, .channel = { mhz, 20, mhz }, .ms = 60000 };

	return order(&c);
}

/* The switch to the focus is answered, the switch back is not. */
static void a_focus_has_been_reached_or_not(void **state)
{
	(void)state;
	t.o.steered = true;
	begin("1");
	t.now = monotonic_ns();
	assert_int_equal(order_focus(2412), 0); /* it is there */
	assert_int_equal(order_focus(2437), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	assert_int_equal(ordered(), -EINPROGRESS);
	answer(0, MS);
	assert_int_equal(ordered(), 0);
	assert_string_equal(t.s->said, "");
	assert_int_equal(order_focus(2484), -EINPROGRESS);
	assert_int_equal(asked(), 2484);
	answer(-EINVAL, MS);
	assert_int_equal(asked(), 2412);
	assert_int_equal(ordered(), -EIO);
	assert_string_equal(t.s->said, "mon0: cannot set channel 14: Invalid argument");
	/* Another switch under way fails: this does not fail the focus. */
	assert_int_equal(order_focus(2462), -EINPROGRESS);
	answer(-EBUSY, MS);
	assert_int_equal(ordered(), -EINPROGRESS);
	assert_int_equal(asked(), 2462);
	answer(0, MS);
	assert_int_equal(ordered(), 0);
	assert_string_equal(t.s->said, "");
}

static void some_radios_cannot(void **state)
{
	(void)state;
	begin_two(NULL);
	assert_int_equal(order_focus(2484), -EINPROGRESS);
	assert_int_equal(asked() + asked(), 2 * 2484);
	answer_of(1, -EINVAL, MS);
	assert_int_equal(ordered(), -EINPROGRESS);
	answer_of(0, 0, MS);
	assert_int_equal(ordered(), 0);
	assert_string_equal(t.s->said, "mon1: cannot set channel 14: Invalid argument");
	assert_int_equal(order_focus(2437), -EINPROGRESS);
	answer_of(1, -ENODEV, MS);
	answer_of(0, -EINVAL, MS);
	assert_int_equal(ordered(), -EIO);
	assert_string_equal(t.s->said, "mon1: cannot set channel 6: No such device; "
				       "mon0: cannot set channel 6: Invalid argument");
}

/* A list succeeds with the first channel that can be tuned. If none can, it counts as never
 * ordered. */
static void a_list_of_which_some_or_none_is_to_be_had(void **state)
{
	struct sampler_view v;

	(void)state;
	t.o.steered = true;
	begin("6");
	t.now = monotonic_ns();
	assert_int_equal(asked(), 2437);
	answer(-EBUSY, MS);
	assert_int_equal(order_list("14,11", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2484);
	answer(-EINVAL, MS);
	assert_int_equal(ordered(), -EINPROGRESS);
	assert_int_equal(asked(), 2462);
	answer(0, MS);
	assert_int_equal(ordered(), 0);
	assert_int_equal(order_list("14,13", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2484);
	answer(-EINVAL, MS);
	assert_int_equal(asked(), 2472);
	answer(-EINVAL, MS);
	assert_int_equal(ordered(), -EIO);
	assert_string_equal(t.s->said, "mon0: cannot set channel 13: Invalid argument");
	assert_int_equal(asked(), 2437);
	answer(-EBUSY, MS);
	assert_string_equal(t.s->said, "mon0: cannot set channel 13: Invalid argument");
	sampler_view(t.s, 0, &v);
	assert_true(v.entries == 1 && !v.how);
}

/* A share's other slots may be tunable, but not while the interface is down. */
static void a_slot_that_cannot_be_had(void **state)
{
	(void)state;
	t.o.steered = true;
	begin("1");
	t.now = monotonic_ns();
	order_list("6@30m,14@30m", 0, 2);
	assert_true(asked() > 0);
	answer(-EINVAL, MS);
	assert_int_equal(ordered(), 0);
	assert_int_equal(order_list("14@100ms", 0, 2), -EINPROGRESS);
	assert_int_equal(asked(), 2484);
	answer(-EINVAL, MS);
	assert_int_equal(ordered(), -EIO);
	order_list("6@30m,14@30m", 0, 2);
	assert_true(asked() > 0);
	answer(-ENETDOWN, MS);
	assert_int_equal(ordered(), -EIO);
}

static int start_of(unsigned int i)
{
	const struct plan *p = &t.s->radios[i]->plan;

	return (uint64_t)p->member * p->count / p->members;
}

/* Three sensors with two radios each: all radios are on different channels, and a sensor's two
 * radios differ with as few as two channels. */
static void a_share_for_each_radio(void **state)
{
	unsigned int six = 0;

	(void)state;
	begin_two(NULL);
	for (unsigned int j = 0; j < 3; j++) {
		order_list("1,2,3,4,5,6", j, 3);
		for (unsigned int i = 0; i < 2; i++)
			six |= 1 << start_of(i);
		order_list("1,6", j, 3);
		assert_int_not_equal(start_of(0), start_of(1));
	}
	assert_int_equal(six, 077);
}

/* Dwells of an hour are valid alone; two of them exceed the longest cycle. */
static void a_list_that_one_of_two_refuses(void **state)
{
	(void)state;
	t.o.steered = true;
	t.h.count = 2;
	t.h.interfaces[1] = t.h.interfaces[0];
	t.h.interfaces[1].given = 1;
	t.o.plans[1] = t.o.plans[0];
	t.o.plans[1].dwell_us = PLAN_CYCLE_MAX_US;
	begin(NULL);
	assert_int_equal(order_list("6,11", 0, 0), -EINVAL);
	assert_int_equal(asked(), -1);
	assert_int_equal(order_list("6", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	assert_int_equal(asked(), 2437);
}

/* An order during a failing switch begins all the same. */
static void an_order_amid_a_failure(void **state)
{
	(void)state;
	begin("1,6@10ms");
	wait_ms(250, 0);
	assert_int_equal(asked(), 2437);
	assert_int_equal(order_list("11,13", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), -1);
	t.now = monotonic_ns();
	answer(-EBUSY, MS);
	assert_int_equal(asked(), 2462);
	answer(0, MS);
	assert_int_equal(wait_ms(0, 0), 250);
}

/* Without a list it returns to the channel before the collector's first order. */
static void a_focus_without_a_list(void **state)
{
	struct order_channels c = { .focus = true, .channel = { 2437, 20, 2437 }, .ms = 100 };
	struct order_channels none = { 0 };

	(void)state;
	t.o.steered = true;
	t.h.interfaces[0].channel.mhz = 0;
	begin(NULL);
	t.now = monotonic_ns();
	assert_int_equal(order(&c), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	was = (struct radio_channel){ 2462, 20, 2462 };
	answer(0, MS);
	was.mhz = 0;
	wait_ms(200, 0);
	assert_int_equal(asked(), 2462);
	answer(0, MS);
	assert_int_equal(order_list("1,6", 0, 0), -EINPROGRESS);
	assert_int_equal(asked(), 2412);
	answer(0, MS);
	assert_int_equal(order(&none), -EINPROGRESS);
	assert_int_equal(asked(), 2462);
}

static bool is_deaf(void)
{
	struct sampler_view v;

	sampler_view(t.s, 0, &v);
	return v.how & SAMPLER_DEAF;
}

/* A focus may be on a channel without traffic. */
static void a_focus_is_not_deaf(void **state)
{
	struct order_channels c = { .focus = true, .channel = { 5200, 20, 5200 }, .ms = 9000 };

	(void)state;
	t.o.steered = true;
	begin("1");
	t.s->deaf_ms = 3000;
	wait_ms(1000, 0);
	assert_int_equal(order(&c), -EINPROGRESS);
	for (int i = 0; i < 3; i++) {
		while (asked() >= 0)
			answer(0, MS);
		wait_ms(2500, 0);
		assert_false(is_deaf());
	}
}

/* A quiet channel is no deaf card, however long it lasts. */
static void what_is_not_deaf(void **state)
{
	(void)state;
	begin("1@8s,40@8s");
	t.s->deaf_ms = 3000;
	for (int i = 0; i < 4; i++) {
		while (asked() >= 0)
			answer(0, MS);
		wait_ms(4000, i % 2 ? 0 : 9);
		assert_false(is_deaf());
		while (asked() >= 0)
			answer(0, MS);
		wait_ms(4000, i % 2 ? 0 : 9);
		assert_false(is_deaf());
	}
	/* Then both channels are silent. */
	for (int i = 0; i < 20 && !is_deaf(); i++) {
		while (asked() >= 0)
			answer(0, MS);
		wait_ms(2000, 0);
	}
	assert_true(is_deaf());
}

/* A member that cannot tune the focus's channel continues its share. */
static void a_focus_that_fails(void **state)
{
	struct order_channels c = { .focus = true, .channel = { 5180, 80, 5210 }, .ms = 3600000 };

	(void)state;
	t.o.steered = true;
	begin("1");
	t.now = monotonic_ns();
	order_list("1@100ms,6", 0, 2);
	if (asked() > 0)
		answer(0, MS);
	assert_int_equal(order(&c), -EINPROGRESS);
	assert_int_equal(asked(), 5180);
	t.now = monotonic_ns();
	answer(-EINVAL, MS);
	if (asked() > 0)
		answer(0, MS);
	assert_in_range(wait_ms(0, 0), 0, 113);
}

static uint64_t wall(void)
{
	return t.wall;
}

/* Advances both clocks. */
static int pass_ms(uint64_t ms)
{
	t.wall += ms * MS;
	return wait_ms(ms, 0);
}

/* The second of two members, with slots of 100 ms on the collector's clock, which is 30 ms ahead.
 * The slots end by that clock, whenever the sensor learned the time. */
static void shares_of_a_grid(void **state)
{
	(void)state;
	t.o.steered = true;
	t.info.behind_us = 30000;
	begin("1");
	t.s->realtime_ns = wall;
	t.wall = 1000 * 100 * MS + 10 * MS;
	assert_int_equal(order_list("1@100ms,6", 1, 2), -EINPROGRESS);
	assert_int_equal(asked(), 2437);
	t.now = monotonic_ns();
	answer(0, 1000);
	/* 60 ms of the slot are left, less the time since the order. */
	assert_in_range(sampler_tick(t.s, t.now), 1, 60);
	for (int i = 1; i < 4; i++) {
		assert_int_equal(pass_ms(i == 1 ? 61 : 100), -1);
		assert_int_equal(asked(), i % 2 ? 2412 : 2437);
		answer(0, 1000);
		assert_in_range(sampler_tick(t.s, t.now), 98, 100);
	}
}

/* The dwell ends with this many frames, and the next one begins on `mhz`. */
static void dwell_over(unsigned int ms, unsigned int frames, int mhz)
{
	wait_ms(ms, frames);
	assert_int_equal(asked(), mhz);
	answer(0, 1000);
	dwells_pop(&t.s->dwells);
}

static void one_channel_of_several_goes_deaf(void **state)
{
	(void)state;
	begin("1,6,11");
	t.s->deaf_ms = 500;
	for (int i = 0; i < 3; i++) { /* channel 11 was always silent */
		dwell_over(250, 9, 2437);
		dwell_over(250, i == 0, 2462);
		assert_int_equal(is_deaf(), i == 2);
		dwell_over(250, 0, 2412);
	}
	assert_true(is_deaf());
	assert_true(t.s->radios[0]->plan.entries[1].deaf.is);
	assert_false(t.s->radios[0]->plan.entries[2].deaf.is || t.s->radios[0]->deaf.is);
	dwell_over(250, 9, 2437);
	assert_true(is_deaf()); /* another channel's frames do not help it */
	dwell_over(250, 1, 2462);
	assert_false(is_deaf());
}

static void who_has_none(void **state)
{
	const struct sampler_meets nobody = { 0 };
	int err = 0;

	(void)state;
	assert_null(
		sampler_new(&t.o, &t.h, &nobody, &err)); /* neither a plan nor the collector's */
	t.o.steered = true;
	t.h.interfaces[0].linktype = LINKTYPE_ETHERNET;
	assert_null(sampler_new(&t.o, &t.h, &nobody, &err));
	assert_int_equal(err, 0);
	sampler_start(NULL, 1);
	assert_int_equal(sampler_tick(NULL, 1), -1);
	sampler_end(NULL, 1);
	sampler_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_after_the_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_channel_is_told_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_radio_that_strays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_radio_that_strays_for_good, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_between_two_tries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_without_a_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_is_not_deaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_deaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_that_one_of_two_refuses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_reason_is_said_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_ordered_channel_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_share_of_one_channel_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_check_amid_which_it_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_try_that_fails_settles_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_of_nowhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(none_is_to_be_had, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_interface_that_goes_and_comes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_room_for_dwells, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_is_for_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_order_amid_a_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_that_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_focus_has_been_reached_or_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(some_radios_cannot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_of_which_some_or_none_is_to_be_had, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_slot_that_cannot_be_had, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_share_for_each_radio, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shares_of_a_grid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_channel_of_several_goes_deaf, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(who_has_none, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
