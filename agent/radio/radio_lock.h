/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Radio lock: a radio has one channel for all its interfaces. In: a run's interfaces, and the
 * requests for their radios. Out: locks on the radios whose channels may change, against other
 * runs; or a line that names two interfaces of one radio. Always holds: no radio is tuned before.
 * Interfaces with constant channels may share a radio (tune.c queries them). So may an interface
 * without a channel: it follows the other.
 */
#ifndef AGENT_RADIO_RADIO_LOCK_H
#define AGENT_RADIO_RADIO_LOCK_H

#include "agent/model/capture_options.h"
#include "agent/interface/interface_state.h"
#include "agent/interface/lock.h"

/* `locks`: one per interface, zeroed. Returns 0, or after a line -EBUSY if two of the interfaces
 * share a radio, or lock_take's error. */
int radio_lock(const struct capture_options *o, const struct interface_state *links,
	       struct lock *locks);

#endif
