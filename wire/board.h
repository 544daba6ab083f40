/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The board: shared memory in which saluki-collector shows the state of all sensors, once a second,
 * to programs on the same machine and in its byte order. It has no frames and no keys.
 *
 * A program connects to the collector's socket (SOCK_SEQPACKET), and gets one struct board_hello
 * with a descriptor of the memory, which it can only read. The collector reads nothing from the
 * socket, and closes it.
 *
 * The memory is a struct board, and from BOARD_DATA on BOARD_SLOTS slots of BOARD_SLOT_BYTES. A
 * slot is a struct board_collector, BOARD_SENSORS_MAX of struct board_sensor, and
 * BOARD_INTERFACES_MAX of struct board_interface. State n is in slot n % BOARD_SLOTS. The writer:
 *
 *     full fence; write state n; published = n (release)
 *
 * A reader takes n = published (acquire), copies state n, and after an acquire fence reads
 * `published` again: if it is above n + 1, the copy is void. State n - 1 can be copied too; that
 * copy is void if `published` is above n. `published` is 0 until the first state.
 *
 * Texts end with a 0 byte. Times are microseconds since 1970-01-01 UTC; 0: none. A reader must
 * expect lies: of a collector that was taken over, everything may be wrong, and may change at any
 * time. A reader copies data before it checks the copy (board_read.h).
 */
#ifndef WIRE_BOARD_H
#define WIRE_BOARD_H

#include <assert.h>
#include <stdint.h>

#include "totals.h"

#define BOARD_PATH "/run/saluki-collector/board"
#define BOARD_GROUP "saluki-board"
#define BOARD_MAGIC 0x44524f42 /* "BORD" */
#define BOARD_VERSION 1

#define BOARD_SLOTS 3
#define BOARD_DATA 4096
#define BOARD_SENSORS_MAX 65536
#define BOARD_INTERFACES_MAX 65536
#define BOARD_NAME_MAX 32 /* with its 0 byte */
#define BOARD_ADDRESS_MAX 28

/* Where a long integer is aligned to 4, too. */
typedef uint64_t __attribute__((aligned(8))) board_number;

struct board_hello {
	uint32_t magic, version;
};

struct board {
	uint32_t magic, version;
	uint32_t published;
	uint32_t zero;
};

/* Counters of the collector's network. Name, meaning. */
#define NETWORK_COUNTERS(X)                                                                        \
	X(datagrams, "datagrams received")                                                         \
	X(bytes, "bytes of UDP payload received")                                                  \
	X(not_ours, "datagrams under unknown or spent addresses")                                  \
	X(not_authentic, "datagrams under a known address that do not open")                       \
	X(set_ups, "set-ups answered")                                                             \
	X(limited_set_ups, "set-ups beyond HANDSHAKE_INITS_A_SECOND")                              \
	X(ignored_set_ups, "set-ups ignored: overtaken, or invalid one-way ones")                  \
	X(busy_set_ups, "set-ups refused: another instance is active")                             \
	X(questions, "requests for the time and a cookie that were answered")                      \
	X(limited_questions, "requests beyond the limits of handshake_requests.h")                 \
	X(repeated_requests, "repeated requests")                                                  \
	X(refused_requests, "requests that are unlisted, unproved or expired")                     \
	X(other_versions, "set-ups and requests of another protocol version")                      \
	X(limited_messages, "messages of sensors beyond the limits of message_limit.h")            \
	X(alternations, "sessions that alternate between two processes with one key")              \
	X(announcements, "set-ups of one-way sessions, and their repetitions")                     \
	X(sessions, "sessions begun by set-up")                                                    \
	X(renewals, "sessions begun by renewal")                                                   \
	X(moves, "sessions that moved to another address")                                         \
	X(sent, "datagrams sent")

struct network_counters {
#define X(name, help) board_number name;
	NETWORK_COUNTERS(X)
#undef X
};

/* The collector's other counters. */
#define BOARD_COLLECTOR_COUNTERS(X)                                                                \
	X(kernel_dropped, "datagrams without room in the socket's buffer")                         \
	X(write_errors, "failed writes to the output")                                             \
	X(holds, "times that the output waited for disk space")                                    \
	X(lines_written, "modules' events written to files of --events")                           \
	X(lines_lost, "modules' events that a failed write lost")                                  \
	X(lines_refused, "modules' events that were no line")                                      \
	X(lines_recovered, "modules' events completed from the capture at the start")

