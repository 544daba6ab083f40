// SPDX-License-Identifier: GPL-2.0
/* Suggestions: see suggest.h. */
#include "suggest.h"

#include <string.h>

#define SUGGEST_LEN_MAX 32

void suggest_begin(struct suggest *s, const char *given, size_t len)
{
	/* A suggestion has at most two mistakes, and most of its letters are right. */
	*s = (struct suggest){ .given = given, .len = len, .distance = len < 4 ? 2 : 3 };
}

#ifdef WITHOUT_BPF
/* Small builds leave suggestions out, which saves a kilobyte (Makefile). */
void suggest_offer(struct suggest *s, const char *word)
{
	(void)s;
	(void)word;
}
#else

static unsigned int suggest_least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Returns how many letters must be added, removed, changed, or exchanged with the next one to turn
 * one word into the other ("optimal string alignment"). */
static unsigned int suggest_distance(const char *a, size_t a_len, const char *b)
{
	unsigned int d[SUGGEST_LEN_MAX + 1][SUGGEST_LEN_MAX + 1];
	size_t b_len = strlen(b);

	if (a_len > SUGGEST_LEN_MAX || b_len > SUGGEST_LEN_MAX)
		return SUGGEST_LEN_MAX;
	for (size_t i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		for (size_t j = 1; j <= b_len; j++) {
			d[i][j] = suggest_least(d[i - 1][j] + 1, d[i][j - 1] + 1);
			d[i][j] = suggest_least(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = suggest_least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[a_len][b_len];
}

void suggest_offer(struct suggest *s, const char *word)
{
	unsigned int distance = suggest_distance(s->given, s->len, word);

	if (!*word || distance >= s->distance)
		return;
	s->distance = distance;
	s->word = word;
}

#endif /* WITHOUT_BPF */
