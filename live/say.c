// SPDX-License-Identifier: GPL-2.0
/* Say: see say.h. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"

static const struct toolbar *to;

void say_to(const struct toolbar *t)
{
	to = t;
}

void say(const char *fmt, ...)
{
	char line[512], log[sizeof(line) + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	snprintf(log, sizeof(log), "%s\n", line);
	if (to)
		toolbar_send(to, TOOLBAR_LOG, TOOLBAR_ADD, log);
	else
		log_line("%s", line);
}