struct board_collector {
	board_number time_us; /* of this state */
	board_number begun_us;
	board_number interval_ns; /* between this state and the previous one */
	char version[32];
	char file[256];			   /* the output's name; may be cut */
	uint32_t holding;		   /* 1: the output waits for disk space */
	uint32_t sensors;		   /* records that follow */
	uint32_t interfaces;		   /* as well */
	uint32_t not_shown;		   /* interfaces without room */
	board_number disk_free, keep_free; /* bytes; both 0: not limited */
	struct network_counters network;
#define X(name, help) board_number name;
	BOARD_COLLECTOR_COUNTERS(X)
#undef X
};

/* Whether a sensor is heard. */
enum board_presence {
	BOARD_NEVER, /* not since the collector's start */
	BOARD_UP,
	BOARD_SILENT, /* no datagram for --silent-after */
	BOARD_ENDED,  /* it ended in order */
	BOARD_PRESENCES
};

/* The collector's counters for a sensor, beside the sensor's own totals (totals.h). All are sums
 * over the sensor's runs. Name, meaning. */
#define BOARD_SENSOR_COUNTERS(X)                                                                   \
	X(runs, "runs of the sensor")                                                              \
	X(vanished, "frames captured, and lost with a sensor that did not end in order")           \
	X(written, "frames written")                                                               \
	X(lost_missing, "frames that did not arrive")                                              \
	X(lost_disk, "frames that a failed write lost")                                            \
	X(lost_refused, "frames that were refused")                                                \
	X(earlier, "frames exported before this collector's start")                                \
	X(in_flight, "frames exported and not yet written")                                        \
	X(received_bytes, "bytes of UDP payload received from the sensor")                         \
	X(bad_combos, "combos that were malformed")                                                \
	X(bad_pieces, "pieces of combos that were malformed")                                      \
	X(bad_messages, "messages that were malformed")                                            \
	X(duplicate_pieces, "pieces of combos received again")                                     \
	X(bad_events, "events of modules that were malformed")                                     \
	X(unknown_events, "events of modules of an unknown kind")                                  \
	X(module_events, "events of modules")

struct board_sensor {
	char name[BOARD_NAME_MAX], group[BOARD_NAME_MAX]; /* group "": none */
	uint8_t address[BOARD_ADDRESS_MAX];		  /* struct sockaddr_in or sockaddr_in6 */
	uint32_t address_len;				  /* 0: none */
	char application[64];				  /* name and version */
	uint32_t id;
	uint32_t listed;       /* in the sensors file */
	uint32_t presence;     /* enum board_presence */
	uint32_t one_way;      /* it gets no ACKs */
	uint32_t held;	       /* its frames wait for disk space */
	uint32_t interfaces;   /* numbers of them */
	board_number heard_us; /* last datagram */
	board_number run;      /* id */
	board_number round_trip_us;
	board_number ahead_us, behind_us; /* of its clock, against the collector's */
	board_number balance;		  /* of the ledger: 0 if all frames are accounted for */
#define X(name, help) board_number name;
	BOARD_SENSOR_COUNTERS(X)
#undef X
#define X(name, help) board_number name;
	struct {
		TOTALS_FIELDS(X)
	} totals; /* the sensor's; `final` is the present run's */
#undef X
};

struct board_interface {
	uint32_t sensor; /* index of its record */
	uint32_t number; /* the sensor's: 0 to 7 */
	char name[64], source[32], keep[16], filter[256];
	uint32_t snaplen, zero;
#define X(name) board_number name;
	TOTALS_INTERFACE_FIELDS(X)
#undef X
};

#define BOARD_SENSORS_AT 4096 /* in a slot */
#define BOARD_INTERFACES_AT (BOARD_SENSORS_AT + BOARD_SENSORS_MAX * sizeof(struct board_sensor))
#define BOARD_SLOT_BYTES                                                                           \
	(BOARD_INTERFACES_AT + BOARD_INTERFACES_MAX * sizeof(struct board_interface))
#define BOARD_BYTES (BOARD_DATA + BOARD_SLOTS * BOARD_SLOT_BYTES)

static_assert(sizeof(struct board_collector) <= BOARD_SENSORS_AT, "a slot's first page");
static_assert(sizeof(struct board_sensor) % 8 == 0, "same on all machines");
static_assert(sizeof(struct board_interface) % 8 == 0, "same on all machines");
static_assert(BOARD_SLOT_BYTES % 8 == 0, "slots are aligned");

#endif
