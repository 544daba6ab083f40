/* SPDX-License-Identifier: GPL-2.0 */
/* Say: messages for the user while the viewer runs, on standard error or in Wireshark's log. */
#ifndef LIVE_SAY_H
#define LIVE_SAY_H

#include "toolbar.h"

/* Sends messages to this toolbar from now on: Wireshark shows standard error as an error. */
void say_to(const struct toolbar *t);
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

#endif
