/* SPDX-License-Identifier: GPL-2.0 */
/* Interface list: what `saluki capture -D` prints, with numbers that -i takes. */
#ifndef AGENT_INTERFACE_INTERFACE_LIST_H
#define AGENT_INTERFACE_INTERFACE_LIST_H

/* Prints a line for each network interface to standard output, those that can be captured first:
 * number, name, state, and what is captured there. Attaches nothing. Returns 0, or -errno after a
 * line. */
int interface_list_print(void);
/* Returns the name of the interface with this number in the list, which stays allocated; or `word`
 * if an interface has it as its name, or it is no number of the list. */
const char *interface_list_name(const char *word);

#endif
