/* SPDX-License-Identifier: GPL-2.0 */
/* Show: prints frames, a line each, in a process of its own (print/). */
#ifndef LIVE_SHOW_H
#define LIVE_SHOW_H

#include <sys/types.h>

#include "print/print_options.h"

/* Starts the process. Returns a pipe to it, for pcapng; or -errno after a line. */
int show_start(const struct print_options *o, pid_t *printer);

#endif
