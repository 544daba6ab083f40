/* SPDX-License-Identifier: GPL-2.0 */
/* Remote: saluki-live on the collector's machine, by ssh. Frames are filtered there. */
#ifndef LIVE_REMOTE_H
#define LIVE_REMOTE_H

#include <stddef.h>

#include "options.h"

/* Becomes ssh, which writes pcapng to `fd`. Returns only if that fails: the exit status, after a
 * line. */
int remote_run(const struct live_options *o, int fd);
/* Writes the command for the other machine's shell. Returns 0, or -ENAMETOOLONG. */
int remote_command(const struct live_options *o, char *out, size_t size);

#endif
