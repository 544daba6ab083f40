/* SPDX-License-Identifier: GPL-2.0 */
/* Section: what section headers of our programs say, for who reads the files later. */
#ifndef PCAPNG_SECTION_H
#define PCAPNG_SECTION_H

/* The application: this and the version. */
#define SECTION_COLLECTOR "saluki-collector "
#define SECTION_MERGE "saluki-merge "
#define SECTION_FOUND "saluki-keep find " /* what a search has found */

#define SECTION_COMMENT_MAX 512
/* A comment of a file that its collector will delete (-W), with the ring's name between. */
#define SECTION_RING_BEGIN "in the ring of -w "
#define SECTION_RING_END ": the oldest files are deleted (-W)"
/* Another one: the collector leaves this free on the disk. Bytes, and a percentage or 0. */
#define SECTION_KEEP_FREE_FORMAT "--keep-free: %llu bytes, %u %%"
/* A comment of a unified trace: its number, the same in all of its files: the time of its first
 * transmission, in nanoseconds since 1970. */
#define SECTION_TRACE_FORMAT "trace %llu"

/* In a comment of an interface: where its sensor is, as words of the sensors file with blanks
 * between them. Only the group follows. */
#define SECTION_PLACE ", "
#define SECTION_FLOOR "floor="
/* The same, before the name of its sensor's group, which ends the comment. */
#define SECTION_GROUP ", group "

/* The comment of a frame that came while its radio changed the channel. */
#define FRAME_UNSETTLED "heard while the radio was changing channel"

#endif
