/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensor's side of the ledger, as it travels inside the seal: running totals of one run, a
 * varint each in the order of this list, behind a count of them (so that either end may know
 * more than the other). Sent once a second and, with `final` set, several times at the end.
 *
 *     seen = filtered + ring_full + copy_failed + captured
 *     captured = exported + dropped_send + dropped_shutdown
 */
#ifndef WIRE_TOTALS_H
#define WIRE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

/* name, what it counts */
#define TOTALS_FIELDS(X)                                                                           \
	X(seen, "frames at the capture hook")                                                      \
	X(filtered, "frames the filter refused")                                                   \
	X(ring_full, "frames without space in the ring")                                           \
	X(copy_failed, "frames the kernel would not copy")                                         \
	X(captured, "frames taken into the ring")                                                  \
	X(malformed, "captured frames with a header that lies")                                    \
	X(exported, "frames in combos sent")                                                       \
	X(dropped_send, "frames in combos that the network refused")                               \
	X(dropped_shutdown, "frames left when the sensor stopped without a collector")             \
	X(combos, "combos sent")                                                                   \
	X(datagrams, "datagrams sent")                                                             \
	X(seen_bytes, "bytes of all frames seen")                                                  \
	X(kept_bytes, "bytes of frames kept")                                                      \
	X(body_bytes, "bytes of combos before compression")                                        \
	X(sent_bytes, "bytes of UDP payload sent")                                                 \
	X(final, "1 when the run has ended")

struct totals {
#define X(name, help) uint64_t name;
	TOTALS_FIELDS(X)
#undef X
};

#define TOTALS_WIRE_MAX (2 + sizeof(struct totals) / 8 * 10)

/* Writes kind, count and fields. Returns the bytes written, at most TOTALS_WIRE_MAX. */
size_t totals_write(uint8_t *out, const struct totals *t);
/* Reads a PIECE_TOTALS message. Fields the sender did not know are 0, fields this end does not
 * know are skipped. Returns 0 or -EBADMSG. */
int totals_read(struct totals *t, const uint8_t *in, size_t len);

#endif
