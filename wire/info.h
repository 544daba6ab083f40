/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sensor's description: "key=value\n" lines, in the handshake of a session (tryst.h) and, after a
 * change during the session, in a message of its own:
 *
 *     MESSAGE_INFO     kind 1, the same lines                         sensor -> collector
 *
 *     application    name and version
 *     os             system, release, machine
 *     exported       frames of this run in combos sent before this was written
 *     change         rises with every change, so that one that was overtaken is known
 *     round_trip_us  the shortest of late between the two, as the sensor has measured it
 *     ahead_us       its machine's clock is before the collector's by so much, or
 *     behind_us      behind it
 *     links          if an interface is not up, a letter for each interface: INFO_LINK_
 *     trusts         the collector's other public key that the sensor trusts: its first characters
 *     interface.N    name of the interface that frames call N, 0 to 7; with -r the file's
 *     source.N       how it is captured: "xdp native", "tc", ...
 *     snaplen.N      bytes kept of a frame, at most
 *     keep.N         "headers" or "all"
 *     filter.N       the filter's text
 *
 * Empty and 0 values are left out. Unknown keys are skipped. If the lines exceed INFO_LEN_MAX, the
 * filters are truncated, then the other texts of interfaces: all to the same length, with "..." at
 * the end.
 *
 * The lasting part is all lines except momentary ones: exported, round_trip_us, ahead_us,
 * behind_us, links and trusts. A spool keeps the lasting part beside the combos (docs/wire.md,
 * "Spool").
 */
#ifndef WIRE_INFO_H
#define WIRE_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "message.h"
#include "tryst.h"

#define INFO_LEN_MAX TRYST_INFO_MAX
#define INFO_LASTING_MAX 920 /* leaves room for a spool's key before them */
#define INFO_INTERFACES_MAX 8

/* Letters of `links`. */
#define INFO_LINK_UP 'u'
#define INFO_LINK_NO_CARRIER 'c'
#define INFO_LINK_DOWN 'd'
#define INFO_LINK_ABSENT 'a'

/* Texts are printable ASCII, padded with zeros, so that memcmp compares interfaces. */
struct info_interface {
	char name[64], source[32], keep[16], filter[256];
	uint32_t snaplen;
};

struct info {
	char application[64], os[128];
	uint64_t exported, change;
	uint64_t round_trip_us, ahead_us, behind_us;
	char links[INFO_INTERFACES_MAX + 1]; /* "": all are up */
	char trusts[KEY_SHORT_LEN];
	uint32_t count; /* interfaces: the highest N plus 1 */
	struct info_interface interfaces[INFO_INTERFACES_MAX];
};

struct info_lasting {
	uint64_t change;
	size_t len;
	char text[INFO_LASTING_MAX + 1];
};

/* Copies `text`, truncated with "..." if longer than `size` - 1 bytes. Bytes outside printable
 * ASCII become blanks. The rest of `out` is 0. */
void info_text(char *out, size_t size, const char *text);

/* Writes the lines and a terminating 0. Returns their bytes, at most INFO_LEN_MAX. Every line has
 * room, whatever `i` contains. */
size_t info_write(char out[INFO_LEN_MAX + 1], const struct info *i);
/* Writes the lasting part, with all its lines. */
void info_write_lasting(struct info_lasting *out, const struct info *i);
/* Reads any bytes. Skips malformed and unknown lines; the last line for a key counts. */
void info_read(struct info *i, const void *in, size_t len);

#define INFO_MESSAGE_MAX (1 + INFO_LEN_MAX)
_Static_assert(INFO_MESSAGE_MAX + SHROUD_OVERHEAD <= SHROUD_DATAGRAM_PADDED - 2, "one datagram");

#endif
