/* SPDX-License-Identifier: GPL-2.0 */
/* Build: lays out blocks of pcapng, in the machine's byte order. The caller has made room. */
#ifndef PCAPNG_BUILD_H
#define PCAPNG_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "block.h"

#define BLOCK_TEXT_MAX 4096		  /* bytes of all texts of a block */
#define BLOCK_ROOM (BLOCK_TEXT_MAX + 256) /* enough for a block without frame */
#define LINKTYPE_RADIOTAP 127

enum {
	OPT_COMMENT = 1,
	SHB_APPLICATION = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_TSRESOL = 9,
	ISB_START = 2,
	ISB_END = 3,
	ISB_RECEIVED = 4,
	ISB_IF_DROPPED = 5,
	ISB_OS_DROPPED = 7,
	EPB_PACKETID = 5,
};

uint8_t *put32(uint8_t *p, uint32_t v);
uint8_t *put16(uint8_t *p, uint16_t v);
/* Fills up to four bytes behind `len` bytes of something. */
uint8_t *put_padding(uint8_t *p, size_t len);
uint8_t *put_option(uint8_t *p, uint16_t code, const void *value, uint16_t len);

/* Returns where the block's content goes. */
uint8_t *block_begin(uint8_t *block, uint32_t type);
/* Returns the block's length. `p` is behind its options. */
size_t block_end(uint8_t *block, uint8_t *p);

/* Each lays out a whole block, and returns its length. */
/* `application`: the program that writes the file, and its version. `comment`: NULL: none. */
size_t block_section(uint8_t *block, const char *application, const char *comment);
/* `options`: finished ones, that are copied before the resolution. */
size_t block_interface(uint8_t *block, const uint8_t *options, size_t len);
size_t block_interface_named(uint8_t *block, const char *name, const char *description);
/* `received`: frames of the interface. */
size_t block_statistics(uint8_t *block, uint32_t interface, uint64_t ns, uint64_t received,
			const char *comment);
/* The head of a packet block with its frame. Returns where the options go. */
uint8_t *block_packet(uint8_t *block, uint32_t interface, uint64_t ns, const uint8_t *frame,
		      uint32_t kept, uint32_t whole);

#endif
