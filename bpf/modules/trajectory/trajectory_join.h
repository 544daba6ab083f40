/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Join: labels of several points into trajectories. In: what each sensor says of a packet, in the
 * order in which it came, which is nearly that of its times. Out: each label once, with the points
 * that saw it in the order of their times.
 *
 * Always holds: memory is bounded, by the labels that are open at a time. A label waits twice the
 * window from the first time that any point saw it: as long as a packet may take, and as long as an
 * event may come late. What comes later still is counted and no more.
 *
 * As Duffield and Grossglauser have it, a label that two packets share tells of neither: seen twice
 * at a point, or of two flows, it is discarded and counted.
 */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_JOIN_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_JOIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trajectory.h"

#define JOIN_POINTS_MAX 16 /* of one packet's way */
#define JOIN_NONE UINT32_MAX
#define JOIN_AHEAD_NS 3600000000000ULL
#define JOIN_AHEAD_MAX 64

enum join_fault {
	JOIN_CLEAR,
	JOIN_REPEATED, /* a point saw it twice: copied on the way, or sent again as it was */
	JOIN_COLLIDED, /* two flows have it at one point */
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
	uint8_t ip_version, ip_protocol, ttl; /* where it was seen first of all that came */
	uint8_t fault;
	uint32_t next; /* of the same bucket, or free; */
	struct join_sight seen[JOIN_POINTS_MAX];
};

struct join {
	uint64_t window_ns, now_ns; /* the latest time that anybody said */
	uint32_t max, open, free;
	uint32_t *buckets, mask;
	struct joined *entries;
	uint32_t *ages, oldest; /* a ring of the open ones, as they were opened */
	uint32_t ahead;		/* events in a row that are of another time than all before */
	uint64_t late, early;	/* events that came too late; labels closed for want of room */
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

/* The label's upper half: by the lower one it was chosen. */
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

/* Time goes on with the latest event, but not by a sensor whose clock is wrong: by more than an
 * hour only if that is what all say. */
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

/* Takes what a point says. Returns whether it was in time. */
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

/* No more will come. */
static inline void join_end(struct join *t)
{
	while (t->open)
		join_close_oldest(t);
}

#endif
