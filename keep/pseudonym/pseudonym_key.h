/* SPDX-License-Identifier: GPL-2.0 */
/* The key file of --pseudonyms: 32 random bytes as base64 (saluki genpsk). */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_KEY_H
#define KEEP_PSEUDONYM_PSEUDONYM_KEY_H

#include "pseudonym.h"

/* Reads the file, before the sandbox closes. Warns if others can read it. Returns 0, or -errno
 * after a line. */
int pseudonym_key_read(struct pseudonyms *p, const char *path);

#endif
