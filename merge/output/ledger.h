/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ledger: where each frame has come to. It stands as a comment in the last statistics block of a
 * trace (saluki-files(5)), and is printed at the end.
 */
#ifndef MERGE_OUTPUT_LEDGER_H
#define MERGE_OUTPUT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "merge/model/transmission.h"

#define LEDGER_TEXT_MAX 2048

struct ledger {
	uint64_t frames;	     /* 802.11 frames that were read */
	uint64_t malformed;	     /* of those, frames without an identity */
	uint64_t left_to_others;     /* frames that other mergers write (model/slice.h), */
	uint64_t left_transmissions; /* and transmissions of those that were merged */
	uint64_t other;		     /* frames of other link types, or without a stamp */
	uint64_t bad_blocks;
	uint64_t missed; /* frames that the input says it has lost */
	uint64_t twins;	 /* combos of two machines that send as one sensor */
	uint64_t receptions, merged, transmissions;
	uint64_t several, alone; /* transmissions by the number of radios; without late_found */
	uint64_t only_one, ambiguous, bad_fcs, unaligned, late_new; /* alone, and why */
	uint64_t on_time, late_found;				    /* receptions */
	uint64_t misdated; /* receptions that were far ahead of all others */
	uint64_t evicted;  /* transmissions that late receptions could no longer find */
	uint64_t joins, steps, slews, parts, part_joins; /* of clocks */
	uint64_t bad_readings;				 /* of clocks, with impossible values */
	uint64_t replayed; /* unique frames that a clock has heard twice */
};

/* Counts a transmission and its receptions, or a late reception of one that was counted. */
void ledger_transmission(struct ledger *l, const struct transmission *t);
/* The same for a packet block of a trace: `heard` receptions, the flags of the first one, and
 * whether the block is a late reception of a transmission before it. */
void ledger_block(struct ledger *l, uint32_t heard, uint8_t flags, bool found);
/* Counts one that is left to another merger. */
void ledger_left(struct ledger *l, const struct transmission *t);
/* Returns the sum of all differences of the equations: 0 if the ledger balances. */
uint64_t ledger_balance(const struct ledger *l);
/* Prints the equations, a line each, behind `before`. */
void ledger_print(FILE *out, const struct ledger *l, const char *before);
/* Writes the comment. */
void ledger_write(const struct ledger *l, char text[LEDGER_TEXT_MAX]);
/* Reads the comment, which is untrusted. Returns false if it is none. */
bool ledger_read(struct ledger *l, const char *text, size_t len);

#endif
