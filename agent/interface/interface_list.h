/* SPDX-License-Identifier: GPL-2.0 */
/* Interface list: what `saluki capture -D` prints. */
#ifndef AGENT_INTERFACE_INTERFACE_LIST_H
#define AGENT_INTERFACE_INTERFACE_LIST_H

/* Prints a line for each network interface to standard output, those that can be captured first:
 * name, state, and what is captured there. Attaches nothing. Returns 0, or -errno after a
 * line. */
int interface_list_print(void);

#endif
