/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A radio is on one channel, however many interfaces it has. In: the interfaces of a run, and what
 * is asked of their radios. Out: locks of those radios whose channels may change, against other
 * runs that change them; or a line that names two interfaces of one radio. Always holds: before
 * that nothing has been tuned. Interfaces that stay on their channel may have one radio (tune.c
 * asks where they are), and so may one that was given no channel: it listens where the other goes.
 */
#ifndef AGENT_RADIO_RADIO_LOCK_H
#define AGENT_RADIO_RADIO_LOCK_H

#include "agent/model/capture_options.h"
#include "agent/interface/interface_state.h"
#include "agent/interface/lock.h"

/* `locks` are as many as interfaces, zeroed. Returns 0, -EBUSY where two of the interfaces have one
 * radio, or lock_take's error; after a line. */
int radio_lock(const struct capture_options *o, const struct interface_state *links,
	       struct lock *locks);

#endif
