/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake slots: remembers the slots' addresses that this machine's agents used recently, so that
 * a restarted agent uses none twice. The collector would not know it, and an observer who sees the
 * same 8 bytes twice could link them. A small file in /run/saluki that all agents map. A reboot
 * removes it, but slots last only two minutes.
 */
#ifndef AGENT_EXPORT_HANDSHAKE_SLOTS_H
#define AGENT_EXPORT_HANDSHAKE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define HANDSHAKE_SLOTS_PATH "/run/saluki/slots"

/* Opens the file, with privilege. Without privilege or the folder, every slot is unused, without a
 * log line, as a rarely started agent does not need this file. */
void handshake_slots_open(const char *path);
/* Takes a slot of an interval. Returns whether it was unused. */
bool handshake_slots_take(uint64_t slot, uint64_t interval);
void handshake_slots_close(void);

#endif
