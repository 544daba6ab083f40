/* SPDX-License-Identifier: GPL-2.0 */
/* JSON texts (RFC 8259). */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdio.h>

/* Prints a text in quotation marks. It may have any bytes: those that are not
 * UTF-8 become U+FFFD. */
void json_string(FILE *f, const char *text);

#endif
