/* SPDX-License-Identifier: GPL-2.0 */
/* Code shared by commands that make keys. Functions return exit statuses, after a line. */
#ifndef AGENT_KEYGEN_H
#define AGENT_KEYGEN_H

#include "wire/keys.h"

/* Parses the command line of a command without arguments, named by argv[0]. --help prints `does`
 * and ends the program. Returns 0, or -EINVAL after a line. */
int keygen_no_arguments(int argc, char **argv, const char *does);

/* Print a key, or the result of `make`. */
int keygen_print(const uint8_t key[KEY_LEN]);
int keygen_new(void (*make)(uint8_t key[KEY_LEN]));
void keygen_random(uint8_t key[KEY_LEN]);

#endif
