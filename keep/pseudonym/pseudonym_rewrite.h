/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rewrite: a frame's bytes on their way into a copy. Only what is asked for gets there, at the same
 * offset as in the frame. If the frame lacks the bytes, the copy ends where they would begin.
 */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_REWRITE_H
#define KEEP_PSEUDONYM_PSEUDONYM_REWRITE_H

#include <string.h>

#include "pseudonym.h"

#define REWRITE_FCS_LEN 4

struct rewrite {
	struct pseudonyms *names;
	const uint8_t *frame;
	uint8_t *out;
	uint32_t at, len; /* bytes in the copy; bytes that can be read */
	uint32_t whole;	  /* bytes on the wire */
	bool has_fcs;	  /* `len` ends before it; else the frame may have one or not */
};

/* Returns the next `n` bytes, or NULL. */
static inline const uint8_t *rewrite_peek(const struct rewrite *r, uint32_t n)
{
	return n <= r->len - r->at ? r->frame + r->at : NULL;
}

/* Ends the copy. */
static inline void rewrite_cut(struct rewrite *r)
{
	r->len = r->at;
}

/* Each returns whether the bytes were there. */
static inline bool rewrite_zero(struct rewrite *r, uint32_t n)
{
	if (!rewrite_peek(r, n)) {
		rewrite_cut(r);
		return false;
	}
	memset(r->out + r->at, 0, n);
	r->at += n;
	return true;
}

static inline bool rewrite_copy(struct rewrite *r, uint32_t n)
{
	uint32_t at = r->at;

	if (!rewrite_zero(r, n))
		return false;
	memcpy(r->out + at, r->frame + at, n);
	return true;
}

static inline bool rewrite_address(struct rewrite *r)
{
	uint32_t at = r->at;

	if (!rewrite_zero(r, 6))
		return false;
	pseudonym_address(r->names, r->out + at, r->frame + at);
	return true;
}

/* Whether the rest can be an FCS that no header tells of. An FCS is a sum of the original bytes, so
 * it must not get into the copy. */
static inline bool rewrite_is_fcs(const struct rewrite *r)
{
	return !r->has_fcs && r->at + REWRITE_FCS_LEN == r->whole;
}

#endif
