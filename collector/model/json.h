/* SPDX-License-Identifier: GPL-2.0 */
/* JSON texts, for --stats-file and `saluki-collector status --json`. */
#ifndef COLLECTOR_MODEL_JSON_H
#define COLLECTOR_MODEL_JSON_H

#include <stdio.h>

/* Prints a text in quotation marks. It may have any characters, as a file's name has. */
void json_string(FILE *f, const char *text);

#endif
