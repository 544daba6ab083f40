/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extcap: answers Wireshark, which starts this program to list its interface, to ask for settings,
 * to check a filter, and to capture (doc/extcap.4 of Wireshark).
 */
#ifndef LIVE_EXTCAP_H
#define LIVE_EXTCAP_H

#include "options.h"

/* Whether Wireshark started the program: tells by the first argument or the link's name. */
bool extcap_is(int argc, char **argv);
/* Answers Wireshark. Returns 0 with `o` set for a capture, -1 if the program should end, or an exit
 * status after a line. */
int extcap_answer(struct live_options *o, int argc, char **argv);

#endif
