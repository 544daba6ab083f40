/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of slots of one interface, which its programs run modules from: one of those of XDP,
 * one of those of tc, whichever of them are attached. In: which hook and link type the capture is
 * of from now on. Out: its table, pinned, and no other. Always holds: modules are checked for a
 * hook, and what runs them is made for a link type, so that a table is of one hook and link type as
 * long as it is there; who loads a module while that changes puts it where nothing runs it.
 */
#ifndef AGENT_ATTACH_SLOTS_H
#define AGENT_ATTACH_SLOTS_H

#include "attachment.h"

/* Takes the tables from the pins. */
void attach_slots_adopt(struct attach *a);
/* Lets `fd`, which stays the caller's, be that of XDP or tc, without the modules of the one before.
 * Returns 0 or -errno. */
int attach_slots_renew(struct attach *a, bool tc, int fd);
/* Takes that of XDP or tc away, with its modules. */
void attach_slots_drop(struct attach *a, bool tc);
/* Closes; what is pinned stays. */
void attach_slots_close(struct attach *a);

#endif
