/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of one short line, and the parts that several protocols have in theirs.
 */
#ifndef PRINT_TEXT_H
#define PRINT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_LEN 4096

struct text {
	size_t len;
	char bytes[TEXT_LEN]; /* terminated */
};

/* Appends; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *fmt, ...);
void text_mac(struct text *t, const uint8_t *p);
void text_ipv4(struct text *t, const uint8_t *p);
void text_ipv6(struct text *t, const uint8_t *p);
/* A string from a frame, in quotation marks. Of what is in it, `"` and `\` get a `\` in front,
 * and control characters are written as \x1b, so that the string ends where it seems to. Other
 * bytes stay; what is no UTF-8 is the screen's business. */
void text_quoted(struct text *t, const uint8_t *bytes, size_t len);
/* A name, whose control characters are written as \x1b, so that it stays in its line. */
void text_word(struct text *t, const char *word);

#endif
