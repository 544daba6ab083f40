/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake slots: which addresses for set-ups this machine's agents have used of late, so that one
 * that is started again does not use one twice: the collector would not know it any more, and who
 * sees the same 8 bytes twice knows that they are one sensor's. A small file that all agents of the
 * machine map, in /run/saluki: it is gone with a restart of the machine, as slots are with their
 * two minutes.
 */
#ifndef AGENT_EXPORT_HANDSHAKE_SLOTS_H
#define AGENT_EXPORT_HANDSHAKE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define HANDSHAKE_SLOTS_PATH "/run/saluki/slots"

/* Opens the file, with the right to. Without that right, or the folder, every slot is free: nothing
 * is said, for an agent that is started once in a while needs no such memory. */
void handshake_slots_open(const char *path);
/* Takes a slot of an interval: returns whether nobody had it. */
bool handshake_slots_take(uint64_t slot, uint64_t interval);
void handshake_slots_close(void);

#endif
