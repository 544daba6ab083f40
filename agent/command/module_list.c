// SPDX-License-Identifier: GPL-2.0
/* saluki module list, stats: an interface's modules and their counters. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "agent/module/proof.h"
#include "agent/module/slots.h"
#include "common/log.h"
#include "json.h"
#include "module.h"
#include "pinned.h"

#define OPT_JSON 256

const struct option_def module_list_defs[] = {
	{ 'i', "interface", "IF", "the interface" },
	{ OPT_JSON, "json", NULL, "as JSON" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static const struct {
	const char *name;
	size_t at;
} counters[] = {
#define COUNTER(name)                                                                              \
	{                                                                                          \
#name, offsetof(struct saluki_slot_counters, name)                                 \
	}
	COUNTER(frames),	 COUNTER(skipped),     COUNTER(missing),       COUNTER(events),
	COUNTER(events_limited), COUNTER(events_lost), COUNTER(events_unread),
#undef COUNTER
};

/* Returns the mean ns per measured frame; 0: none yet. */
static double cost_ns(const struct saluki_slot_counters *c)
{
	return c->timed ? (double)c->time_ns / c->timed : 0;
}

static uint64_t counter(const struct saluki_slot_counters *c, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)c + counters[i].at, sizeof(value));
	return value;
}

static void print_hash(const uint8_t hash[32])
{
	for (int i = 0; i < 32; i++)
		printf("%02x", hash[i]);
}

static const char *proof(const struct saluki_slot *s)
{
	return proof_name(s->kernel_proof ? PROOF_KERNEL : PROOF_SALUKI);
}

static void print_json(const struct saluki_slot *s, const struct saluki_slot_counters *c)
{
	printf("{");
	json_string("name", s->name, sizeof(s->name));
	printf("\"serial\": %" PRIu64 ", \"blake2b\": \"", (uint64_t)s->serial);
	print_hash(s->hash);
	printf("\", \"proof\": \"%s\", \"priority\": %u, \"instructions\": %u, \"reach\": %u, "
	       "\"map_memory\": %" PRIu64 ", \"loaded_ns\": %" PRIu64
	       ", \"shed\": %s, \"ns_a_frame\": %.1f",
	       proof(s), s->priority, s->instructions, s->reach, (uint64_t)s->map_memory,
	       (uint64_t)s->loaded_ns, c->shed ? "true" : "false", cost_ns(c));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		printf(", \"%s\": %" PRIu64, counters[i].name, counter(c, i));
	printf("}");
}

static void print_list(const struct saluki_slot *s)
{
	time_t t = s->loaded_ns / 1000000000;
	char since[32] = "";
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", &tm);
	printf("%s: serial %" PRIu64 ", priority %u, at most %u instructions a frame, %" PRIu64
	       " bytes of maps, proof %s, since %s\n  BLAKE2b ",
	       s->name, (uint64_t)s->serial, s->priority, s->instructions, (uint64_t)s->map_memory,
	       proof(s), since);
	print_hash(s->hash);
	printf("\n");
}

static void print_stats(const struct saluki_slot *s, const struct saluki_slot_counters *c)
{
	printf("%s:", s->name);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		printf("%s %s %" PRIu64, i ? "," : "", counters[i].name, counter(c, i));
	printf(", %.1f ns a frame%s\n", cost_ns(c), c->shed ? ", left out at present" : "");
}

/* Returns the bytes in the ring; 0 if not known. */
static uint64_t ring_used(const char *interface)
{
	struct pinned p;
	uint64_t used = 0, size;

	if (pinned_open(&p, interface))
		return 0;
	if (pinned_ring_fill(&p, &used, &size))
		used = 0;
	pinned_close(&p);
	return used;
}

static int print(const char *interface, bool stats, bool json)
{
	struct module_slots s;
	int err = module_slots_open(&s, interface, false);
	uint64_t used = err ? 0 : ring_used(interface);
	unsigned int printed = 0;

	if (!err && json)
		printf("[");
	for (unsigned int i = 0; !err && i < SALUKI_MODULES_MAX; i++) {
		struct saluki_slot_counters c;

		if (!s.table.slots[i].used)
			continue;
		err = module_slots_counters(&s, i, &c);
		/* A CPU updates it with its next frame. */
		c.shed = !err && c.shed && used > s.table.slots[i].back_at;
		if (err)
			log_line("%s: cannot read the counters: %s", interface, strerror(-err));
		else if (json)
			printf(printed++ ? ",\n " : "");
		if (!err && json)
			print_json(&s.table.slots[i], &c);
		else if (!err && stats)
			print_stats(&s.table.slots[i], &c);
		else if (!err)
			print_list(&s.table.slots[i]);
	}
	if (!err && json)
		printf("]\n");
	module_slots_close(&s);
	return err;
}

static int main_of(int argc, char **argv, bool stats)
{
	const char *interface = NULL;
	bool json = false;
	int id;

	while ((id = options_next(module_list_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki module %s -i IF [--json]\n\n%s\n\n", argv[0],
			       stats ? "Prints the counters of an interface's modules, and their "
				       "cost."
				     : "Lists the modules that run on an interface.");
			options_print(stdout, module_list_defs);
			return 0;
		}
		if (id == 'i')
			interface = optarg;
		else if (id == OPT_JSON)
			json = true;
		else
			return EXIT_USAGE;
	}
	if (!interface || optind < argc) {
		log_line("module %s: give an interface with -i IF, and nothing else", argv[0]);
		return EXIT_USAGE;
	}
	if (print(interface, stats, json))
		return 1;
	if (fflush(stdout) == EOF) {
		log_line("standard output: %s", strerror(errno));
		return 1;
	}
	return 0;
}

int module_list_main(int argc, char **argv)
{
	return main_of(argc, argv, false);
}

int module_stats_main(int argc, char **argv)
{
	return main_of(argc, argv, true);
}
