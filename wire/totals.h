/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensor's side of the ledger, as sealed in messages: running totals of one run, one varint
 * each in the order of this list, after their number (so either end may know more than the other).
 * Sent once a second and, with `final` set, several times at the end.
 *
 *     seen = filtered + ring_full + copy_failed + captured
 *     captured = exported + dropped_send + dropped_shutdown + in_ring
 *
 * A sensor may add the counters of each interface (info.h): those of the first equation, and
 * bad_fcs. The totals are the sums over all interfaces. Format: 1 byte number of interfaces, 1 byte
 * number of fields per interface, then the fields, one varint each.
 */
#ifndef WIRE_TOTALS_H
#define WIRE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#define TOTALS_INTERVAL_NS 1000000000ULL

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
	X(final, "1 when the run has ended")                                                       \
	X(in_ring, "frames left in the ring for the next agent, when this one stopped in order")   \
	X(dropped_store, "exported frames given up before the collector confirmed them")           \
	X(bad_fcs, "frames received with a wrong FCS, of those the filter takes")                  \
	X(level_changes, "changes of the compression level by --compress auto")                    \
	X(combos_lowered, "combos compressed below level 1, as the CPU was the limit")             \
	X(combos_raised, "combos compressed above level 1, as the network was the limit")          \
	X(store, "bytes of the store in use: combos that the collector has not confirmed")         \
	X(store_limit, "bytes of the store, of --store-bytes")

/* the names of the list above */
#define TOTALS_INTERFACE_FIELDS(X)                                                                 \
	X(seen) X(filtered) X(ring_full) X(copy_failed) X(captured) X(bad_fcs)
#define TOTALS_INTERFACES_MAX 8

struct totals_interface {
#define X(name) uint64_t name;
	TOTALS_INTERFACE_FIELDS(X)
#undef X
};

struct totals {
#define X(name, help) uint64_t name;
	TOTALS_FIELDS(X)
#undef X
	uint64_t interface_count; /* 0: no counters per interface */
	struct totals_interface interfaces[TOTALS_INTERFACES_MAX];
};

/* Kind and three counts, and a varint for every number. */
#define TOTALS_WIRE_MAX (4 + sizeof(struct totals) / 8 * 10)

/* Writes a MESSAGE_TOTALS message. Returns its bytes, at most TOTALS_WIRE_MAX. */
size_t totals_write(uint8_t *out, const struct totals *t);
/* Reads one. Fields unknown to the sender are 0. Fields and interfaces unknown to this end are
 * skipped. Returns 0 or -EBADMSG. */
int totals_read(struct totals *t, const uint8_t *in, size_t len);

#endif
