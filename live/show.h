/* SPDX-License-Identifier: GPL-2.0 */
/* Show: prints frames, a line each. */
#ifndef LIVE_SHOW_H
#define LIVE_SHOW_H

/* Starts what prints. Returns a pipe to it, for pcapng; or -errno after a line. */
int show_start(void);

#endif
