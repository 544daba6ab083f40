/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links: derives paths, delays and losses from trajectories. In: each trajectory once. Out: the
 * packets' paths, and for each pair of successive points the one-way delays and the packets lost
 * between them.
 *
 * Delays are differences between two sensors' clocks, and no better than these. A packet counts as
 * lost on a link under three conditions: its trajectory ends before the link, others of its flow
 * pass the link, and the next point is active (has events before and after) and samples such
 * labels. If the next point has no later event, the packet counts as unjudged: sensor or link may
 * be down.
 *
 * Always holds: memory is bounded. Points, links, paths and flows have limits, and those beyond are
 * counted.
 */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_LINKS_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_LINKS_H

#include <stdio.h>

#include "trajectory_join.h"

#define LINKS_POINTS_MAX 256
#define LINKS_MAX 1024
#define LINKS_WAYS_MAX 4096
#define LINKS_FLOWS 65536 /* a power of two; one entry per hash */
#define LINKS_NAME_MAX 160

/* A histogram of delays with 128 steps per power of two of ns: the error is below 1 %. */
#define DELAYS_STEPS 128
#define DELAYS_BUCKETS (32 * DELAYS_STEPS) /* the last one: all above 2 minutes */

struct delays {
	uint64_t count, min_ns, max_ns, sum_ns;
	uint32_t buckets[DELAYS_BUCKETS];
};

struct point {
	char name[LINKS_NAME_MAX]; /* sensor/interface, or the same with " out" */
	uint64_t events, late, first_ns, last_ns;
	uint32_t below;
};

struct link {
	uint32_t from, to;
	uint64_t lost, unjudged;
	uint64_t interval; /* the interval of `now` */
	struct delays all, now;
	uint64_t lost_before; /* `lost` before this interval */
};

struct way {
	uint32_t count, points[JOIN_POINTS_MAX];
	uint64_t packets, bytes;
};

struct flow {
	uint64_t id, first_ns, packets; /* packets on this path */
	uint32_t way;			/* + 1; 0: none yet */
	bool addressed;
	uint8_t saddr[16], daddr[16];
};

struct links {
	uint32_t point_count, link_count, way_count;
	struct point points[LINKS_POINTS_MAX];
	struct link *links[LINKS_MAX];
	uint16_t link_of[LINKS_POINTS_MAX][LINKS_POINTS_MAX]; /* + 1 */
	struct way ways[LINKS_WAYS_MAX];
	uint16_t way_of[2 * LINKS_WAYS_MAX]; /* + 1, by hash */
	struct flow flows[LINKS_FLOWS];
	uint64_t interval_ns; /* interval of the series; 0: none */
	uint64_t packets, faults[JOIN_FAULTS], rerouted, beyond; /* points, links, ways */
	/* Called at the end of a link's interval; may be NULL. */
	void (*series)(struct links *l, const struct link *k);
};

/* ---- delays ---------------------------------------------------------------------------------- */

static inline uint32_t delays_bucket(uint64_t ns)
{
	uint32_t shift = ns < DELAYS_STEPS ? 0 : 63 - __builtin_clzll(ns) - 7;
	uint64_t i = ns < DELAYS_STEPS ? ns
				       : (shift + 1) * DELAYS_STEPS + (ns >> shift) - DELAYS_STEPS;

	return i < DELAYS_BUCKETS ? i : DELAYS_BUCKETS - 1;
}

/* The middle of a bucket. */
static inline uint64_t delays_value(uint32_t bucket)
{
	uint32_t shift = bucket < DELAYS_STEPS ? 0 : bucket / DELAYS_STEPS - 1;
	uint64_t low = bucket < DELAYS_STEPS
			       ? bucket
			       : (uint64_t)(bucket % DELAYS_STEPS + DELAYS_STEPS) << shift;

	return low + (1ULL << shift) / 2;
}

static inline void delays_add(struct delays *d, uint64_t ns)
{
	d->min_ns = d->count && d->min_ns < ns ? d->min_ns : ns;
	d->max_ns = d->max_ns > ns ? d->max_ns : ns;
	d->sum_ns += ns;
	d->count++;
	d->buckets[delays_bucket(ns)]++;
}

