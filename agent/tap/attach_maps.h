/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps of one interface: its counters, what its programs are (config), and the filter that they
 * were loaded with. Pinned, they tell the agent that follows a killed one what it finds. Always
 * holds: a config with our version says what runs. Needs privilege.
 */
#ifndef AGENT_ATTACH_MAPS_H
#define AGENT_ATTACH_MAPS_H

#include "attachment.h"

/* Makes them. Returns 0 or -errno, as all of these. */
int attach_make_maps(struct attach *a);

/* Writes the config as of what is attached now by `source`; "": nothing is. */
int attach_write_config(struct attach *a, const char *source);
/* Before a program is replaced: writes `config`, which is that of the present one, without a
 * version, as of programs that are none of ours, and with the longest frames that there may be from
 * now on. If we are killed in between, the agent that follows replaces it once more, and has room
 * for them. */
int attach_announce(const struct attach *a, struct saluki_config config);

/* The interface's filter, as it is in force now. */
int attach_write_filter(struct attach *a);
/* The filter that was pinned with what was adopted. */
int attach_pinned_filter(const struct attach *a, struct filter *f);

#endif
