/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of one short line, and parts that several protocols use.
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

/* Appends, and cuts text that does not fit. */
__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *fmt, ...);
void text_mac(struct text *t, const uint8_t *p);
void text_ipv4(struct text *t, const uint8_t *p);
void text_ipv6(struct text *t, const uint8_t *p);
/* A string from a frame, in quotation marks. The characters `"` and `\` get a `\` in front, and
 * control characters are written as \x1b, so that the string cannot fake its own end. Other bytes
 * stay; screen.h handles invalid UTF-8. */
void text_quoted(struct text *t, const uint8_t *bytes, size_t len);
/* A name, whose control characters are written as \x1b, so that it stays in its line. */
void text_word(struct text *t, const char *word);

#endif
