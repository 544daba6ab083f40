/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the pcapng format (draft-ietf-opsawg-pcapng) that are written and read. */
#ifndef COMMON_PCAPNG_FORMAT_H
#define COMMON_PCAPNG_FORMAT_H

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2, /* obsolete */
	BLOCK_SIMPLE = 3,     /* a packet without a time stamp */
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_CUSTOM = 0xbad,
};

#define SECTION_MAGIC 0x1a2b3c4d

/* A combo's name: a binary option that tools do not copy, with the enterprise number for examples
 * (RFC 5612). */
#define OPT_CUSTOM 19373
#define ENTERPRISE 32473
/* A binary option of the same enterprise, which tools may copy, describes a sensor's clocks. Its
 * first byte after the enterprise is one of the types below (saluki-files(5)). All numbers are in
 * network byte order. */
#define OPT_CLOCK 2989
enum {
	CLOCK_READINGS = 1,
	CLOCK_WATERMARK = 2,
	CLOCK_OFFSET = 3,
};
/* A module's event is a custom block of the same enterprise: bytes before its line of JSON. */
#define MODULE_EVENT_HEAD 16
#define NAME_LEN 34
#define NAME_LEN_EVENTS 36
#define NAME_LEN_REFUSED 40

#endif
