// SPDX-License-Identifier: GPL-2.0
/* saluki status, printing: see status.h. */
#include "status.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/version.h"
#include "json.h"
#include "wire/compress.h"
#include "wire/keys.h"

#define ULL(x) ((unsigned long long)(x))

/* The fields of struct saluki_counters that every source has; the others are for pins only. A
 * table: a line of code for each would take 4 KB more on small machines. */
static const struct {
	const char *name;
	size_t at;
} counters[] = {
#define X(field) { #field, offsetof(struct saluki_counters, field) },
	X(seen) X(filtered) X(ring_full) X(copy_failed) X(captured) X(bad_fcs)
#undef X
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t counter(const struct saluki_counters *c, size_t i)
{
	__u64 value;

	memcpy(&value, (const char *)c + counters[i].at, sizeof(value));
	return value;
}

/* The values that both pins and agents have. */
struct view {
	const char *source, *version, *direction;
	unsigned int linktype, snaplen, keep_headers, consume;
};

static struct view view_of(const struct status *s)
{
	static const char *const directions[] = { "in", "out", "inout" };
	const struct saluki_config *c = &s->pinned.config;
	const struct status_socket_answer *a = &s->agent;

	if (status_is_pinned(s))
		return (struct view){ c->source,   c->version, directions[c->direction % 3],
				      c->linktype, c->snaplen, c->keep_headers,
				      c->consume };
	return (struct view){ a->interface.source,
			      SALUKI_VERSION,
			      directions[a->direction % 3],
			      a->interface.linktype,
			      a->snaplen,
			      a->interface.keep_headers,
			      a->consume };
}

/* Splits a number of tenths for "%llu.%llu". Small machines have no floating point, and printing it
 * would take 12 KB. */
#define TENTHS(x) ULL((x) / 10), ULL((x) % 10)

/* Returns a rate per second, in tenths. */
static uint64_t rate(const struct status *s, size_t i)
{
	uint64_t more = counter(&s->now, i) - counter(&s->before, i);

	return s->elapsed_us ? more * 10000000 / s->elapsed_us : 0;
}

static const struct sampler_view *radio_of(const struct status *s)
{
	return &s->agent.news.radios[s->agent.number % INTERFACES_MAX];
}

/* The command line's plan; "" if the plan is from elsewhere. */
static const char *list_of(const struct status *s)
{
	return radio_of(s)->how & SAMPLER_ORDERED ? "" : s->agent.plan;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* A list of one channel is printed as the channel. */
static void print_plan(const struct status *s)
{
	const struct sampler_view *r = radio_of(s);
	const char *list = list_of(s);

	if (!status_has_agent(s))
		return;
	if (r->entries > 1 || r->how & (SAMPLER_ORDERED | SAMPLER_FOCUSED))
		printf("  plan     %u channels in turn, %s%s%s%s%.127s%s\n", r->entries,
		       r->how & SAMPLER_PROPORTIONAL ? "proportional" : "equal",
		       r->how & SAMPLER_SHARED ? ", shared with a group" : "",
		       r->how & SAMPLER_ORDERED ? ", ordered by the collector" : "",
		       *list ? ": " : "", list,
		       r->how & SAMPLER_FOCUSED ? "; stays on one for a time" : "");
	if (r->how & SAMPLER_DEAF)
		printf("  deaf     nothing is heard where something should be (--deaf-after)\n");
}

/* Names as in the ledger. */
static void print_dropped(const struct totals *t)
{
	const struct {
		const char *name;
		uint64_t frames;
	} dropped[] = { { "dropped_store", t->dropped_store },
			{ "dropped_send", t->dropped_send },
			{ "dropped_shutdown", t->dropped_shutdown } };
	bool some = false;

	for (size_t i = 0; i < 3; i++)
		if (dropped[i].frames)
			some = printf(", %s %llu", dropped[i].name, ULL(dropped[i].frames)) > 0;
	if (!some)
		printf(", dropped 0");
}

static void print_level(const struct statistics *news)
{
	const struct totals *t = &news->totals;

	if (news->level == COMPRESS_NONE)
		printf("  compress none");
	else
		printf("  compress level %d", news->level);
	if (news->level_is_auto)
		printf(", auto; changes %llu, combos lowered %llu, raised %llu, of %llu",
		       ULL(t->level_changes), ULL(t->combos_lowered), ULL(t->combos_raised),
		       ULL(t->combos));
	putchar('\n');
}

/* Numbers come from the other process, which is not trusted with texts. */
static const char *collector_key(const struct status *s, char text[KEY_SHORT_LEN])
{
	uint8_t key[KEY_LEN] = { 0 };

	memcpy(key, &s->agent.news.collector_key, sizeof(s->agent.news.collector_key));
	key_to_short(text, key);
	return text;
}

static void print_agent(const struct status *s)
{
	const struct totals *t = &s->agent.news.totals;
	char key[KEY_SHORT_LEN];

	if (!status_has_agent(s)) {
		printf("  agent    none: frames wait in the ring; 'saluki run -i %s' exports "
		       "them\n",
		       s->name);
		return;
	}
	printf("  agent    process %d, ", (int)s->agent.pid);
	if (s->agent.news.session_up)
		printf("collector answers by its key %s", collector_key(s, key));
	else
		printf("no collector");
	printf("; exported %llu frames in %llu bytes", ULL(t->exported), ULL(t->sent_bytes));
	print_dropped(t);
	printf("%s\n", s->agent.count > 1 ? ", all its interfaces together" : "");
	print_level(&s->agent.news);
}

static void print_ring(const struct status *s)
{
	const struct saluki_config *c = &s->pinned.config;

	if (status_is_pinned(s))
		printf("  ring     %s, %" PRIu64 " of %" PRIu64 " KiB used (%llu.%llu %%)%s\n",
		       c->mapped ? "mapped" : "bpf", s->ring_used / 1024, s->ring_size / 1024,
		       TENTHS(s->ring_size ? 1000 * s->ring_used / s->ring_size : 0),
		       c->count > 1 ? ", shared with other interfaces" : "");
	else
		printf("  ring     %.64s\n",
		       s->agent.ring + (strncmp(s->agent.ring, "ring ", 5) ? 0 : 5));
}

void status_print_text(const struct statuses *all)
{
	for (unsigned int i = 0; i < all->count; i++) {
		const struct status *s = &all->list[i];
		struct view v = view_of(s);
		char channel[CHANNEL_TEXT_LEN];

		printf("%s: %s%.31s, LINKTYPE %u, direction %s, snaplen %u, keep %s%s, saluki "
		       "%.16s\n",
		       s->name, v.source[0] ? "attached by " : "not attached", v.source, v.linktype,
		       v.direction, v.snaplen, v.keep_headers ? "headers" : "all",
		       v.consume ? ", frames consumed" : "", v.version);
		if (!s->link.carrier)
			printf("  link     %s\n", interface_state_word(&s->link));
		if (s->filter[0])
			printf("  filter   %s\n", s->filter);
		if (status_is_pinned(s) && s->modules[0])
			printf("  modules  %s\n", s->modules);
		if (status_has_agent(s) && s->agent.interface.channel.mhz) {
			channel_text(channel, &s->agent.interface.channel);
			printf("  channel  %s\n", channel);
		}
		print_plan(s);
		print_agent(s);
		print_ring(s);
		for (size_t k = 0; k < COUNTERS; k++) {
			uint64_t tenths = rate(s, k);

			printf("  %-12s %20llu %12llu.%llu/s\n", counters[k].name,
			       ULL(counter(&s->now, k)), TENTHS(tenths));
		}
	}
}

/* ---- for programs ---------------------------------------------------------------------------- */

/* 0: none. */
static void json_number(const char *key, unsigned int number)
{
	if (number)
		printf("\"%s\": %u, ", key, number);
	else
		printf("\"%s\": null, ", key);
}

static void json_plan(const struct status *s)
{
	const struct sampler_view *r = radio_of(s);
#define SAID(bit) (r->how & (bit) ? "true" : "false")

	if (!status_has_agent(s) || (!r->entries && !r->how)) {
		json_number("plan", 0);
		return;
	}
	printf("\"plan\": {\"channels\": %u, \"strategy\": \"%s\", \"by\": \"%s\", ", r->entries,
	       r->how & SAMPLER_PROPORTIONAL ? "proportional" : "equal",
	       r->how & SAMPLER_ORDERED ? "collector" : "options");
	if (*list_of(s))
		json_string("list", list_of(s), sizeof(s->agent.plan));
	else
		json_number("list", 0);
	printf("\"shared\": %s, \"focused\": %s, \"deaf\": %s}, ", SAID(SAMPLER_SHARED),
	       SAID(SAMPLER_FOCUSED), SAID(SAMPLER_DEAF));
#undef SAID
}

static void json_level(const struct statistics *news)
{
	const struct totals *t = &news->totals;

	printf("\"compress\": {\"auto\": %s, \"level\": ", news->level_is_auto ? "true" : "false");
	if (news->level == COMPRESS_NONE)
		printf("null");
	else
		printf("%d", news->level);
	printf(", \"level_changes\": %llu, \"combos_lowered\": %llu, \"combos_raised\": "
	       "%llu}},\n   ",
	       ULL(t->level_changes), ULL(t->combos_lowered), ULL(t->combos_raised));
}

static void json_agent(const struct status *s)
{
	const struct totals *t = &s->agent.news.totals;
	const struct radio_channel *c = &s->agent.interface.channel;
	unsigned int mhz = status_has_agent(s) ? c->mhz : 0;
	char key[KEY_SHORT_LEN];

	json_number("channel", channel_number(mhz));
	json_number("mhz", mhz);
	json_number("width_mhz", mhz ? c->width : 0);
	json_plan(s);
	if (!status_has_agent(s)) {
		printf("\"agent\": null,\n   ");
		return;
	}
	printf("\"agent\": {\"pid\": %d, \"session\": %s, \"collector_key\": \"%s\", "
	       "\"interfaces\": %u, \"exported\": %llu, "
	       "\"dropped_send\": %llu, \"dropped_shutdown\": %llu, \"combos\": %llu, "
	       "\"datagrams\": %llu, \"sent_bytes\": %llu, \"dropped_store\": %llu, ",
	       (int)s->agent.pid, s->agent.news.session_up ? "true" : "false",
	       s->agent.news.session_up ? collector_key(s, key) : "", s->agent.count,
	       ULL(t->exported), ULL(t->dropped_send), ULL(t->dropped_shutdown), ULL(t->combos),
	       ULL(t->datagrams), ULL(t->sent_bytes), ULL(t->dropped_store));
	json_level(&s->agent.news);
}

static void json_ring(const struct status *s)
{
	const struct saluki_config *c = &s->pinned.config;

	if (status_is_pinned(s))
		printf("\"persistent\": %s, \"ring\": {\"kind\": \"%s\", \"used\": %" PRIu64
		       ", \"size\": %" PRIu64 ", \"group\": \"%016llx\", \"interfaces\": %u},\n   ",
		       c->persistent ? "true" : "false", c->mapped ? "mapped" : "bpf", s->ring_used,
		       s->ring_size, ULL(c->group), c->count);
	else
		printf("\"persistent\": false, \"ring\": null,\n   ");
}

static void json_counters(const struct status *s)
{
	printf("\"counters\": {");
	for (size_t i = 0; i < COUNTERS; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", counters[i].name, ULL(counter(&s->now, i)));
	printf("},\n   \"rates\": {");
	for (size_t i = 0; i < COUNTERS; i++) {
		uint64_t tenths = rate(s, i);

		printf("%s\"%s\": %llu.%llu", i ? ", " : "", counters[i].name, TENTHS(tenths));
	}
	printf("}}");
}

void status_print_json(const struct statuses *all)
{
	printf("{\"interfaces\": [");
	for (unsigned int i = 0; i < all->count; i++) {
		const struct status *s = &all->list[i];
		struct view v = view_of(s);

		printf("%s\n  {", i ? "," : "");
		json_string("interface", s->name, sizeof(s->name));
		json_string("source", v.source, 32);
		json_string("version", v.version, 16);
		json_string("link", interface_state_word(&s->link), 16);
		json_string("filter", s->filter, sizeof(s->filter));
		if (status_is_pinned(s))
			json_string("modules", s->modules, sizeof(s->modules));
		printf("\"linktype\": %u, \"direction\": \"%s\", \"snaplen\": %u, \"keep\": "
		       "\"%s\", "
		       "\"consume\": %s,\n   ",
		       v.linktype, v.direction, v.snaplen, v.keep_headers ? "headers" : "all",
		       v.consume ? "true" : "false");
		json_agent(s);
		json_ring(s);
		json_counters(s);
	}
	printf("%s]}\n", all->count ? "\n" : "");
}
