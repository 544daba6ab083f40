// SPDX-License-Identifier: GPL-2.0
/* Metrics of groups' channels and of modules: see metrics_sums.h. */
#include "metrics_sums.h"

#include "metric.h"
#include "wire/channel.h"

#define OTHER "(other)" /* neither a group's name nor a module's */

static void channel_labels(FILE *f, const struct sums *s, const char *name, uint64_t key)
{
	const struct radio_channel radio = sums_radio(key);
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &radio);
	metric_labels(f, name, "group", sums_group(s, key), "channel", text, NULL);
}

void metrics_group_channels(FILE *f, const struct sums *s)
{
	static const char listened[] = "channel_listened_seconds_total";
	static const char frames[] = "channel_frames_total";
	const struct sums_channel *rest = &s->other_channels;

	metric_family(f, listened, METRIC_COUNTER,
		      "Time for which the group's radios listened to the channel.");
	for (uint32_t c = 0; c < s->channel_count; c++) {
		channel_labels(f, s, listened, s->channels[c].key);
		metric_micro(f, s->channels[c].listened_ns / 1000);
	}
	if (rest->listened_ns) {
		metric_labels(f, listened, "group", OTHER, "channel", OTHER, NULL);
		metric_micro(f, rest->listened_ns / 1000);
	}
	metric_family(f, frames, METRIC_COUNTER, "Frames heard on the channel.");
	for (uint32_t c = 0; c < s->channel_count; c++) {
		channel_labels(f, s, frames, s->channels[c].key);
		metric_number(f, s->channels[c].frames);
	}
	if (rest->listened_ns) {
		metric_labels(f, frames, "group", OTHER, "channel", OTHER, NULL);
		metric_number(f, rest->frames);
	}
}

void metrics_modules(FILE *f, const struct sums *s)
{
	metric_family(f, "module_events_total", METRIC_COUNTER, "Events of modules.");
	for (uint32_t m = 0; m < s->module_count; m++) {
		metric_labels(f, "module_events_total", "module", s->modules[m].name, NULL);
		metric_number(f, s->modules[m].events);
	}
	if (s->other_events) {
		metric_labels(f, "module_events_total", "module", OTHER, NULL);
		metric_number(f, s->other_events);
	}
}
