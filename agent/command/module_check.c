// SPDX-License-Identifier: GPL-2.0
/* saluki module check: prints a module's wants, and whether the policy grants them. */
#include <errno.h>
#include <string.h>

#include "agent/module/check.h"
#include "common/log.h"
#include "module.h"

#define OPT_POLICY 256
#define OPT_HOOK 257

const struct option_def module_check_defs[] = {
	{ OPT_POLICY, "policy", "FILE", "the policy\n(default " POLICY_DEFAULT ")" },
	{ 'i', "interface", "IF", "also check whether it may run here" },
	{ OPT_HOOK, "hook", "xdp|tc", "the capture hook (default xdp)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Returns 0, or the exit status plus one after all messages. */
static int parse(struct module_request *r, int argc, char **argv)
{
	static const char *const hooks[] = { "xdp", "tc", NULL };
	int id, hook = 0;

	while ((id = options_next(module_check_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki module check [OPTION]... M.o\n\n"
			       "Prints a module's requirements, and whether the policy grants "
			       "each of them. Run\nby root, it also loads the module into the "
			       "kernel without attaching it.\n\n");
			options_print(stdout, module_check_defs);
			return 1;
		}
		if (id == OPT_POLICY)
			r->policy = optarg;
		else if (id == 'i')
			r->interface = optarg;
		else if (id == OPT_HOOK && !options_choice("--hook", optarg, hooks, &hook))
			r->hook = hook ? MODULE_TC : MODULE_XDP;
		else
			return EXIT_USAGE + 1;
	}
	r->object = module_object_argument(argc, argv);
	return r->object ? 0 : EXIT_USAGE + 1;
}

int module_check_main(int argc, char **argv)
{
	struct module_request r = { .view_fd = -1, .lines = stdout };
	struct module_checked checked;
	int status = parse(&r, argc, argv), err;

	if (status)
		return status - 1;
	err = module_check(&checked, &r);
	module_checked_free(&checked);
	if (fflush(stdout) == EOF) {
		log_line("standard output: %s", strerror(errno));
		return 1;
	}
	return err ? 1 : 0;
}