static inline uint64_t delays_median(const struct delays *d)
{
	uint64_t below = 0, median;
	uint32_t i = 0;

	if (!d->count)
		return 0;
	for (; i < DELAYS_BUCKETS - 1; i++) {
		below += d->buckets[i];
		if (below * 2 >= d->count)
			break;
	}
	median = delays_value(i);
	return median < d->min_ns ? d->min_ns : median > d->max_ns ? d->max_ns : median;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Returns the point's number, or JOIN_NONE if there are too many. */
static inline uint32_t links_point(struct links *l, const char *name)
{
	uint32_t i;

	for (i = 0; i < l->point_count; i++)
		if (!strcmp(l->points[i].name, name))
			return i;
	if (i == LINKS_POINTS_MAX) {
		l->beyond++;
		return JOIN_NONE;
	}
	snprintf(l->points[i].name, sizeof(l->points[i].name), "%s", name);
	l->point_count++;
	return i;
}

/* Returns NULL if there are too many, or without memory. */
static inline struct link *links_link(struct links *l, uint32_t from, uint32_t to)
{
	uint16_t *of = &l->link_of[from][to];

	if (!*of && l->link_count < LINKS_MAX) {
		struct link *k = (struct link *)calloc(1, sizeof(*k));

		if (k) {
			k->from = from;
			k->to = to;
			l->links[l->link_count++] = k;
			*of = l->link_count;
		}
	}
	l->beyond += !*of;
	return *of ? l->links[*of - 1] : NULL;
}

/* Returns the path's number + 1, or 0 if there are too many. */
static inline uint32_t links_way(struct links *l, const uint32_t *points, uint32_t count)
{
	uint32_t hash = count, size = 2 * LINKS_WAYS_MAX;
	struct way *w;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ points[i]) * 0x9e3779b1u;
	for (hash >>= 7;; hash++) {
		uint16_t *at = &l->way_of[hash % size];

		if (!*at && l->way_count == LINKS_WAYS_MAX) {
			l->beyond++;
			return 0;
		}
		w = &l->ways[*at ? *at - 1U : l->way_count];
		if (*at &&
		    (w->count != count || memcmp(w->points, points, count * sizeof(*points))))
			continue;
		if (!*at) {
			*at = ++l->way_count;
			w->count = count;
			memcpy(w->points, points, count * sizeof(*points));
		}
		return *at;
	}
}

/* Returns the flow's entry. A flow replaces another one with the same hash. */
static inline struct flow *links_flow(struct links *l, uint64_t id)
{
	struct flow *f = &l->flows[id & (LINKS_FLOWS - 1)];

	if (f->id != id)
		*f = (struct flow){ .id = id };
	return f;
}

static inline void links_addresses(struct links *l, const struct trajectory_event *e)
{
	struct flow *f = links_flow(l, e->flow);

	f->addressed = true;
	memcpy(f->saddr, e->saddr, sizeof(f->saddr));
	memcpy(f->daddr, e->daddr, sizeof(f->daddr));
}

/* ---- trajectories ---------------------------------------------------------------------------- */

/* A link's interval ends with the first packet of a later interval. */
static inline void link_turn(struct links *l, struct link *k, uint64_t time_ns)
{
	uint64_t interval = l->interval_ns ? time_ns / l->interval_ns : 0;

	if (!l->interval_ns || interval <= k->interval)
		return;
	if (k->interval && l->series)
		l->series(l, k);
	k->now = (struct delays){ 0 };
	k->lost_before = k->lost;
	k->interval = interval;
}

static inline void links_lose(struct links *l, uint32_t from, uint32_t to, uint64_t packets,
			      const struct joined *j)
{
	const struct point *p = &l->points[to];
	struct link *k = links_link(l, from, to);
	uint64_t time_ns = j->seen[0].time_ns;

	if (!k || time_ns < p->first_ns || (uint32_t)j->label >= p->below)
		return;
	link_turn(l, k, time_ns);
	if (time_ns > p->last_ns)
		k->unjudged += packets;
	else
		k->lost += packets;
}

static inline bool way_begins(const struct way *w, const struct way *with)
{
	return w->count > with->count &&
	       !memcmp(w->points, with->points, with->count * sizeof(*w->points));
}

/* Compares this packet's path with that of the flow's other packets. */
static inline void links_compare(struct links *l, struct flow *f, uint32_t way,
				 const struct joined *j)
{
	const struct way *new = &l->ways[way - 1], *old = f->way ? &l->ways[f->way - 1] : NULL;
	uint32_t end = new->count, other;

	if (f->way == way) {
		f->packets++;
		return;
	}
	if (old && way_begins(old, new)) { /* this packet ended */
		links_lose(l, old->points[end - 1], old->points[end], 1, j);
		return;
	}
	if (old && way_begins(new, old)) { /* earlier packets ended */
		other = old->count;
		if (f->first_ns >= l->points[new->points[other]].first_ns)
			links_lose(l, new->points[other - 1], new->points[other], f->packets, j);
	} else if (old) {
		l->rerouted++;
	}
	f->way = way;
	f->first_ns = j->seen[0].time_ns;
	f->packets = 1;
}

static inline void links_take(struct links *l, const struct joined *j)
{
	uint32_t points[JOIN_POINTS_MAX], way;

	l->faults[j->fault]++;
	if (j->fault)
		return;
	l->packets++;
	for (uint32_t i = 0; i < j->count; i++)
		points[i] = j->seen[i].point;
	for (uint32_t i = 1; i < j->count; i++) {
		struct link *k = links_link(l, points[i - 1], points[i]);
		uint64_t ns = j->seen[i].time_ns - j->seen[i - 1].time_ns;

		if (!k)
			continue;
		link_turn(l, k, j->seen[i - 1].time_ns);
		delays_add(&k->all, ns);
		if (l->interval_ns)
			delays_add(&k->now, ns);
	}
	way = links_way(l, points, j->count);
	if (!way)
		return;
	l->ways[way - 1].packets++;
	l->ways[way - 1].bytes += j->len;
	links_compare(l, links_flow(l, j->seen[0].flow), way, j);
}

/* Ends each link's last interval. */
static inline void links_end(struct links *l)
{
	for (uint32_t i = 0; i < l->link_count; i++)
		if (l->interval_ns && l->series && l->links[i]->interval)
			l->series(l, l->links[i]);
}

static inline void links_free(struct links *l)
{
	for (uint32_t i = 0; i < l->link_count; i++)
		free(l->links[i]);
}

#endif
