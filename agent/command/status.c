// SPDX-License-Identifier: GPL-2.0
/*
 * saluki status: attached programs, their agents, the ring's fill, counters and their rates over a
 * second. Reads pins, so it works without an agent, and queries running agents. Changes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/options/subcommands.h"
#include "agent/status/status_socket.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/options.h"
#include "mounts.h"
#include "status.h"

#define STATUS_INTERVAL_US 1000000

enum { OPT_JSON = 256 };

const struct option_def status_defs[] = {
	{ 'i', "interface", "IF", "this interface only; may be given several times" },
	{ OPT_JSON, "json", NULL, "as JSON" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static bool status_ask(struct status *s)
{
	struct status_socket_request r = { .size = sizeof(r), .what = STATUS_SOCKET_STATUS };

	return status_socket_ask(s->name, &r, &s->agent) == 0 && s->agent.error == 0;
}

static const char *status_reason(int err)
{
	if (STATUS_PINS && err == -EPROTO)
		return "is attached by a saluki of another layout; that one's status shows it";
	if (STATUS_PINS && err == -EBADMSG)
		return "what is pinned there is not what it says; 'saluki detach' removes it";
	switch (err) {
	case -ENOENT:
		return "nothing is attached there";
	case -EACCES:
	case -EPERM:
		return "not permitted; run as root";
	default:
		return strerror(-err);
	}
}

/* Adds an interface. Returns 0, also if it was added before, or -errno after a line. */
static int status_add(struct statuses *all, const char *interface)
{
	struct status *s = &all->list[all->count];
	int err = all->count == STATUS_MAX ? -ENOSPC : 0;

	for (unsigned int i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].name, interface))
			return 0;
	if (!err) {
		snprintf(s->name, sizeof(s->name), "%s", interface);
		err = STATUS_PINS ? pinned_open(&s->pinned, interface) : -ENOENT;
		s->pinned_is_there = err == 0;
		s->agent_is_there = status_ask(s);
		if (s->agent_is_there)
			err = 0;
	}
	if (err)
		log_line("%s: %s", interface, status_reason(err));
	if (err == -ENOENT && STATUS_PINS)
		mounts_say_elsewhere(interface);
	if (!err)
		all->count++;
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct status *)a)->name, ((const struct status *)b)->name);
}

/* A folder of pins has its interface's name, with colons for dots. */
static int add_pinned(struct statuses *all, char *name)
{
	for (char *c = name; *c; c++)
		if (*c == ':')
			*c = '.';
	return pinned_is(name) ? status_add(all, name) : 0;
}

/* A socket is named NAMESPACE.INTERFACE.sock. */
static int add_agent(struct statuses *all, char *name)
{
	char *interface = strchr(name, '.'), *end = strrchr(name, '.'), path[LOCK_PATH_MAX];

	if (!interface || end == interface || strcmp(end, ".sock"))
		return 0;
	*end = 0;
	/* Other sockets belong to other namespaces. */
	lock_path(path, interface + 1, "");
	if (strcmp(strrchr(path, '/') + 1, name))
		return 0;
	return status_add(all, interface + 1);
}

static int add_folder(struct statuses *all, const char *path,
		      int (*add)(struct statuses *all, char *name))
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int err = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir) {
		err = -errno;
		log_line("%s: %s", path, status_reason(err));
		return err;
	}
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && add(all, e->d_name))
			err = -EINVAL;
	closedir(dir);
	return err;
}

static int status_add_all(struct statuses *all)
{
	int err = STATUS_PINS ? add_folder(all, PIN_ROOT, add_pinned) : 0;

	if (add_folder(all, LOCK_ROOT, add_agent))
		err = -EINVAL;
	qsort(all->list, all->count, sizeof(all->list[0]), by_name);
	return err;
}

/* Reads the counters, from the kernel or else from the agent. Returns their time. */
static uint64_t status_counters(struct status *s, struct saluki_counters *c)
{
	uint32_t n = s->agent.number % TOTALS_INTERFACES_MAX;

	if (status_has_agent(s))
		status_ask(s);
	if (status_is_pinned(s)) {
		pinned_counters(&s->pinned, c);
	} else {
		const struct totals_interface *t = &s->agent.news.totals.interfaces[n];

		c->seen = t->seen;
		c->filtered = t->filtered;
		c->ring_full = t->ring_full;
		c->copy_failed = t->copy_failed;
		c->captured = t->captured;
		c->bad_fcs = t->bad_fcs;
	}
	return status_is_pinned(s) ? monotonic_ns() : s->agent.news.at_ns;
}

static void status_sample(struct statuses *all)
{
	uint64_t at[STATUS_MAX];

	for (unsigned int i = 0; i < all->count; i++)
		at[i] = status_counters(&all->list[i], &all->list[i].before);
	if (all->count)
		usleep(STATUS_INTERVAL_US); /* the measured interval */
	for (unsigned int i = 0; i < all->count; i++) {
		struct status *s = &all->list[i];

		interface_state_query(s->name, &s->link);
		s->elapsed_us = (status_counters(s, &s->now) - at[i]) / 1000;
		if (status_is_pinned(s)) {
			pinned_ring_fill(&s->pinned, &s->ring_used, &s->ring_size);
			pinned_filter(&s->pinned, s->filter, sizeof(s->filter));
			pinned_modules(s->name, s->modules, sizeof(s->modules));
		} else {
			memcpy(s->filter, s->agent.interface.filter,
			       sizeof(s->agent.interface.filter));
		}
	}
}

int status_main(int argc, char **argv)
{
	static struct statuses all;
	bool json = false, given = false;
	int id, err = 0;

	while ((id = options_next(status_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki status [-i IF]... [--json]\n\n"
			       "Prints each capture with its ring usage, counters and rates.\n\n");
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
	if (!given && !all.count && !err && STATUS_PINS)
		mounts_say_elsewhere(NULL);
	status_sample(&all);
	if (json)
		status_print_json(&all);
	else if (!all.count && !err)
		printf("nothing is attached\n");
	else
		status_print_text(&all);
	for (unsigned int i = 0; i < all.count; i++)
		if (STATUS_PINS)
			pinned_close(&all.list[i].pinned);
	return err;
}
