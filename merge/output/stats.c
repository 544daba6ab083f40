// SPDX-License-Identifier: GPL-2.0
/* Stats: see stats.h. Memory, interfaces' names, and the way from the survey to the measurement. */
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

#define IDS 65536
#define SECOND_NS 1000000000ULL
#define POINTS_LEAST 20
#define POINTS_MOST 200
#define INTERFACES 65536

int stats_init(struct stats *s, const struct stats_options *o)
{
	*s = (struct stats){ .options = *o };
	s->sensor_of = calloc(IDS, sizeof(*s->sensor_of));
	s->names = calloc(IDS, sizeof(*s->names));
	s->near = calloc(IDS, sizeof(*s->near));
	s->parts = calloc(STATS_PARTS, sizeof(*s->parts));
	s->mhz = calloc(INTERFACES, sizeof(*s->mhz));
	if (transmitters_init(&s->transmitters) || !s->sensor_of || !s->names || !s->near ||
	    !s->parts || !s->mhz)
		return -ENOMEM;
	return 0;
}

void stats_free(struct stats *s)
{
	for (uint32_t i = 0; i < s->channel_count; i++) {
		free(s->channels[i].seen);
		free(s->channels[i].points);
	}
	transmitters_free(&s->transmitters);
	free(s->sensors);
	free(s->sensor_of);
	free(s->names);
	free(s->near);
	free(s->parts);
	free(s->mhz);
	free(s->places);
	free(s->points);
	free(s->together);
	free(s->addresses);
	free(s->sent);
	free(s->heard);
	memset(s, 0, sizeof(*s));
}

/* Whether a list with commas has this name. */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; len && (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static void interface(struct stats *s, struct pcapng_block *b)
{
	struct pcapng_interface i;
	unsigned int id, mhz = 0;
	char name[STATS_NAME];

	pcapng_interface(b, &i);
	if (pcapng_sensor(i.description, name, sizeof(name), &id)) {
		log_clean(name);
		memcpy(s->names[id], name, sizeof(name));
		s->near[id] = s->options.near && listed(s->options.near, name);
	} else if (sscanf(i.description, "%u MHz", &mhz) != 1) {
		mhz = 0;
	}
	if (s->interfaces < INTERFACES)
		s->mhz[s->interfaces++] = mhz;
}

int stats_block(void *stats, struct pcapng_block *b)
{
	struct stats *s = stats;
	struct stats_frame f;

	if (b->type == BLOCK_SECTION)
		s->interfaces = 0;
	else if (b->type == BLOCK_INTERFACE)
		interface(s, b);
	if (b->type != BLOCK_PACKET || !stats_frame_read(s, &f, b))
		return 0;
	if (s->measuring)
		return stats_measure_frame(s, &f);
	stats_survey_frame(s, &f);
	return 0;
}

int stats_point_of(const struct stats *s, int64_t ns)
{
	uint64_t point = ((uint64_t)ns - (uint64_t)s->begin_ns) / s->step_ns;

	return ns < s->begin_ns || point >= s->options.points ? -1 : (int)point;
}

/* A part with a clock of its own can be in another year: the part with the most receptions rules.
 */
static void set_time(struct stats *s)
{
	const struct stats_part *largest = s->parts;
	uint64_t length;

	for (uint32_t i = 1; i < STATS_PARTS; i++)
		if (s->parts[i].receptions > largest->receptions)
			largest = &s->parts[i];
	length = (uint64_t)largest->last_ns - (uint64_t)largest->first_ns;
	if (!s->options.points)
		s->options.points = length / SECOND_NS < POINTS_LEAST  ? POINTS_LEAST
				    : length / SECOND_NS > POINTS_MOST ? POINTS_MOST
								       : length / SECOND_NS;
	s->begin_ns = largest->first_ns;
	s->step_ns = length / s->options.points + 1;
}

static const struct stats_sensor *ranked; /* for qsort */

static int busier(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (ranked[x].receptions != ranked[y].receptions)
		return ranked[x].receptions > ranked[y].receptions ? -1 : 1;
	return (x > y) - (x < y);
}

static void rank(struct stats *s, uint32_t *order)
{
	for (uint32_t i = 0; i < s->sensor_count; i++)
		order[i] = i;
	ranked = s->sensors;
	qsort(order, s->sensor_count, sizeof(*order), busier);
	s->place_count = s->sensor_count < s->options.sensors ? s->sensor_count
							      : s->options.sensors;
	for (uint32_t i = 0; i < s->place_count; i++)
		s->sensors[order[i]].place = i + 1;
}

int stats_measure(struct stats *s)
{
	uint32_t n, most = s->options.transmitters;

	s->places = calloc(s->sensor_count + 1, sizeof(*s->places));
	s->addresses = calloc(most + 1, sizeof(*s->addresses));
	if (!s->places || !s->addresses)
		return -ENOMEM;
	rank(s, s->places);
	set_time(s);
	s->address_count = transmitters_rank(&s->transmitters, s->addresses, most);
	n = s->place_count + 1;
	s->points = calloc((size_t)n * s->options.points, sizeof(*s->points));
	s->together = calloc((size_t)n * n, sizeof(*s->together));
	s->sent = calloc(s->address_count + 1, sizeof(*s->sent));
	s->heard = calloc((size_t)n * (s->address_count + 1), sizeof(*s->heard));
	if (!s->points || !s->together || !s->sent || !s->heard)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->sensor_count; i++)
		s->parts[s->sensors[i].part].sensors++;
	/* They are counted again. */
	s->malformed = s->without_receptions = s->sensors_left_out = s->elsewhere = 0;
	s->number = 0;
	memset(s->bursts, 0, sizeof(s->bursts));
	s->interfaces = 0;
	s->measuring = true;
	return 0;
}
