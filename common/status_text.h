/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Status text: the numbers of a status line (terminal_line.h), for both programs: rates over the
 * last second, bytes per frame over the whole run, and losses. In: counters. Out: text.
 */
#ifndef COMMON_STATUS_TEXT_H
#define COMMON_STATUS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define STATUS_TEXT_MAX 192
#define STATUS_LOSSES 8

struct status_counts {
	uint64_t heard, kept;	/* frames */
	uint64_t bytes, frames; /* exported: bytes of datagrams, and the frames in them */
	struct {
		const char *where; /* NULL: the list's end */
		uint64_t frames;
	} lost[STATUS_LOSSES];
};

/* Words that differ between the programs, and fields that follow the losses. */
struct status_words {
	const char *exported, *state;
};

/* Writes fields with two blanks between them, the most important ones first. `before` is `ns` older
 * than `now`. */
void status_text(char out[STATUS_TEXT_MAX], const struct status_counts *before,
		 const struct status_counts *now, uint64_t ns, const struct status_words *words);

#endif
