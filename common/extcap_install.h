/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMMON_EXTCAP_INSTALL_H
#define COMMON_EXTCAP_INSTALL_H

/* Links this program, under the name `link`, into the user's folder of Wireshark's extcap programs.
 * `display` is the interface's name in Wireshark. Returns the exit status, after a line. */
int extcap_install(const char *link, const char *display);

#endif
