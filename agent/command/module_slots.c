// SPDX-License-Identifier: GPL-2.0
/* saluki module load, unload: change the modules of a captured interface. */
#include <errno.h>
#include <string.h>

#include "agent/module/check.h"
#include "agent/module/load.h"
#include "common/log.h"
#include "module.h"

#define OPT_POLICY 256

const struct option_def module_load_defs[] = {
	{ 'i', "interface", "IF", "interface to run on; it must be captured by XDP or tc" },
	{ OPT_POLICY, "policy", "FILE", "the policy\n(default " POLICY_DEFAULT ")" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

const struct option_def module_unload_defs[] = {
	{ 'i', "interface", "IF", "the interface" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Returns 0, or the exit status plus one after all messages. `argument`: the one after the
 * options. */
static int parse(int argc, char **argv, const struct option_def *defs, const char *about,
		 struct module_request *r, const char **argument)
{
	int id;

	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("%s", about);
			options_print(stdout, defs);
			return 1;
		}
		if (id == 'i')
			r->interface = optarg;
		else if (id == OPT_POLICY)
			r->policy = optarg;
		else
			return EXIT_USAGE + 1;
	}
	if (!r->interface) {
		log_line("module %s: give an interface with -i IF", argv[0]);
		return EXIT_USAGE + 1;
	}
	if (argc != optind + 1) {
		log_line("module %s: give one module; see 'saluki module %s --help'", argv[0],
			 argv[0]);
		return EXIT_USAGE + 1;
	}
	*argument = argv[optind];
	return 0;
}

static int load(struct module_request *r)
{
	struct module_checked checked = { 0 };
	struct module_slots s;
	int err = module_slots_open(&s, r->interface, true);

	err = err ?: module_slots_make(&s);
	if (!err) {
		r->hook = s.hook;
		r->view_fd = s.view_fd;
		err = module_check(&checked, r);
		if (!err && !checked.obj) {
			log_line("%s: takes the right to load programs; run as root", r->object);
			err = -EPERM;
		}
		err = err ?: module_load(&s, &checked);
		if (!err)
			log_line("%s: %s runs on each frame, serial %llu, %u instructions at most",
				 r->interface, checked.signature.name,
				 (unsigned long long)checked.signature.serial,
				 checked.verified.instructions);
		module_checked_free(&checked);
	}
	module_slots_close(&s);
	return err;
}

int module_load_main(int argc, char **argv)
{
	struct module_request r = { .lines = stdout };
	int status =
		parse(argc, argv, module_load_defs,
		      "Usage: saluki module load -i IF [--policy FILE] M.o\n\n"
		      "Checks a module like 'saluki module check', and runs it on each captured "
		      "frame. It\nreplaces a module of the same name.\n\n",
		      &r, &r.object);

	return status ? status - 1 : load(&r) ? 1 : 0;
}

int module_unload_main(int argc, char **argv)
{
	struct module_request r = { 0 };
	const char *name;
	struct module_slots s;
	int err, status = parse(argc, argv, module_unload_defs,
				"Usage: saluki module unload -i IF NAME\n\n"
				"Removes a module and its maps.\n\n",
				&r, &name);

	if (status)
		return status - 1;
	err = module_slots_open(&s, r.interface, true);
	err = err ?: module_unload(&s, name);
	module_slots_close(&s);
	return err ? 1 : 0;
}
