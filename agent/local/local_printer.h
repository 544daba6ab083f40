/* SPDX-License-Identifier: GPL-2.0 */
/* The printing process of `saluki capture` (print/), and the pipe to it. */
#ifndef AGENT_LOCAL_LOCAL_PRINTER_H
#define AGENT_LOCAL_LOCAL_PRINTER_H

#include <sys/types.h>

#include "print/print_options.h"

struct local_printer {
	int pipe; /* the collector's output, a capture stream */
	pid_t pid;
};

/* Starts it, before there are other descriptors that it must not have. Returns 0, or -errno after a
 * line, which names what is not installed. */
int local_printer_start(struct local_printer *p, const struct print_options *o);
/* Waits for its end, after `pipe` was closed by all. Returns its exit status. */
int local_printer_wait(const struct local_printer *p);

#endif
