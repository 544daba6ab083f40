/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Found frames with pseudonyms: the stage between the search and all outputs. In: a found frame.
 * Out: the same one with its bytes rewritten (pseudonym_frame.h), and of its options and its
 * interface's texts only what names nobody but the sensor.
 */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_FOUND_H
#define KEEP_PSEUDONYM_PSEUDONYM_FOUND_H

#include "pseudonym.h"
#include "keep/model/found.h"

struct pseudonym_stage;

/* Reads the key file. Returns NULL after a line. */
struct pseudonym_stage *pseudonym_stage_new(const char *key_file);
void pseudonym_stage_free(struct pseudonym_stage *s);
/* Returns the frame with pseudonyms, which stays until the next call. */
const struct found *pseudonym_found(struct pseudonym_stage *s, const struct found *f);
/* How many addresses and SSIDs were replaced. */
const struct pseudonyms *pseudonym_counts(const struct pseudonym_stage *s);

#endif
