/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extcap: answers Wireshark, which starts this program to list its interface, to ask for settings,
 * to check a filter, and to capture (doc/extcap.4 of Wireshark).
 */
#ifndef LIVE_EXTCAP_H
#define LIVE_EXTCAP_H

#include "options.h"

/* Whether Wireshark has started the program: its first argument, or the link's name, shows it. */
bool extcap_is(int argc, char **argv);
/* Answers. Returns 0 with `o` set if it shall capture, -1 if all is done, or an exit status after a
 * line. */
int extcap_answer(struct live_options *o, int argc, char **argv);

#endif
