/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Terminal line: the status line that a program shows below its log, and renews each second. The
 * unprivileged process writes the text into shared memory. The privileged process draws it, so that
 * a terminal without output (Ctrl-S) does not stop the other process. The text is untrusted:
 * control characters become question marks. log.h erases the line before each log line. The line
 * returns a second later.
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

/* Call it before the fork. Shows no line if standard error is not a terminal, or is one that cannot
 * erase a line. */
void terminal_line_open(struct terminal_line *l);
/* The unprivileged process: sets the text, or removes the line (""). */
void terminal_line_say(struct terminal_line *l, const char *text);
/* The privileged process: draws when due. Returns milliseconds until the next time, -1: never. */
int terminal_line_tick(struct terminal_line *l, uint64_t now_ns);
/* Erases the line, for good. */
void terminal_line_close(struct terminal_line *l);

/* Copies `text` without control characters, for a terminal of `columns` columns (0: unknown).
 * Leaves out fields that do not fit; fields have two blanks between them. Returns the length. */
size_t terminal_line_fit(char out[TERMINAL_LINE_MAX], const char *text, unsigned int columns);

#endif
