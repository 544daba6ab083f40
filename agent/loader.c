// SPDX-License-Identifier: GPL-2.0
/*
 * saluki attach, saluki detach: programs that stay attached without an agent. What they capture waits
 * in their ring for `saluki run`, which takes them over and leaves them there.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/options.h>

#include "adopt.h"
#include "capture_options.h"
#include "commands.h"
#include "hook.h"
#include "pinned.h"
#include "tap.h"

const struct option_def attach_defs[] = {
	{ 'i', "interface", "IF", "attach to this interface; may be given several times" },
	CAPTURE_OPTION_DEFS,
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

const struct option_def detach_defs[] = {
	{ 'i', "interface", "IF", "detach from this interface; may be given several times" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Returns 0, or the exit status plus one with everything said. */
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
	struct capture_options o;
	struct tap *t;
	int status = parse(&o, attach_defs,
			   "Attaches the capture programs and leaves them there: what they capture waits "
			   "in\ntheir ring for 'saluki run -i IF'. On what is attached already: changes "
			   "its\noptions, without a frame lost in between.",
			   argc, argv);

	if (status)
		return status - 1;
	t = tap_open(&o);
	if (!t)
		return 1;
	for (unsigned int i = 0; i < t->count; i++)
		tap_say(t, i, "attached");
	t->stays = true;
	tap_close(t);
	return 0;
}

/* Says what is lost with a ring that nobody has emptied. */
static void say_lost(const char *interface)
{
	struct pinned p;

	if (pinned_open(&p, interface))
		return;
	if (p.config.number == 0 && pinned_in_ring(&p))
		log_line("%s: %llu frames were in the ring and not exported yet; they are gone",
			 interface, (unsigned long long)pinned_in_ring(&p));
	pinned_close(&p);
}

static int detach(const char *interface)
{
	struct link_state link;
	struct hooks hooks;
	struct lock lock;
	struct pin pin;
	int err;

	lock_zero(&lock);
	pin_zero(&pin);
	err = lock_take(&lock, interface);
	err = err ?: pin_take(&pin, interface);
	if (!err) {
		link_query(interface, &link);
		hooks_adopt(&hooks, link.ifindex, &pin);
		err = pin_is_empty(&pin) ? -ENOENT : 0;
		hooks_detach(&hooks, 0, &pin);
		if (!err)
			say_lost(interface);
		pin_clear(&pin);
	}
	if (err == -ENOENT)
		log_line("%s: nothing is attached there; 'saluki status' lists what is", interface);
	pin_release(&pin);
	lock_release(&lock);
	return err;
}

int detach_main(int argc, char **argv)
{
	struct capture_options o;
	int status = parse(&o, detach_defs,
			   "Takes off what 'saluki attach', or an agent that was killed, has left "
			   "attached.\nWhat is still in its ring is lost, and said.",
			   argc, argv);

	if (status)
		return status - 1;
	for (unsigned int i = 0; i < o.count; i++)
		if (detach(o.interfaces[i]))
			status = 1;
	return status;
}
