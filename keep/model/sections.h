/* SPDX-License-Identifier: GPL-2.0 */
/* Sections: the interfaces that the present section has described. */
#ifndef KEEP_MODEL_SECTIONS_H
#define KEEP_MODEL_SECTIONS_H

#include "pcapng/block.h"

#define SECTIONS_INTERFACES_MAX (1024 * 1024) /* more are malformed */

struct section_interface {
	uint16_t linktype;
	uint16_t id;		     /* the sensor's */
	uint64_t ticks;		     /* a second */
	int64_t offset_s;	     /* added to stamps */
	char sensor[64];	     /* "": of none */
	char name[64];		     /* without the sensor's */
	char group[64];		     /* the sensor's; "": none */
	int number;		     /* the caller's, such as the sensor's in an index; -1 */
	int64_t copy;		     /* its number in a copy or a table; -1: not there */
	uint32_t texts_of, texts[2]; /* a table's numbers of its names, and their generation */
	uint8_t *block;		     /* its block, as in the file */
	uint32_t block_len;
	bool swapped;
	bool is_pseudonymous; /* the texts and the block are rewritten (find/pseudonym_found.h) */
};

struct sections {
	struct section_interface *list; /* by number */
	uint32_t count, room;
	uint64_t begun;	 /* sections so far */
	uint32_t copied; /* the caller's: the interfaces before this one are in a copy */
};

/* Takes a section header or an interface block. Returns 0, -EBADMSG or -ENOMEM. */
int sections_block(struct sections *s, struct pcapng_block *b);
/* Returns a block's interface, or NULL if the section has not described it. */
struct section_interface *sections_interface(struct sections *s, const struct pcapng_block *b);
/* Returns a frame's stamp, in nanoseconds since 1970. */
int64_t sections_ns(const struct section_interface *i, const struct pcapng_block *b);
void sections_free(struct sections *s);

#endif
