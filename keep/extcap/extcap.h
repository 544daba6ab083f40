/* SPDX-License-Identifier: GPL-2.0 */
/* Extcap: answers Wireshark (common/extcap.h): the interface "Saluki archive" is a search. */
#ifndef KEEP_EXTCAP_EXTCAP_H
#define KEEP_EXTCAP_EXTCAP_H

#define EXTCAP_LINK                                                                                \
	"saluki-archive" /* the link's name in Wireshark's folder, the interface's too */
#define EXTCAP_DISPLAY "Saluki archive"

/* Returns the exit status. */
int extcap_answer(int argc, char **argv);

#endif
