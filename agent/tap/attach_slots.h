/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attach, slots: the slot tables of one interface, from which its programs run modules: one for
 * XDP, one for tc. In: the capture's new hook and link type. Out: only this hook's table is pinned.
 * Always holds: a table has one hook and link type for its whole life, as modules are checked for a
 * hook and run for a link type. A module that is loaded during a change goes into the old table,
 * from which no program runs it.
 */
#ifndef AGENT_ATTACH_SLOTS_H
#define AGENT_ATTACH_SLOTS_H

#include "attachment.h"

/* Opens the pinned tables. */
void attach_slots_adopt(struct attach *a);
/* Makes `fd`, which the caller keeps, the table of XDP or tc, without the old table's modules.
 * Returns 0 or -errno. */
int attach_slots_renew(struct attach *a, bool tc, int fd);
/* Removes the table of XDP or tc with its modules. */
void attach_slots_drop(struct attach *a, bool tc);
/* Closes all descriptors. Pinned objects stay. */
void attach_slots_close(struct attach *a);

#endif
