// SPDX-License-Identifier: GPL-2.0
/*
 * saluki status: what is attached, by whom it is read, how full its ring is, its counters and their
 * rates over a second. From the pins, so with an agent and without. Changes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/monotonic.h>
#include <saluki/options.h>

#include "commands.h"
#include "pinned.h"
#include "tap.h"

#define STATUS_MAX 64
#define STATUS_INTERVAL_US 1000000

enum { OPT_JSON = 256 };

const struct option_def status_defs[] = {
	{ 'i', "interface", "IF", "this interface only; may be given several times" },
	{ OPT_JSON, "json", NULL, "as JSON" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* The fields of struct saluki_counters that are shown. */
#define COUNTERS(X)                                                                                \
	X(seen) X(filtered) X(ring_full) X(copy_failed) X(captured) X(malformed) X(seen_bytes)     \
		X(kept_bytes)

struct status {
	char name[64];
	struct pinned pinned;
	pid_t agent; /* 0: none */
	struct saluki_counters before, now;
	uint64_t ring_used, ring_size;
};

struct statuses {
	unsigned int count;
	struct status list[STATUS_MAX];
	double seconds;
};

/* Returns 0, or -errno after a line. */
static int status_add(struct statuses *all, const char *interface)
{
	struct status *s = &all->list[all->count];
	int err = all->count == STATUS_MAX ? -ENOSPC : pinned_open(&s->pinned, interface);

	if (err) {
		log_line("%s: %s", interface,
			 err == -ENOENT	  ? "nothing is attached there"
			 : err == -EPROTO ? "is attached by a saluki of another layout"
			 : err == -EACCES || err == -EPERM ? "not permitted; run as root"
							   : strerror(-err));
		return err;
	}
	snprintf(s->name, sizeof(s->name), "%s", interface);
	s->agent = lock_holder(interface);
	all->count++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct status *)a)->name, ((const struct status *)b)->name);
}

static int status_add_all(struct statuses *all)
{
	DIR *dir = opendir(PIN_ROOT);
	struct dirent *e;
	int err = 0;

	if (!dir) {
		if (errno != ENOENT)
			log_line(PIN_ROOT ": %s; run as root", strerror(errno));
		return errno == ENOENT ? 0 : -errno;
	}
	while (!err && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		for (char *c = e->d_name; *c; c++)
			if (*c == ':')
				*c = '.';
		err = status_add(all, e->d_name);
	}
	closedir(dir);
	qsort(all->list, all->count, sizeof(all->list[0]), by_name);
	return err;
}

static void status_sample(struct statuses *all)
{
	uint64_t began = monotonic_ns();

	for (unsigned int i = 0; i < all->count; i++)
		pinned_counters(&all->list[i].pinned, &all->list[i].before);
	if (all->count)
		usleep(STATUS_INTERVAL_US); /* the interval that is measured */
	for (unsigned int i = 0; i < all->count; i++) {
		struct status *s = &all->list[i];

		pinned_counters(&s->pinned, &s->now);
		pinned_ring_fill(&s->pinned, &s->ring_used, &s->ring_size);
	}
	all->seconds = (monotonic_ns() - began) / 1e9;
}

static double rate(const struct statuses *all, __u64 before, __u64 now)
{
	return (now - before) / all->seconds;
}

static void print_text(const struct statuses *all)
{
	for (unsigned int i = 0; i < all->count; i++) {
		const struct status *s = &all->list[i];
		const struct saluki_config *c = &s->pinned.config;

		printf("%s: %s%s, LINKTYPE %u, snaplen %u, keep %s%s, saluki %.16s\n", s->name,
		       c->source[0] ? "attached by " : "not attached", c->source, c->linktype,
		       c->snaplen, c->keep_headers ? "headers" : "all",
		       c->consume ? ", frames consumed" : "", c->version);
		if (s->agent)
			printf("  agent    process %d\n", (int)s->agent);
		else
			printf("  agent    none: frames wait in the ring; 'saluki run -i %s' exports "
			       "them\n",
			       s->name);
		printf("  ring     %s, %" PRIu64 " of %" PRIu64 " KiB used (%.1f %%)%s\n",
		       c->mapped ? "mapped" : "bpf", s->ring_used / 1024, s->ring_size / 1024,
		       100.0 * s->ring_used / s->ring_size,
		       c->count > 1 ? ", shared with other interfaces" : "");
#define X(field)                                                                                   \
	printf("  %-12s %20llu %14.1f/s\n", #field, (unsigned long long)s->now.field,              \
	       rate(all, s->before.field, s->now.field));
		COUNTERS(X)
#undef X
	}
}

static void print_json(const struct statuses *all)
{
	printf("{\"interfaces\": [");
	for (unsigned int i = 0; i < all->count; i++) {
		const struct status *s = &all->list[i];
		const struct saluki_config *c = &s->pinned.config;

		printf("%s\n  {\"interface\": \"%s\", \"attached\": %s, \"source\": \"%s\", "
		       "\"version\": \"%.16s\", \"linktype\": %u, \"snaplen\": %u, \"keep\": \"%s\", "
		       "\"direction\": \"%s\", \"consume\": %s, \"persistent\": %s, \"agent\": %d,\n"
		       "   \"ring\": {\"kind\": \"%s\", \"used\": %" PRIu64 ", \"size\": %" PRIu64
		       ", \"group\": \"%016llx\"},\n   \"counters\": {",
		       i ? "," : "", s->name, c->source[0] ? "true" : "false", c->source, c->version,
		       c->linktype, c->snaplen, c->keep_headers ? "headers" : "all",
		       c->direction == DIRECTION_IN    ? "in"
		       : c->direction == DIRECTION_OUT ? "out"
						       : "inout",
		       c->consume ? "true" : "false", c->persistent ? "true" : "false",
		       (int)s->agent, c->mapped ? "mapped" : "bpf", s->ring_used, s->ring_size,
		       (unsigned long long)c->group);
#define X(field) "\"" #field "\": %llu, "
		printf(COUNTERS(X) "\"seconds\": %.3f},\n   \"rates\": {",
#undef X
#define X(field) (unsigned long long)s->now.field,
		       COUNTERS(X) all->seconds);
#undef X
		printf("\"seen\": %.1f, \"captured\": %.1f, \"ring_full\": %.1f}}",
		       rate(all, s->before.seen, s->now.seen),
		       rate(all, s->before.captured, s->now.captured),
		       rate(all, s->before.ring_full, s->now.ring_full));
	}
	printf("%s]}\n", all->count ? "\n" : "");
}

int status_main(int argc, char **argv)
{
	static struct statuses all;
	bool json = false, given = false;
	int id, err = 0;

	while ((id = options_next(status_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki status [-i IF]... [--json]\n\n"
			       "Says what is attached, how full its ring is, its counters and their "
			       "rates.\n\n");
			options_print(stdout, status_defs);
			return 0;
		}
		if (id == OPT_JSON)
			json = true;
		else if (id != 'i')
			return EXIT_USAGE;
		given |= id == 'i';
		if (id == 'i' && status_add(&all, optarg))
			err = 1;
	}
	if (optind < argc) {
		log_line("status: %s: not an option; see 'saluki status --help'", argv[optind]);
		return EXIT_USAGE;
	}
	if (!given && status_add_all(&all))
		err = 1;
	status_sample(&all);
	if (json)
		print_json(&all);
	else if (!all.count && !err)
		printf("nothing is attached\n");
	else
		print_text(&all);
	for (unsigned int i = 0; i < all.count; i++)
		pinned_close(&all.list[i].pinned);
	return err;
}
