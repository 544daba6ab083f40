/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to people: one line on standard error, behind the program's name. Said once, where
 * the thing that failed is known by name. Traffic is never a reason for a line: that is what
 * counters are for. For all programs, and for wire/, which has one file to complain of.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

/* The end of a noun that has a number in front: "1 frame", "2 frames". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* One write a line, so that lines of two processes do not mix. */
__attribute__((format(printf, 1, 2))) void log_line(const char *fmt, ...);

#endif
