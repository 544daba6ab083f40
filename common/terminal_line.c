// SPDX-License-Identifier: GPL-2.0
/* Terminal line: see terminal_line.h. In: a text each second. Out: one line, on a terminal. */
#include "terminal_line.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "changes.h"
#include "log.h"
#include "monotonic.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_LEFT 3 /* for ^C, which the terminal echoes at the line's end */

struct terminal_line_shared {
	unsigned int changes; /* of the text: changes.h */
	uint32_t shown;	      /* by either process; log.c */
	_Alignas(long) char text[TERMINAL_LINE_MAX];
};

void terminal_line_open(struct terminal_line *l)
{
	const char *term = getenv("TERM");
	void *shared;

	memset(l, 0, sizeof(*l));
	if (!isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return;
	shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return; /* the program works without */
	l->shared = shared;
	l->group = getpgrp();
	log_settings.shown = &l->shared->shown;
}

void terminal_line_say(struct terminal_line *l, const char *text)
{
	_Alignas(long) char copy[TERMINAL_LINE_MAX] = "";

	if (!l->shared)
		return;
	strncpy(copy, text, sizeof(copy) - 1);
	changes_begin(&l->shared->changes);
	changes_copy(l->shared->text, copy, sizeof(copy));
	changes_end(&l->shared->changes);
}

size_t terminal_line_fit(char out[TERMINAL_LINE_MAX], const char *text, unsigned int columns)
{
	size_t room = columns ?: COLUMNS_DEFAULT, n = 0, whole = 0;

	room = room > COLUMNS_LEFT ? room - COLUMNS_LEFT : 0;
	if (room > TERMINAL_LINE_MAX - 1)
		room = TERMINAL_LINE_MAX - 1;
	for (; n < room && text[n]; n++) {
		out[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
		if (!strncmp(text + n, "  ", 2))
			whole = n;
	}
	if (text[n] && whole && strncmp(text + n, "  ", 2))
		n = whole;
	out[n] = 0;
	return n;
}

/* Only the foreground job draws, because a background job would overwrite the shell's prompt. A
 * write to a terminal that accepts no output would block. */
static bool terminal_line_may_draw(const struct terminal_line *l)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return tcgetpgrp(STDERR_FILENO) == l->group && poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

static void terminal_line_draw(struct terminal_line *l)
{
	_Alignas(long) char text[TERMINAL_LINE_MAX];
	char fit[TERMINAL_LINE_MAX], line[TERMINAL_LINE_MAX + 8];
	struct winsize size = { 0 };

	changes_read(&l->shared->changes, text, l->shared->text, sizeof(text));
	text[sizeof(text) - 1] = 0;
	if (!*text || !terminal_line_may_draw(l))
		return;
	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	terminal_line_fit(fit, text, size.ws_col);
	snprintf(line, sizeof(line), "\r%s\033[K", fit);
	/* Again after the write: the other process may have logged a line meanwhile. */
	__atomic_store_n(&l->shared->shown, 1, __ATOMIC_RELAXED);
	fputs(line, stderr);
	__atomic_store_n(&l->shared->shown, 1, __ATOMIC_RELAXED);
}

int terminal_line_tick(struct terminal_line *l, uint64_t now_ns)
{
	if (!l->shared)
		return -1;
	if (now_ns >= l->next_ns) {
		l->next_ns = now_ns + TERMINAL_LINE_NS;
		terminal_line_draw(l);
	}
	return monotonic_timeout(l->next_ns, now_ns);
}

void terminal_line_close(struct terminal_line *l)
{
	if (!l->shared)
		return;
	log_report(""); /* erases it */
	log_settings.shown = NULL;
	munmap(l->shared, sizeof(*l->shared));
	l->shared = NULL;
}
