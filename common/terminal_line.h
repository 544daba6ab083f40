/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Terminal line: the status line that a program shows below its log, and renews each second. The
 * process that does the work says the text. The privileged process draws it, as a terminal that
 * takes no output (Ctrl-S) must not stop the work. The text is in memory that both share, so it is
 * untrusted: control characters never reach the terminal. log.h erases the line for each line of
 * the log; the next second brings it back.
 */
#ifndef COMMON_TERMINAL_LINE_H
#define COMMON_TERMINAL_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TERMINAL_LINE_MAX 256 /* bytes, with the 0 byte */
#define TERMINAL_LINE_NS 1000000000ULL

struct terminal_line_shared;

struct terminal_line {
	struct terminal_line_shared *shared; /* NULL: no line is shown */
	pid_t group;			     /* draws only while this is in the foreground */
	uint64_t next_ns;		     /* CLOCK_MONOTONIC of the next drawing */
};

/* Call it before the processes part. Shows no line where standard error is not a terminal that can
 * erase one. */
void terminal_line_open(struct terminal_line *l);
/* The working process: sets the text, or removes the line (""). */
void terminal_line_say(struct terminal_line *l, const char *text);
/* The other process: draws when due. Returns milliseconds until the next time, -1: never. */
int terminal_line_tick(struct terminal_line *l, uint64_t now_ns);
/* Erases the line, for good. */
void terminal_line_close(struct terminal_line *l);

/* Copies `text` without control characters, for a terminal of so many columns (0: not known).
 * Leaves out fields that have no room; two blanks are between fields. Returns its length. */
size_t terminal_line_fit(char out[TERMINAL_LINE_MAX], const char *text, unsigned int columns);

#endif
