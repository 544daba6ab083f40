/* SPDX-License-Identifier: GPL-2.0 */
/* The subcommands: argv[0] is the command's name; the result is the exit status. */
#ifndef AGENT_COMMANDS_H
#define AGENT_COMMANDS_H

int run_main(int argc, char **argv);
int genkey_main(int argc, char **argv);
int pubkey_main(int argc, char **argv);
int probe_main(int argc, char **argv);

#endif
