/* SPDX-License-Identifier: GPL-2.0 */
/* The subcommands, each with its options' table, for main.c's table. */
#ifndef AGENT_OPTIONS_SUBCOMMANDS_H
#define AGENT_OPTIONS_SUBCOMMANDS_H

#include "common/options.h"
extern const struct option_def run_defs[], capture_defs[], keygen_defs[], probe_defs[];
extern const struct option_def attach_defs[], detach_defs[], status_defs[], filter_defs[];
extern const struct option_def module_defs[], setup_defs[];

/* The subcommands of `module`: command/module.c has their table. */
extern const struct command_def module_commands[];

int run_main(int argc, char **argv);
int capture_main(int argc, char **argv);
int setup_main(int argc, char **argv);
int genkey_main(int argc, char **argv);
int genpsk_main(int argc, char **argv);
int pubkey_main(int argc, char **argv);
int probe_main(int argc, char **argv);
int attach_main(int argc, char **argv);
int detach_main(int argc, char **argv);
int status_main(int argc, char **argv);
int filter_main(int argc, char **argv);
int module_main(int argc, char **argv);

#endif
