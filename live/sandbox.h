/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIVE_SANDBOX_H
#define LIVE_SANDBOX_H

/* From here on the viewer reads what sensors sent: it gives up all privilege, and opens and reaches
 * nothing any more. Returns 0, or -errno after a line. */
int sandbox_viewer(void);

#endif
