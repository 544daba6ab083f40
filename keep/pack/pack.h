/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pack: makes the forms of one closed capture file.
 *
 *     STEM.pcapng ─▶ walk ──────▶ STEM.idx
 *              └──▶ compress ────▶ STEM.pcapng.zst, and STEM.pcapng goes
 *
 * Each form is written whole and synchronised before its name is changed, and the capture goes
 * last. Killed anywhere, the capture file is still there, or its compressed form with its index is.
 */
#ifndef KEEP_PACK_PACK_H
#define KEEP_PACK_PACK_H

#include "keep/folder/listing.h"

struct pack_options {
	bool compress;
	int columns;	 /* folder of the tables; -1: none */
	uint64_t tables; /* its number */
};

struct packed {
	uint64_t frames, bytes;	    /* of the capture file */
	uint64_t compressed, index; /* bytes */
};

/* Returns 0 with `p`; -EINTR after a signal to stop; -EWOULDBLOCK if another program writes to the
 * file; -ESTALE if it changed meanwhile; -ENOSPC or -EDQUOT; or -errno after a line. After an
 * error, the capture file and its forms are as before. */
int pack(int folder, const char *stem, const struct pack_options *o, struct packed *p);
/* Whether a stem can be packed: its tables can have its name, and no other program's file is in the
 * place of its index. Returns 0, or -ENOTUNIQ after a line. pack() and pack_index() ask this. */
int pack_check(int folder, const char *stem, const struct pack_options *o);
/* Whether a file has all forms, and a whole index that is its own. */
bool pack_is_done(int folder, const struct stem *s, const struct pack_options *o);
/* Makes the index and the columns of a compressed file again. */
int pack_index(int folder, const char *stem, const struct pack_options *o, struct packed *p);
/* Removes what a killed program has not finished. Returns how many files. */
int pack_clean(int folder);

#endif
