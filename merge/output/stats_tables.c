// SPDX-License-Identifier: GPL-2.0
/* Stats' tables, for people and for scripts: see stats_print.h. */
#include <inttypes.h>

#include "stats_print.h"

const char *stats_address_text(char text[STATS_ADDRESS], uint64_t a)
{
	snprintf(text, STATS_ADDRESS, "%02x:%02x:%02x:%02x:%02x:%02x",
		 (unsigned int)(a >> 40 & 255), (unsigned int)(a >> 32 & 255),
		 (unsigned int)(a >> 24 & 255), (unsigned int)(a >> 16 & 255),
		 (unsigned int)(a >> 8 & 255), (unsigned int)(a & 255));
	return text;
}

void stats_print_summary(FILE *f, const struct stats *s)
{
	uint64_t alone = 0, parts_count = 0;

	for (int c = 0; c < FRAME_CLASSES; c++)
		alone += s->heard_by[c][1];
	for (uint32_t i = 0; i < STATS_PARTS; i++)
		parts_count += s->parts[i].receptions ? 1 : 0;
	fprintf(f, "transmissions  %" PRIu64 "\nreceptions     %" PRIu64 "\n", s->transmissions,
		s->receptions);
	fprintf(f, "heard by one   %" PRIu64 "\nseconds        %.1f\n", alone,
		s->step_ns * (double)s->options.points / 1e9);
	fprintf(f, "sensors        %u\nparts          %" PRIu64 "\nchannels       %u\n",
		s->sensor_count, parts_count, s->channel_count);
	fprintf(f, "transmitters   %" PRIu64 "\n",
		s->transmitters.count + s->transmitters.forgotten);
}

void stats_print_stations(FILE *f, const struct stats *s)
{
	double all_us = s->step_ns / 1e3 * s->options.points;

	fputs("address\tmhz\ttransmissions\tairtime_ms\tairtime_percent\tattempts\tretries\t"
	      "retry_percent\n",
	      f);
	for (uint32_t i = 0; i < s->address_count; i++) {
		const struct stats_transmitter *t = &s->sent[i];
		char address[STATS_ADDRESS];

		fprintf(f, "%s\t%u\t%" PRIu64 "\t%.1f\t%.2f\t%" PRIu64 "\t%" PRIu64 "\t%.1f\n",
			stats_address_text(address, s->addresses[i]), t->mhz, t->transmissions,
			t->airtime_us / 1e3, 100 * t->airtime_us / all_us, t->attempts, t->retries,
			t->attempts ? 100. * t->retries / t->attempts : 0);
	}
}
