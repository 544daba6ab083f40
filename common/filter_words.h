/* SPDX-License-Identifier: GPL-2.0 */
/* Filter words: finds a misspelt word of pcap-filter(7) in an expression that libpcap refused. */
#ifndef COMMON_FILTER_WORDS_H
#define COMMON_FILTER_WORDS_H

#define FILTER_WORDS_HINT_MAX 112

/* Writes the end of an error message: the misspelt word and a similar word, or only the page's
 * name. Returns `hint`. */
const char *filter_words_hint(const char *expression, char hint[FILTER_WORDS_HINT_MAX]);

#endif
