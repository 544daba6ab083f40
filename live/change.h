/* SPDX-License-Identifier: GPL-2.0 */
/* Change: what Wireshark's toolbar changes while the viewer runs. */
#ifndef LIVE_CHANGE_H
#define LIVE_CHANGE_H

#include "take.h"
#include "toolbar.h"

/* Takes the messages that are there. */
void change(struct take *t, struct toolbar *bar);

#endif
