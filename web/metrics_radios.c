// SPDX-License-Identifier: GPL-2.0
/* Metrics of interfaces: see metrics_radios.h. */
#include "metrics_radios.h"

#include <stdbool.h>

#include "board/look.h"
#include "metric.h"
#include "wire/channel.h"

/* ---- interfaces ------------------------------------------------------------------------------ */

/* Whether a sensor has named another interface so before: Prometheus would refuse all metrics. */
static bool is_named_before(const struct board_state *s, uint32_t n)
{
	const struct board_interface *i = &s->interfaces[n];

	for (uint32_t k = n; k > 0 && s->interfaces[k - 1].sensor == i->sensor; k--)
		if (metric_same(s->interfaces[k - 1].name, i->name))
			return true;
	return false;
}

static bool is_shown(const struct board_state *s, uint32_t n)
{
	return s->sensors[s->interfaces[n].sensor].listed && !is_named_before(s, n);
}

static int64_t is_up(const struct board_state *s, uint32_t n)
{
	return !*s->interfaces[n].state;
}

static int64_t seen(const struct board_state *s, uint32_t n)
{
	return s->interfaces[n].seen;
}

static int64_t bad_fcs(const struct board_state *s, uint32_t n)
{
	return s->interfaces[n].bad_fcs;
}

static int64_t last_frame(const struct board_state *s, uint32_t n)
{
	return s->interfaces[n].rose_us;
}

static int64_t is_deaf(const struct board_state *s, uint32_t n)
{
	return board_is_deaf(s, &s->interfaces[n]);
}

static int64_t channels(const struct board_state *s, uint32_t n)
{
	uint32_t first = board_first_channel(s, n), c = first;

	while (c < s->collector.channels && s->channels[c].interface == n)
		c++;
	return c - first;
}

static int64_t failures(const struct board_state *s, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t c = board_first_channel(s, n);
	     c < s->collector.channels && s->channels[c].interface == n; c++)
		sum += s->channels[c].failures;
	return sum;
}

void metrics_radios(FILE *f, const struct board_state *s)
{
	static const struct {
		const char *name, *type, *help;
		int64_t (*get)(const struct board_state *s, uint32_t n);
		bool radio, micro; /* only radios; in millionths */
	} families[] = {
		{ "interface_up", METRIC_GAUGE, "Whether the interface is up and has a carrier.",
		  is_up, false, false },
		{ "radio_frames_seen_total", METRIC_COUNTER, "Frames at the capture hook.", seen,
		  true, false },
		{ "radio_bad_fcs_total", METRIC_COUNTER, "Frames with a wrong FCS.", bad_fcs, true,
		  false },
		{ "radio_last_frame_timestamp_seconds", METRIC_GAUGE,
		  "Last frame heard; 0: none yet.", last_frame, true, true },
		{ "radio_deaf", METRIC_GAUGE, "Whether the radio hears no frames.", is_deaf, true,
		  false },
		{ "radio_channels", METRIC_GAUGE, "Channels listened to.", channels, true, false },
		{ "radio_channel_failures_total", METRIC_COUNTER, "Failed changes of the channel.",
		  failures, true, false },
	};

	for (size_t k = 0; k < sizeof(families) / sizeof(*families); k++) {
		metric_family(f, families[k].name, families[k].type, families[k].help);
		for (uint32_t n = 0; n < s->collector.interfaces; n++) {
			const struct board_interface *i = &s->interfaces[n];

			if ((families[k].radio && !i->radio) || !is_shown(s, n))
				continue;
			metric_labels(f, families[k].name, "sensor", s->sensors[i->sensor].name,
				      "interface", i->name, NULL);
			(families[k].micro ? metric_micro : metric_whole)(f, families[k].get(s, n));
		}
	}
}

/* ---- channels -------------------------------------------------------------------------------- */

static void channel_labels(FILE *f, const struct board_state *s, const char *name,
			   const struct board_channel *c)
{
	const struct radio_channel radio = { c->mhz, c->width, c->center };
	const struct board_interface *i = &s->interfaces[c->interface];
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &radio);
	metric_labels(f, name, "sensor", s->sensors[i->sensor].name, "interface", i->name,
		      "channel", text, NULL);
}

void metrics_channels(FILE *f, const struct board_state *s)
{
	metric_family(f, "channel_listened_seconds_total", METRIC_COUNTER,
		      "Time listened to the channel.");
	for (uint32_t c = 0; c < s->collector.channels; c++)
		if (is_shown(s, s->channels[c].interface)) {
			channel_labels(f, s, "channel_listened_seconds_total", &s->channels[c]);
			metric_micro(f, s->channels[c].listened_ns / 1000);
		}
	metric_family(f, "channel_frames_total", METRIC_COUNTER, "Frames heard on the channel.");
	for (uint32_t c = 0; c < s->collector.channels; c++)
		if (is_shown(s, s->channels[c].interface)) {
			channel_labels(f, s, "channel_frames_total", &s->channels[c]);
			metric_number(f, s->channels[c].frames);
		}
}
