/* SPDX-License-Identifier: GPL-2.0 */
/*
 * --monitor: makes a run's own monitor interfaces. In: Wi-Fi interfaces, usually in station mode.
 * Out: for each, a monitor interface on the same radio, up, which is captured instead: wlan0mon for
 * wlan0, or wlan0 itself with a changed type if the driver supports no second one. Always holds:
 * each change is recorded before it is made (record.h), and undone at the end of the run. After a
 * killed run, the next run undoes it, or uses it and its programs' ring if it requests the same.
 * Only for the privileged process.
 */
#ifndef AGENT_RADIO_MONITOR_H
#define AGENT_RADIO_MONITOR_H

#include "agent/model/capture_options.h"

struct monitors;

/* Undoes changes that killed runs left. Then makes the monitor interfaces that `o` requests, and
 * replaces the requested names with theirs, which are valid until the end. With `any_channel` their
 * radios must be tunable, even if `o` requests no channel. Returns 0, with NULL if there is nothing
 * to undo, or -errno after a line: then nothing has changed. */
int monitors_start(struct monitors **m, struct capture_options *o, bool any_channel);
/* Call it when the captured interface disappeared or was replaced. If its card is back, makes the
 * monitor interface again. Returns whether it did. */
bool monitors_again(struct monitors *m, const char *name);
/* Undoes all changes. Accepts NULL. */
void monitors_end(struct monitors *m);

/* monitor_undo.c: explains an error of making, changing or bringing up, with the remedy. */
const char *monitor_reason(int err);
/* monitor_undo.c: undoes one change, unless the interface is gone or was changed since. Returns 0,
 * or -errno after a line. */
struct nl80211;
struct record_change;
int monitor_undo(struct nl80211 *nl, const struct record_change *c);

#endif
