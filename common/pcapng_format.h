/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the pcapng format (draft-ietf-opsawg-pcapng) that are written and read. */
#ifndef COMMON_PCAPNG_FORMAT_H
#define COMMON_PCAPNG_FORMAT_H

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_CUSTOM = 0xbad,
};

#define SECTION_MAGIC 0x1a2b3c4d

/* A combo's name: a binary option that tools do not copy, with the enterprise number for examples
 * (RFC 5612). */
#define OPT_CUSTOM 19373
#define ENTERPRISE 32473
#define NAME_LEN 34
#define NAME_LEN_EVENTS 36
#define NAME_LEN_REFUSED 40

#endif
