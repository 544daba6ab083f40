/* SPDX-License-Identifier: GPL-2.0 */
/* Extcap: answers Wireshark (common/extcap.h). */
#ifndef LIVE_EXTCAP_H
#define LIVE_EXTCAP_H

#include "options.h"

#define EXTCAP_LINK "saluki" /* the program's name in Wireshark's folder, and the interface's */

/* Answers Wireshark. Returns 0 with `o` set for a capture, -1 if the program should end, or an exit
 * status after a line. */
int extcap_answer(struct live_options *o, int argc, char **argv);

#endif
