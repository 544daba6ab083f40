// SPDX-License-Identifier: GPL-2.0
/* In place of the status line and of the times in the log, in builds without libbpf: their machines
 * have little memory, and a system log that knows the time. */
#include "agent/control/status_line.h"
#include "common/log.h"

void log_start(enum log_level level)
{
	log_settings.level = level;
}

void terminal_line_open(struct terminal_line *l)
{
}

void terminal_line_say(struct terminal_line *l, const char *text)
{
}

int terminal_line_tick(struct terminal_line *l, uint64_t now_ns)
{
	return -1;
}

void terminal_line_close(struct terminal_line *l)
{
}

void status_line_tell(struct status_line *l, const struct exporter *e, const struct totals *t,
		      uint64_t now_ns)
{
}
