/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIVE_INSTALL_H
#define LIVE_INSTALL_H

/* Links this program into the user's folder of Wireshark's extcap programs. Returns the exit
 * status, after a line. */
int install_extcap(void);

#endif
