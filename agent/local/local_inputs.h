/* SPDX-License-Identifier: GPL-2.0 */
/* Local inputs: checks the inputs of `saluki capture` before -w FILE is emptied, so that a misspelt
 * interface or filter does not destroy a file. */
#ifndef AGENT_LOCAL_LOCAL_INPUTS_H
#define AGENT_LOCAL_LOCAL_INPUTS_H

#include "agent/model/capture_options.h"

/* Checks the interfaces, or the file if `file` is not NULL. Attaches nothing. Returns 0, or -errno
 * after a line. */
int local_inputs_check(const struct capture_options *o, const char *file);

#endif
