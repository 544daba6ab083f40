/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attach: loads, attaches, replaces and detaches the BPF programs of one interface. Their maps
 * outlive them. Links and programs are pinned, so they keep running if the agent is killed, and the
 * next agent replaces them without missing a frame. Needs privilege.
 */
#ifndef AGENT_ATTACH_H
#define AGENT_ATTACH_H

#include <stddef.h>

#include "attachment.h"

/* The state before attach_init and after attach_free. */
void attach_zero(struct attach *a);
/* Makes the interface's counters and config, and pins all maps if `pin` is held. `config`: the
 * values known before attaching. `interface`: its state in the tap, updated from here. Returns 0,
 * or -errno after a line. */
int attach_init(struct attach *a, const struct maps *maps, struct tap_interface *interface,
		const struct saluki_config *config);
/* The same with counters, config and links from the pins. */
int attach_adopt(struct attach *a, const struct maps *maps, struct tap_interface *interface);

/* Loads the programs for the interface that tap_query found, and attaches them at the best possible
 * hook. Replaces attached programs, or keeps them if they fit. Returns 0, or -errno after one line
 * per hook; with `again`, lines of the last time are not repeated. */
int attach_attach(struct attach *a, bool again);
/* Tries one hook only; also for `saluki probe`. Returns 0 or -errno. */
int attach_hook(struct attach *a, enum attach_hook hook);
const char *attach_hook_name(enum attach_hook hook);
/* Logs a line if XDP on the interface does not see VLAN tags. */
void attach_say_tags(const struct tap_interface *f);
/* Activates the interface's new filter. Returns 0, or -errno with the reason in `why` and nothing
 * changed. */
int attach_filter(struct attach *a, char *why, size_t why_len);
/* Detaches the programs. When it returns, none is running and the counters are final. */
void attach_detach(struct attach *a);
/* Closes all descriptors. Pinned objects stay. */
void attach_free(struct attach *a);

#endif
