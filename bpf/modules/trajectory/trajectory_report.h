/* SPDX-License-Identifier: GPL-2.0 */
/* Report: prints the results of trajectory.c, for people or as JSON, one object per line. */
#ifndef BPF_MODULES_TRAJECTORY_TRAJECTORY_REPORT_H
#define BPF_MODULES_TRAJECTORY_TRAJECTORY_REPORT_H

#include <arpa/inet.h>
#include <inttypes.h>

#include "trajectory_links.h"

static const char *const report_faults[JOIN_FAULTS] = {
	[JOIN_REPEATED] = "repeated",
	[JOIN_COLLIDED] = "collided",
	[JOIN_TOO_LONG] = "too_long",
};

static inline void report_string(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else
			putchar(*s);
	putchar('"');
}

static inline double report_ms(uint64_t ns)
{
	return ns / 1e6;
}

static inline void report_delays_json(const struct delays *d)
{
	printf("\"packets\":%" PRIu64, d->count);
	if (d->count)
		printf(",\"min_ms\":%.6f,\"median_ms\":%.6f,\"mean_ms\":%.6f,\"max_ms\":%.6f",
		       report_ms(d->min_ns), report_ms(delays_median(d)),
		       report_ms(d->sum_ns / d->count), report_ms(d->max_ns));
}

static inline void report_link_json(const struct links *l, const struct link *k)
{
	printf("\"from\":");
	report_string(l->points[k->from].name);
	printf(",\"to\":");
	report_string(l->points[k->to].name);
	putchar(',');
}

/* One interval of a link. */
static inline void report_series(const struct links *l, const struct link *k, bool json)
{
	uint64_t begin_ns = k->interval * l->interval_ns, lost = k->lost - k->lost_before;

	if (json) {
		printf("{\"begin_ns\":%" PRIu64 ",", begin_ns);
		report_link_json(l, k);
		report_delays_json(&k->now);
		printf(",\"lost\":%" PRIu64 "}\n", lost);
	} else {
		printf("%.3f %s > %s: %" PRIu64 " packets, %" PRIu64
		       " lost, min %.3f median %.3f max %.3f ms\n",
		       begin_ns / 1e9, l->points[k->from].name, l->points[k->to].name, k->now.count,
		       lost, report_ms(k->now.min_ns), report_ms(delays_median(&k->now)),
		       report_ms(k->now.max_ns));
	}
}

static inline void report_address(const char *name, const uint8_t *address, uint16_t port,
				  uint8_t version)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(version == 6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	printf(",\"%s\":\"%s\",\"%s_port\":%u", name, text, name, port);
}

/* One packet. */
static inline void report_packet(struct links *l, const struct joined *j)
{
	const struct flow *f = links_flow(l, j->seen[0].flow);

	printf("{\"label\":\"%016" PRIx64 "\",\"flow\":\"%016" PRIx64 "\",\"len\":%u,"
	       "\"protocol\":%u",
	       j->label, j->seen[0].flow, j->len, j->ip_protocol);
	if (f->addressed) {
		report_address("source", f->saddr, j->sport, j->ip_version);
		report_address("destination", f->daddr, j->dport, j->ip_version);
	}
	if (j->fault)
		printf(",\"discarded\":\"%s\"", report_faults[j->fault]);
	printf(",\"seen\":[");
	for (uint32_t i = 0; i < j->count; i++) {
		printf("%s{\"point\":", i ? "," : "");
		report_string(l->points[j->seen[i].point].name);
		printf(",\"time_ns\":%" PRIu64 "}", j->seen[i].time_ns);
	}
	printf("]}\n");
}

/* ---- at the end ------------------------------------------------------------------------------ */

static inline void report_points_json(const struct links *l)
{
	printf("\"points\":[");
	for (uint32_t i = 0; i < l->point_count; i++) {
		printf("%s{\"name\":", i ? "," : "");
		report_string(l->points[i].name);
		printf(",\"events\":%" PRIu64 ",\"late\":%" PRIu64 ",\"rate\":%.6f}",
		       l->points[i].events, l->points[i].late, l->points[i].below / 4294967296.0);
	}
	printf("],\"paths\":[");
	for (uint32_t i = 0; i < l->way_count; i++) {
		const struct way *w = &l->ways[i];

		printf("%s{\"points\":[", i ? "," : "");
		for (uint32_t at = 0; at < w->count; at++) {
			printf("%s", at ? "," : "");
			report_string(l->points[w->points[at]].name);
		}
		printf("],\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", w->packets, w->bytes);
	}
}

static inline void report_json(const struct links *l, const struct join *t, uint64_t bad)
{
	printf("{");
	report_points_json(l);
	printf("],\"links\":[");
	for (uint32_t i = 0; i < l->link_count; i++) {
		const struct link *k = l->links[i];

		printf("%s{", i ? "," : "");
		report_link_json(l, k);
		report_delays_json(&k->all);
		printf(",\"lost\":%" PRIu64 ",\"unjudged\":%" PRIu64 "}", k->lost, k->unjudged);
	}
	printf("],\"packets\":%" PRIu64 ",\"discarded\":{", l->packets);
	for (int i = 1; i < JOIN_FAULTS; i++)
		printf("%s\"%s\":%" PRIu64, i > 1 ? "," : "", report_faults[i], l->faults[i]);
	printf("},\"rerouted\":%" PRIu64 ",\"late\":%" PRIu64 ",\"closed_early\":%" PRIu64
	       ",\"beyond\":%" PRIu64 ",\"bad_events\":%" PRIu64 "}\n",
	       l->rerouted, t->late, t->early, l->beyond, bad);
}

static inline void report_ways(const struct links *l)
{
	printf("\npaths%15s %14s\n", "packets", "bytes");
	for (uint32_t i = 0; i < l->way_count; i++) {
		const struct way *w = &l->ways[i];

		printf("%20" PRIu64 " %14" PRIu64 "  ", w->packets, w->bytes);
		for (uint32_t at = 0; at < w->count; at++)
			printf("%s%s", at ? " > " : "", l->points[w->points[at]].name);
		putchar('\n');
	}
}

static inline void report_text(const struct links *l, const struct join *t, uint64_t bad)
{
	printf("%" PRIu64 " packets; labels discarded: %" PRIu64 " repeated, %" PRIu64
	       " collided, %" PRIu64 " at too many points; %" PRIu64 " late events, %" PRIu64
	       " labels closed early, %" PRIu64 " bad events, %" PRIu64
	       " beyond the tables, %" PRIu64 " changes of path\n",
	       l->packets, l->faults[JOIN_REPEATED], l->faults[JOIN_COLLIDED],
	       l->faults[JOIN_TOO_LONG], t->late, t->early, bad, l->beyond, l->rerouted);
	report_ways(l);
	printf("\nlinks%15s %9s %9s %10s %10s %10s\n", "packets", "lost", "unjudged", "min ms",
	       "median ms", "max ms");
	for (uint32_t i = 0; i < l->link_count; i++) {
		const struct link *k = l->links[i];

		printf("%20" PRIu64 " %9" PRIu64 " %9" PRIu64 " %10.3f %10.3f %10.3f  %s > %s\n",
		       k->all.count, k->lost, k->unjudged, report_ms(k->all.min_ns),
		       report_ms(delays_median(&k->all)), report_ms(k->all.max_ns),
		       l->points[k->from].name, l->points[k->to].name);
	}
}

#endif
