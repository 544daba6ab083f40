// SPDX-License-Identifier: GPL-2.0
/* Status line: see status_line.h. In: all ledgers, and the disk's state. Out: the line's text. */
#include "status_line.h"

#include <stdio.h>

#include "collector/output/output_hold.h"
#include "common/monotonic.h"

enum { RING, COPY, SEND, STOP, VANISHED, NETWORK, DISK, REFUSED };
#define LOST                                                                                       \
	{                                                                                          \
		[RING] = { .where = "ring" }, [COPY] = { .where = "copy" },                        \
		[SEND] = { .where = "send" }, [STOP] = { .where = "stop" },                        \
		[VANISHED] = { .where = "vanished" }, [NETWORK] = { .where = "network" },          \
		[DISK] = { .where = "disk" }, [REFUSED] = { .where = "refused" },                  \
	}

static void add_ledger(struct status_counts *c, const struct ledger *l)
{
	struct ledger_run all = ledger_sum(l);

	c->heard += all.sensor.seen;
	c->kept += all.sensor.captured;
	c->bytes += l->received_bytes;
	c->frames += all.written;
	c->lost[RING].frames += all.sensor.ring_full;
	c->lost[COPY].frames += all.sensor.copy_failed;
	c->lost[SEND].frames += all.sensor.dropped_send;
	c->lost[STOP].frames += all.sensor.dropped_shutdown;
	c->lost[VANISHED].frames += all.vanished;
	c->lost[NETWORK].frames += all.lost_missing;
	c->lost[DISK].frames += all.lost_disk;
	c->lost[REFUSED].frames += all.lost_refused;
}

/* A sensor's first totals count its whole run, so they are not the last second's. */
static void add_sensor(struct status_line *l, struct status_counts *now, struct sensor *s)
{
	add_ledger(now, &s->ledger);
	if (!s->in_status && s->ledger.now.sensor.seen) {
		s->in_status = true;
		add_ledger(&l->before, &s->ledger);
	}
}

static void say(struct status_line *l, const struct status_counts *now, const char *state,
		bool receiving, uint64_t now_ns)
{
	char numbers[STATUS_TEXT_MAX], text[TERMINAL_LINE_MAX];

	status_text(numbers, &l->before, now, now_ns - l->at_ns,
		    &(struct status_words){ "received", state });
	snprintf(text, sizeof(text), "%s%s", numbers, receiving ? "  receiving" : "");
	terminal_line_say(&l->shown, text);
}

int status_line_tick(struct status_line *l, const struct network *o, uint64_t now_ns)
{
	struct status_counts now = { .lost = LOST };
	unsigned int present = 0, listed = 0;
	const char *what;
	char state[64];

	if (!l->shown.shared)
		return -1;
	if (l->at_ns && now_ns - l->at_ns < TERMINAL_LINE_NS)
		return monotonic_timeout(l->at_ns + TERMINAL_LINE_NS, now_ns);
	for (unsigned int i = 0; i < o->sensors->count; i++) {
		struct sensor *s = o->sensors->list[i];

		listed += s->listed;
		present += s->listed && s->presence == SENSOR_UP;
		if (s->ledger.runs)
			add_sensor(l, &now, s);
	}
	what = output_trouble_words(output_trouble(o->combos->output));
	snprintf(state, sizeof(state), "sensors %u of %u%s%s", present, listed, *what ? "  " : "",
		 what);
	if (l->at_ns)
		say(l, &now, state, !*what, now_ns);
	l->before = now;
	l->at_ns = now_ns;
	return monotonic_timeout(l->at_ns + TERMINAL_LINE_NS, now_ns);
}
