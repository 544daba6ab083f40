// SPDX-License-Identifier: GPL-2.0
/*
 * saluki attach, saluki detach: programs that stay attached without an agent. Their ring keeps the
 * frames for `saluki run`, which takes the programs over and leaves them attached.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tap/adopt.h"
#include "agent/options/parse_capture.h"
#include "agent/programs/grace_period.h"
#include "agent/options/subcommands.h"
#include "agent/tap/hook.h"
#include "common/log.h"
#include "common/options.h"
#include "mounts.h"
#include "pinned.h"
#include "agent/tap/tap.h"

const struct option_def attach_defs[] = {
	{ 'i', "interface", "IF", "attach to this interface; may be given several times" },
	CAPTURE_OPTION_DEFS("192", CAPTURE_KEEP_TEXT, "in"),
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

const struct option_def detach_defs[] = {
	{ 'i', "interface", "IF", "detach from this interface; may be given several times" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Returns 0, or the exit status plus one after all messages. */
static int parse(struct capture_options *o, const struct option_def *defs, const char *about,
		 int argc, char **argv)
{
	int id;

	capture_options_init(o);
	o->persistent = true;
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki %s -i IF [-i IF]... [OPTION]...%s\n\n%s\n\n", argv[0],
			       defs == attach_defs ? " [EXPRESSION]" : "", about);
			options_print(stdout, defs);
			return 1;
		}
		if (capture_option(o, id))
			return EXIT_USAGE + 1;
	}
	if (optind < argc && defs == attach_defs) {
		if (capture_expression(o, argc, argv))
			return EXIT_USAGE + 1;
	} else if (optind < argc) {
		log_line("%s: %s: not an option; see 'saluki %s --help'", argv[0], argv[optind],
			 argv[0]);
		return EXIT_USAGE + 1;
	}
	if (!o->count || capture_options_wrong(o)) {
		log_line("%s: %s", argv[0],
			 o->count ? capture_options_wrong(o) : "give an interface with -i IF");
		return EXIT_USAGE + 1;
	}
	return 0;
}

int attach_main(int argc, char **argv)
{
	static struct capture_options o;
	struct tap *t;
	int status = parse(
		&o, attach_defs,
		"Attaches the capture programs and exits. Captured frames wait in the ring for\n"
		"'saluki run -i IF'. If programs are attached already, it changes their "
		"options and\nloses no frame.",
		argc, argv);

	if (status)
		return status - 1;
	if (mounts_last("attach"))
		return 1;
	t = tap_open(&o);
	if (!t)
		return 1;
	for (unsigned int i = 0; i < t->count; i++)
		tap_say(t, i, "attached");
	t->stays = true;
	tap_close(t);
	return 0;
}

struct detached {
	const char *interface;
	struct lock lock;
	struct pin pin;
	bool held; /* locked, with pins */
};

/* Pins that cannot be read are removed. */
static bool is_elsewhere(const char *interface, const struct pin *p)
{
	struct saluki_config c;
	int fd = pin_get(p, "config");
	bool elsewhere = fd >= 0 && config_read(fd, &c) == 0 &&
			 adopt_namespace(interface, p, &c) != 0;

	if (fd >= 0)
		close(fd);
	return elsewhere;
}

/* Detaches the programs. Returns 0, or -errno after a line. */
static int detach_hooks(struct detached *d, const char *interface)
{
	struct interface_state link = { 0 };
	struct hooks hooks;
	int err;

	d->interface = interface;
	lock_zero(&d->lock);
	pin_zero(&d->pin);
	err = lock_take(&d->lock, interface, "");
	err = err ?: pin_take(&d->pin, interface);
	if (err)
		return err;
	if (pin_is_empty(&d->pin)) {
		log_line("%s: nothing is attached there; 'saluki status' lists what is", interface);
		return -ENOENT;
	}
	if (is_elsewhere(interface, &d->pin))
		return -EINVAL;
	d->held = true;
	interface_state_query(interface, &link);
	hooks_adopt(&hooks, link.ifindex, &d->pin);
	hooks_detach(&hooks, 0, &d->pin);
	return 0;
}

/* Logs the frames that are lost with an unread ring, and the interfaces that shared it. */
static void say_lost(const struct pinned *p, const char *interface, unsigned int together)
{
	uint64_t frames = pinned_in_ring(p);

	if (frames)
		log_line("%s: %llu frame%s in the ring and not exported yet; lost", interface,
			 (unsigned long long)frames, frames == 1 ? " was" : "s were");
	if (together < p->config.count)
		log_line("%s: was attached together with others, whose frames cannot be exported "
			 "without it; 'saluki detach' them too ('saluki status' lists them)",
			 interface);
}

/* Once per ring: the first of the sharing interfaces logs it for all. */
static void say_group(const struct detached *list, unsigned int count, unsigned int first)
{
	unsigned int together = 0;
	struct pinned p, other;

	if (!list[first].held || pinned_open(&p, list[first].interface))
		return;
	for (unsigned int i = 0; i < count; i++) {
		if (!list[i].held || pinned_open(&other, list[i].interface))
			continue;
		pinned_close(&other);
		if (other.config.group != p.config.group)
			continue;
		if (i < first)
			goto out;
		together++;
	}
	say_lost(&p, list[first].interface, together);
out:
	pinned_close(&p);
}

static int detach(const struct capture_options *o)
{
	struct detached list[INTERFACES_MAX] = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < o->count; i++)
		err = detach_hooks(&list[i], o->interfaces[i]) ?: err;
	grace_period(); /* a CPU may still run a program */
	for (unsigned int i = 0; i < o->count; i++)
		say_group(list, o->count, i);
	for (unsigned int i = 0; i < o->count; i++) {
		if (list[i].held)
			pin_clear(&list[i].pin);
		pin_release(&list[i].pin);
		lock_release(&list[i].lock);
	}
	return err;
}

int detach_main(int argc, char **argv)
{
	struct capture_options o;
	int status = parse(&o, detach_defs,
			   "Removes the programs of 'saluki attach' or of a killed agent. Frames "
			   "in their ring\nare lost; their number is printed.",
			   argc, argv);

	if (status)
		return status - 1;
	return detach(&o) ? 1 : 0;
}
