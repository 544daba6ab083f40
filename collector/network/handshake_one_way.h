/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake one way: set-ups of sensors that receive nothing (--one-way), and repeat their m1
 * during the session. In: an authentic m1. Out: a candidate, or a session whose window moved.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H
#define COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H

#include "handshake_m1.h"

/* Takes the `hello` of a one-way session. Returns HANDSHAKE_ANNOUNCED, HANDSHAKE_BUSY or
 * HANDSHAKE_IGNORED. */
enum handshake_result handshake_one_way_take(struct set_up *u);

#endif
