/* SPDX-License-Identifier: GPL-2.0 */
/* Change: applies changes from Wireshark's toolbar while the viewer runs. */
#ifndef LIVE_CHANGE_H
#define LIVE_CHANGE_H

#include "take.h"
#include "toolbar.h"

/* Applies the messages that have arrived. */
void change(struct take *t, struct toolbar *bar);

#endif
