/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs on one interface: load, attach, replace, detach, around maps that outlive them.
 * Links and programs are pinned, so that they go on when the agent is killed, and the next one
 * replaces them without a frame in between that nobody sees. Needs privilege.
 */
#ifndef AGENT_ATTACH_H
#define AGENT_ATTACH_H

#include <stddef.h>

#include "attachment.h"

/* As before attach_init and after attach_free. */
void attach_zero(struct attach *a);
/* Makes the interface's counters and config, and pins all maps where `pin` is held. `config` has
 * what is known of it before it is attached; `interface` is its state in the tap, kept up to date
 * from here. Returns 0, or -errno after a line. */
int attach_init(struct attach *a, const struct maps *maps, struct tap_interface *interface,
		const struct saluki_config *config);
/* Takes counters, config and links from the pins instead. */
int attach_adopt(struct attach *a, const struct maps *maps, struct tap_interface *interface);

/* Loads the programs for the interface as tap_query has found it, and attaches them by the best
 * hook that takes them. What is attached already is replaced, or left where it is as it should be.
 * Returns 0, or -errno after a line a hook tried; with `again`, what was said the last time is not
 * repeated. */
int attach_attach(struct attach *a, bool again);
/* One hook, without falling back; for probe too. Returns 0 or -errno. */
int attach_hook(struct attach *a, enum attach_hook hook);
const char *attach_hook_name(enum attach_hook hook);
/* Says so where XDP on the interface does not see VLAN tags. */
void attach_say_tags(const struct tap_interface *f);
/* Puts the interface's filter, which is another one now, into force. Returns 0, or -errno with the
 * reason in `why` and nothing changed. */
int attach_filter(struct attach *a, char *why, size_t why_len);
/* Takes the programs off. When it returns none is running any more and the counters are final. */
void attach_detach(struct attach *a);
/* Closes; what is pinned stays. */
void attach_free(struct attach *a);

#endif
