/* SPDX-License-Identifier: GPL-2.0 */
/* saluki module: its subcommands, each with its options' table. module.c has their table.
 */
#ifndef AGENT_COMMAND_MODULE_H
#define AGENT_COMMAND_MODULE_H

#include "common/options.h"
extern const struct option_def module_key_defs[], module_sign_defs[], module_check_defs[],
	module_load_defs[], module_unload_defs[], module_list_defs[], module_fill_defs[],
	module_consume_defs[];

int module_genkey_main(int argc, char **argv);
int module_pubkey_main(int argc, char **argv);
int module_sign_main(int argc, char **argv);
int module_check_main(int argc, char **argv);
int module_load_main(int argc, char **argv);
int module_unload_main(int argc, char **argv);
int module_fill_main(int argc, char **argv);
int module_list_main(int argc, char **argv);
int module_stats_main(int argc, char **argv);
int module_consume_main(int argc, char **argv);

/* Returns the one argument after the options, the object, or NULL after a line. */
const char *module_object_argument(int argc, char **argv);

#endif
