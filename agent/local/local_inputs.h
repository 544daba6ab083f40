/* SPDX-License-Identifier: GPL-2.0 */
/* Local inputs: checks what `saluki capture` captures before -w FILE is emptied, so that a misspelt
 * interface or filter costs no file. */
#ifndef AGENT_LOCAL_LOCAL_INPUTS_H
#define AGENT_LOCAL_LOCAL_INPUTS_H

#include "agent/model/capture_options.h"

/* Of the interfaces, or of a file if `file` is not NULL. Attaches nothing. Returns 0, or -errno
 * after a line. */
int local_inputs_check(const struct capture_options *o, const char *file);

#endif
