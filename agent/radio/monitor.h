/* SPDX-License-Identifier: GPL-2.0 */
/*
 * --monitor: a run's own monitor interfaces. In: Wi-Fi interfaces as they are, a station's as a
 * rule. Out: for each a monitor interface on the same radio, up, which is captured in its place:
 * wlan0mon for wlan0; or wlan0 itself, changed, where its driver has no second one. Always holds:
 * what is changed is written down before (record.h), and undone at the end of the run; where the
 * run is killed, when the next one starts, unless that one asks for the same: then it goes on with
 * it, and with the ring of its programs. For the privileged process alone.
 */
#ifndef AGENT_RADIO_MONITOR_H
#define AGENT_RADIO_MONITOR_H

#include "agent/model/capture_options.h"

struct monitors;

/* Undoes what runs that were killed have left, then makes what `o` asks for, and puts the names of
 * what was made in the place of those that were asked for; they are good until the end. With
 * `any_channel` their radios must take one, also where no channel is asked for. Returns 0, with
 * NULL where nothing is to be undone, or -errno after a line: then nothing has changed. */
int monitors_start(struct monitors **m, struct capture_options *o, bool any_channel);
/* The captured interface of this name has gone, or is another one now: where the card of one that
 * was made, or changed, has come back, that is done again. Returns whether it was. */
bool monitors_again(struct monitors *m, const char *name);
/* Undoes it; takes NULL too. */
void monitors_end(struct monitors *m);

/* monitor_undo.c: what an error of making, changing or bringing up means, and what helps. */
const char *monitor_reason(int err);
/* monitor_undo.c: undoes one change, unless the interface has gone, or is not what was made of it
 * any more. Returns 0, or -errno after a line. */
struct nl80211;
struct record_change;
int monitor_undo(struct nl80211 *nl, const struct record_change *c);

#endif
