/* SPDX-License-Identifier: GPL-2.0 */
/* Lines: prints each want of a module, and whether it is granted. */
#ifndef AGENT_MODULE_LINES_H
#define AGENT_MODULE_LINES_H

#include <stdarg.h>
#include <stdio.h>

struct module_lines {
	FILE *out; /* NULL: not printed */
	unsigned int refused;
};

/* Names come from untrusted objects: only printable characters reach the terminal. */
static inline void lines_print(struct module_lines *l, const char *what, const char *verdict,
			       const char *fmt, va_list args)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "wants %s%s", what, verdict);

	if (!l->out)
		return;
	vsnprintf(line + n, sizeof(line) - n, fmt, args);
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	fputs(line, l->out);
}

/* "wants WHAT: granted" */
__attribute__((format(printf, 2, 3))) static inline void lines_granted(struct module_lines *l,
								       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	lines_print(l, "", "", fmt, args);
	va_end(args);
	if (l->out)
		fputs(": granted\n", l->out);
}

/* "wants WHAT: refused: WHY", with the remedy. */
__attribute__((format(printf, 3, 4))) static inline void
lines_refused(struct module_lines *l, const char *what, const char *fmt, ...)
{
	va_list args;

	l->refused++;
	va_start(args, fmt);
	lines_print(l, what, ": refused: ", fmt, args);
	va_end(args);
	if (l->out)
		fputc('\n', l->out);
}

#endif
