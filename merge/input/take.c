// SPDX-License-Identifier: GPL-2.0
/* Take: see take.h. */
#include "take.h"

#include <string.h>

#include "common/log.h"
#include "merge/model/chunk.h"
#include "wire/bytes.h"

#define TIME_MOST_NS (1LL << 62)
#define NAME_RUN 4 /* of the id of the run, in a combo's name */

static uint64_t address_of(const struct identity *i)
{
	const uint8_t *a = i->class == FRAME_ACK || i->class == FRAME_CTS ? identity_receiver(i)
									  : identity_transmitter(i);

	return a ? load_be(a, 6) : 0;
}

/* A sensor's spool may bring more of its last run, which then ended before the next one began. */
static void look_at_twins(struct take *t, struct input_sensor *s, int64_t stamp_ns)
{
	if (s->run_ns && stamp_ns <= s->run_ns)
		return;
	t->counters.twins++;
	if (!s->twice)
		log_line("%s: two machines send as this sensor at the same time; give each a key "
			 "and a "
			 "name of its own",
			 s->name);
	s->twice = true;
}

/* A run begins, or goes on after another one. */
static void set_run(struct take *t, uint32_t sensor, uint64_t run, int64_t stamp_ns)
{
	struct input_sensor *s = &t->sensors->list[sensor];
	uint64_t last = s->run;

	if (s->run == run)
		return;
	if (s->last_run == run) {
		if (s->older_run == run)
			look_at_twins(t, s, stamp_ns);
		merge_run_before(t->merge, sensor);
	} else if (s->run) {
		merge_new_run(t->merge, sensor);
		s->older_run = last;
		s->run_ns = stamp_ns;
	}
	s->run = run;
	s->last_run = last;
}

/* The first block of a combo names the sensor's run. `stamp_ns`: of the frame, or 0. */
static void look_at_run(struct take *t, uint32_t sensor, struct pcapng_block *b, int64_t stamp_ns)
{
	struct pcapng_option o;

	while (pcapng_option(b, &o))
		if (o.code == OPT_CUSTOM && o.len >= NAME_LEN && load_be(o.value, 4) == ENTERPRISE)
			set_run(t, sensor, load_be(o.value + NAME_RUN, 8), stamp_ns);
}

/* Times are from 1970 to 2116, and differences of clocks as long at most. */
static bool is_time(int64_t ns)
{
	return ns >= 0 && ns < TIME_MOST_NS;
}

static bool is_difference(int64_t ns)
{
	return ns > -TIME_MOST_NS && ns < TIME_MOST_NS;
}

static void take_reading(struct take *t, uint32_t sensor, const uint8_t *p)
{
	int64_t monotonic = load_be(p, 8), difference = load_be(p + 8, 8), raw = load_be(p + 16, 8);

	if (is_time(monotonic) && is_difference(difference) && is_difference(raw))
		merge_reading(t->merge, sensor, monotonic, difference, raw);
	else
		t->counters.bad_readings++;
}

static void take_ahead(struct take *t, uint32_t sensor, const uint8_t *p)
{
	int64_t ahead = load_be(p, 8), round_trip = load_be(p + 8, 8), at = load_be(p + 16, 8);

	if (is_difference(ahead) && is_time(round_trip) && is_time(at))
		merge_ahead(t->merge, sensor, ahead, round_trip, at);
	else
		t->counters.bad_readings++;
}

enum { DATA_READINGS = 1, DATA_NOTHING_BEFORE = 2, DATA_AHEAD = 3 };
#define READING_LEN 24

static void take_data(struct take *t, uint32_t sensor, const uint8_t *p, size_t len)
{
	uint8_t kind = *p++;

	len--;
	if (kind == DATA_READINGS)
		for (; len >= READING_LEN; p += READING_LEN, len -= READING_LEN)
			take_reading(t, sensor, p);
	else if (kind == DATA_NOTHING_BEFORE && len >= 8 && is_time(load_be(p, 8)))
		merge_nothing_before(t->merge, sensor, load_be(p, 8));
	else if (kind == DATA_AHEAD && len >= 24)
		take_ahead(t, sensor, p);
}

