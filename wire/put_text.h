/* SPDX-License-Identifier: GPL-2.0 */
/* Put text: the "key=value\n" lines of a STATE message (put.h), and other texts from the other
 * program. Any bytes may come; what is not printable ASCII becomes blank. */
#ifndef WIRE_PUT_TEXT_H
#define WIRE_PUT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Copies a text of `len` bytes, cut to `size` - 1, and ends it with a 0 byte. */
void put_text_copy(char *out, size_t size, const char *text, size_t len);
/* Copies the value of the first line "KEY=value"; "" without one. */
void put_text_value(const char *text, size_t len, const char *key, char *out, size_t size);
/* Returns such a value as a number; 0 without one. */
uint64_t put_text_number(const char *text, size_t len, const char *key);

#endif
