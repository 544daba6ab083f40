/* SPDX-License-Identifier: GPL-2.0 */
/* The option --to. */
#ifndef AGENT_OPTIONS_PARSE_TO_H
#define AGENT_OPTIONS_PARSE_TO_H

#include "agent/export/sockets.h"

/* Parses HOST:PORT; `to` has a copy of the text. Returns 0, or -EINVAL after a line. */
int parse_to(struct sockets_name *to, const char *given);

#endif
