/* SPDX-License-Identifier: GPL-2.0 */
/* "Did you mean": finds the known word that is nearest to a misspelt one.
 * For command lines of all programs. */
#ifndef COMMON_SUGGEST_H
#define COMMON_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *given;
	size_t len;	  /* of it */
	const char *word; /* the nearest so far; NULL: none is near */
	unsigned int distance;
};

/* `given` is not copied; `len` of its bytes count. */
void suggest_begin(struct suggest *s, const char *given, size_t len);
void suggest_offer(struct suggest *s, const char *word);

#endif
