/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Join: makes trajectories of the labels that several points report. In: events in the order of
 * arrival, almost the order of their time stamps. Out: each label once, with the points that saw it
 * in the order of time.
 *
 * Always holds: memory is bounded by the number of open labels. A label waits for twice the window
 * from its first event: once for the packet's way, and once for late events. Later events are only
 * counted.
 *
 * As in Duffield and Grossglauser, a label that two packets share is of no use. If a point sees it
 * twice, or it belongs to two flows, it is discarded and counted.
 */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_JOIN_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_JOIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trajectory.h"

#define JOIN_POINTS_MAX 16 /* of one packet's path */
#define JOIN_NONE UINT32_MAX
#define JOIN_AHEAD_NS 3600000000000ULL
#define JOIN_AHEAD_MAX 64

enum join_fault {
	JOIN_CLEAR,
	JOIN_REPEATED, /* one point saw it twice: copied on the way, or retransmitted */
	JOIN_COLLIDED, /* two flows have it */
	JOIN_TOO_LONG, /* more points than JOIN_POINTS_MAX */
	JOIN_FAULTS
};

struct join_sight {
	uint64_t time_ns;
	uint64_t flow;
	uint32_t point;
};

struct joined {
	uint64_t label, first_ns;
	uint32_t len, count;
	uint16_t sport, dport;
	uint8_t ip_version, ip_protocol, ttl; /* at the earliest event */
	uint8_t fault;
	uint32_t next; /* next of the same bucket, or free; */
	struct join_sight seen[JOIN_POINTS_MAX];
};

struct join {
	uint64_t window_ns, now_ns; /* the latest time stamp */
	uint32_t max, open, free;
	uint32_t *buckets, mask;
	struct joined *entries;
	uint32_t *ages, oldest; /* a ring of open labels, by age */
	uint32_t ahead;		/* consecutive events far ahead of the clock */
	uint64_t late, early; /* events that came too late; labels closed early for lack of room */
	void (*done)(void *of, struct joined *j);
	void *of;
};

static inline void join_free(struct join *t)
{
	free(t->buckets);
	free(t->entries);
	free(t->ages);
	t->buckets = t->ages = NULL;
	t->entries = NULL;
}

/* `max`: labels open at a time. Returns 0 or -ENOMEM. */
static inline int join_init(struct join *t, uint32_t max, uint64_t window_ns,
			    void (*done)(void *of, struct joined *j), void *of)
{
	uint32_t size = 1;

	while (size < max)
		size <<= 1;
	*t = (struct join){
		.window_ns = window_ns, .max = max, .mask = size - 1, .done = done, .of = of
	};
	t->buckets = (uint32_t *)malloc(size * sizeof(*t->buckets));
	t->entries = (struct joined *)calloc(max, sizeof(*t->entries));
	t->ages = (uint32_t *)calloc(max, sizeof(*t->ages));
	if (!t->buckets || !t->entries || !t->ages) {
		join_free(t);
		return -ENOMEM;
	}
	memset(t->buckets, 0xff, size * sizeof(*t->buckets));
	for (uint32_t i = 0; i < max; i++)
		t->entries[i].next = i + 1 < max ? i + 1 : JOIN_NONE;
	return 0;
}

/* Uses the label's upper half, since the lower half decided the sampling. */
static inline uint32_t *join_bucket(struct join *t, uint64_t label)
{
	return &t->buckets[label >> 32 & t->mask];
}

static inline void join_sort(struct joined *j)
{
	for (uint32_t i = 1; i < j->count; i++) {
		struct join_sight s = j->seen[i];
		uint32_t at = i;

		for (; at && j->seen[at - 1].time_ns > s.time_ns; at--)
			j->seen[at] = j->seen[at - 1];
		j->seen[at] = s;
	}
}

static inline void join_close_oldest(struct join *t)
{
	uint32_t i = t->ages[t->oldest], *link;
	struct joined *j = &t->entries[i];

	for (link = join_bucket(t, j->label); *link != i; link = &t->entries[*link].next)
		;
	*link = j->next;
	join_sort(j);
	t->done(t->of, j);
	j->next = t->free;
	t->free = i;
	t->oldest = (t->oldest + 1) % t->max;
	t->open--;
}

static inline struct joined *join_open(struct join *t, uint64_t label,
				       const struct trajectory_event *e, uint64_t time_ns)
{
	uint32_t *bucket = join_bucket(t, label), i;
	struct joined *j;

	if (t->open == t->max) {
		t->early++;
		join_close_oldest(t);
	}
	i = t->free;
	j = &t->entries[i];
	t->free = j->next;
	*j = (struct joined){ .label = label,
			      .first_ns = time_ns,
			      .len = e->len,
			      .sport = e->sport,
			      .dport = e->dport,
			      .ip_version = e->ip_version,
			      .ip_protocol = e->ip_protocol,
			      .ttl = e->ttl,
			      .next = *bucket };
	*bucket = i;
	t->ages[(t->oldest + t->open++) % t->max] = i;
	return j;
}

static inline void join_see(struct joined *j, uint32_t point, uint64_t flow, uint64_t time_ns)
{
	for (uint32_t i = 0; i < j->count; i++)
		if (j->seen[i].point == point)
			j->fault = j->seen[i].flow == flow ? JOIN_REPEATED : JOIN_COLLIDED;
	if (j->fault)
		return;
	if (j->count == JOIN_POINTS_MAX) {
		j->fault = JOIN_TOO_LONG;
		return;
	}
	j->seen[j->count++] =
		(struct join_sight){ .time_ns = time_ns, .flow = flow, .point = point };
	if (time_ns < j->first_ns)
		j->first_ns = time_ns;
}

/* The latest event sets the clock. A jump of more than an hour needs several events in a row, so
 * that one sensor's wrong clock does not cause it. */
static inline bool join_clock(struct join *t, uint64_t time_ns)
{
	bool ahead = t->now_ns && time_ns > t->now_ns + JOIN_AHEAD_NS;

	t->ahead = ahead ? t->ahead + 1 : 0;
	if (ahead && t->ahead < JOIN_AHEAD_MAX)
		return false;
	if (time_ns > t->now_ns)
		t->now_ns = time_ns;
	return t->now_ns - time_ns <= t->window_ns;
}

/* Takes one event. Returns whether it was in time. */
static inline bool join_take(struct join *t, uint32_t point, const struct trajectory_event *e,
			     uint64_t time_ns)
{
	uint32_t i;

	if (!join_clock(t, time_ns)) {
		t->late++;
		return false;
	}
	while (t->open && t->now_ns > t->entries[t->ages[t->oldest]].first_ns + 2 * t->window_ns)
		join_close_oldest(t);
	for (i = *join_bucket(t, e->label); i != JOIN_NONE; i = t->entries[i].next)
		if (t->entries[i].label == e->label)
			break;
	join_see(i == JOIN_NONE ? join_open(t, e->label, e, time_ns) : &t->entries[i], point,
		 e->flow, time_ns);
	return true;
}

/* No more events follow: closes all labels. */
static inline void join_end(struct join *t)
{
	while (t->open)
		join_close_oldest(t);
}

#endif
