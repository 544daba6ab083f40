/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attach, maps: the maps of one interface: counters, the programs' description (config), and their
 * filter. Pinned, they describe the capture for the agent after a killed one. Always holds: a
 * config with our version matches the attached programs. Needs privilege.
 */
#ifndef AGENT_ATTACH_MAPS_H
#define AGENT_ATTACH_MAPS_H

#include "attachment.h"

/* Makes them. All of these return 0 or -errno. */
int attach_make_maps(struct attach *a);

/* Writes the config for programs attached by `source`; "": none are attached. */
int attach_write_config(struct attach *a, const char *source);
/* Call it before replacing a program: writes the current `config` without a version, and with the
 * longest frame of old and new programs. If we are killed in between, the next agent replaces the
 * program again, and has room for all frames. */
int attach_announce(const struct attach *a, struct saluki_config config);

/* Writes the interface's current filter. */
int attach_write_filter(struct attach *a);
/* Reads the pinned filter of an adopted capture. */
int attach_pinned_filter(const struct attach *a, struct filter *f);

#endif
