/* SPDX-License-Identifier: GPL-2.0 */
/* What commands that make keys have in common. Return exit statuses, after a line. */
#ifndef AGENT_KEYGEN_H
#define AGENT_KEYGEN_H

#include "wire/keys.h"

/* Reads the command line of a command without arguments, which argv[0] names; ends the program
 * after its help, which is `does`. Returns 0, or -EINVAL after a line. */
int keygen_no_arguments(int argc, char **argv, const char *does);

/* Prints a key, or what `make` makes. */
int keygen_print(const uint8_t key[KEY_LEN]);
int keygen_new(void (*make)(uint8_t key[KEY_LEN]));
void keygen_random(uint8_t key[KEY_LEN]);

#endif
