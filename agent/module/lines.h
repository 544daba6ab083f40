/* SPDX-License-Identifier: GPL-2.0 */
/* Lines: what a module wants, and whether it is granted; for people. */
#ifndef AGENT_MODULE_LINES_H
#define AGENT_MODULE_LINES_H

#include <stdarg.h>
#include <stdio.h>

struct module_lines {
	FILE *out; /* NULL: nobody reads them */
	unsigned int refused;
};

/* "wants WHAT: granted" */
__attribute__((format(printf, 2, 3))) static inline void lines_granted(struct module_lines *l,
								       const char *fmt, ...)
{
	va_list args;

	if (!l->out)
		return;
	fputs("wants ", l->out);
	va_start(args, fmt);
	vfprintf(l->out, fmt, args);
	va_end(args);
	fputs(": granted\n", l->out);
}

/* "wants WHAT: refused: WHY", with what to do about it. */
__attribute__((format(printf, 3, 4))) static inline void
lines_refused(struct module_lines *l, const char *what, const char *fmt, ...)
{
	va_list args;

	l->refused++;
	if (!l->out)
		return;
	fprintf(l->out, "wants %s: refused: ", what);
	va_start(args, fmt);
	vfprintf(l->out, fmt, args);
	va_end(args);
	fputc('\n', l->out);
}

#endif