void take_left(struct take *t, const struct input_interface *on)
{
	if (on->linktype == SENSORS_RADIOTAP) {
		t->counters.frames++;
		t->counters.left++;
	} else {
		t->counters.other++;
	}
}

void take_statistics(struct take *t, const struct input_section *section, struct pcapng_block *b)
{
	struct pcapng_block names = *b;
	struct pcapng_option o;

	if (b->interface >= section->count) {
		t->counters.astray++;
		return;
	}
	if (section->of[b->interface].left)
		return;
	look_at_run(t, section->of[b->interface].sensor, &names, 0);
	while (pcapng_option(b, &o))
		if (o.code == OPT_DATA && o.len > 5 && load_be(o.value, 4) == ENTERPRISE)
			take_data(t, section->of[b->interface].sensor, o.value + 4, o.len - 4);
}

static int give(struct take *t, struct reception *r, struct chunk *chunk)
{
	int err;

	r->chunk = chunk_hold(chunk);
	err = merge_take(t->merge, r);
	if (err)
		chunk_release(chunk);
	return err;
}

/* A frame that cannot be compared with others. If all is kept, it passes at its time, or at that of
 * the sensor's last frame. Each has a key of its own. */
static int take_opaque(struct take *t, const struct input_interface *on,
		       const struct pcapng_block *b, struct chunk *chunk)
{
	struct reception r = {
		.stamp_ns = t->sensors->list[on->sensor].stamp_ns,
		.key = t->counters.other + t->counters.malformed,
		.frame = b->frame,
		.kept = b->kept,
		.whole = b->whole,
		.radio = on->radio,
		.class = FRAME_OPAQUE,
	};

	return t->sensors->all && on->radio >= 0 ? give(t, &r, chunk) : 0;
}

int take_packet(struct take *t, const struct input_section *section, struct pcapng_block *b,
		struct chunk *chunk)
{
	const struct input_interface *on;
	struct radiotap radio;
	struct identity id;
	struct reception r;
	int64_t stamp;

	if (b->interface >= section->count) {
		t->counters.astray++;
		return 0;
	}
	on = &section->of[b->interface];
	if (on->left) {
		take_left(t, on);
		return 0;
	}
	stamp = pcapng_ns(b->ticks, on->ticks, on->offset_s);
	if (b->options < b->end)
		look_at_run(t, on->sensor, b, stamp);
	if (is_time(stamp))
		t->sensors->list[on->sensor].stamp_ns = stamp;
	if (on->radio < 0 || on->linktype != SENSORS_RADIOTAP) {
		t->counters.other++;
		return take_opaque(t, on, b, chunk);
	}
	t->counters.frames++;
	if (radiotap_read(&radio, b->frame, b->kept) || !is_time(stamp) ||
	    identity_read(&id, &radio, b->frame, b->kept, b->whole, t->secret)) {
		t->counters.malformed++;
		return take_opaque(t, on, b, chunk);
	}
	r = (struct reception){
		.stamp_ns = stamp,
		.key = id.key,
		.address = address_of(&id),
		.frame = b->frame,
		.kept = b->kept,
		.whole = b->whole,
		.length = id.length,
		.radio = on->radio,
		.mhz = radio.mhz,
		.class = id.class,
		.flags = id.class == FRAME_BAD_FCS ? HEARD_BAD_FCS : 0,
		.rate = radio.rate,
		.signal = radio.signal,
		.has_tsft = radio.has_tsft && radio.tsft_us < TIME_MOST_NS / 1000,
		.own_ns = radio.has_tsft && radio.tsft_us < TIME_MOST_NS / 1000
				  ? (int64_t)(radio.tsft_us * 1000)
				  : 0,
		.finds = id.finds,
		.tracks = id.tracks,
	};
	return give(t, &r, chunk);
}
