/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Screen: makes text safe for a terminal. In: any bytes. Out: text on a descriptor. Tabs and line
 * ends pass. Control characters and invalid UTF-8 are written as \x1b. Unicode's controls, and
 * characters that change the direction of text, are written as \u009b. If the locale is not UTF-8,
 * all bytes from 0x80 on count as controls, because a terminal might interpret them.
 */
#ifndef PRINT_SCREEN_H
#define PRINT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCREEN_LEN 16384 /* bytes written at a time */

struct screen {
	int fd;
	bool utf8;
	int err; /* the first write that failed: -errno; from then on, text is dropped */
	uint8_t sequence[4]; /* a character that is not complete yet */
	unsigned int have, want;
	size_t len;
	char text[SCREEN_LEN];
};

void screen_init(struct screen *s, int fd, bool utf8);
/* Whether the environment's locale has UTF-8. */
bool screen_locale_utf8(void);
/* Appends `len` bytes, and writes when there are many. A character may continue in the next
 * call. */
void screen_add(struct screen *s, const char *bytes, size_t len);
/* Writes what was added; waits until it is written. Returns 0 or -errno. */
int screen_flush(struct screen *s);

#endif
