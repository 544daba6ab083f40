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
 * slot is a struct board_collector, the sensors, and the tables of BOARD_TABLES, each with room for
 * its most records. Pages that nobody has written take no memory; so sensors' counters are apart
 * from the rest, and are only there for sensors that were heard. State n is in slot n %
 * BOARD_SLOTS. The writer:
 *
 *     full fence; write state n; published = n (release)
 *
 * A reader takes n = published (acquire), copies state n, and after an acquire fence reads
 * `published` again: if it is above n + 1, the copy is void. State n - 1 can be copied too; that
 * copy is void if `published` is above n. `published` is 0 until the first state.
 *
 * Texts end with a 0 byte. Times are microseconds since 1970-01-01 UTC; 0: none. A reader must
 * expect lies: of a collector that was taken over, everything may be wrong, and may change at any
 * time. A reader copies data before it checks the copy (read.h).
 */
#ifndef BOARD_BOARD_H
#define BOARD_BOARD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/totals.h"

#define BOARD_PATH "/run/saluki-collector/board"
#define BOARD_GROUP "saluki-board"
#define BOARD_MAGIC 0x44524f42 /* "BORD" */
#define BOARD_VERSION 1

#define BOARD_SLOTS 3
#define BOARD_DATA 4096
#define BOARD_SENSORS_MAX 65536
#define BOARD_INTERFACES_MAX 65536
#define BOARD_CHANNELS_MAX 262144
#define BOARD_MODULES_MAX 65536
#define BOARD_GROUPS_MAX 256
/* Most records of a sensor, or of an interface. */
#define BOARD_INTERFACES_EACH 8
#define BOARD_CHANNELS_EACH 128
#define BOARD_MODULES_EACH 32
#define BOARD_REFUSED_MAX 64
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

/* What saluki-kafka says of itself (wire/put.h). All is 0 without --sink or --source. */
struct board_kafka {
	uint32_t used;		 /* 1: the option is given */
	uint32_t connected;	 /* 1: saluki-kafka is there */
	board_number stopped_us; /* the last progress, while saluki-kafka is away, gives a reason,
				    or leaves messages waiting; 0: all is well */
	char why[256];		 /* the reason that it gives; "": all is well */
	char topic[256], brokers[256];
};

/* Messages of --sink. Name, meaning. */
#define BOARD_SINK_COUNTERS(X)                                                                     \
	X(delivered, "messages that the brokers have")                                             \
	X(refused, "messages that the brokers will never take")                                    \
	X(skipped, "totals and ledgers that were left out")

#define BOARD_ACKS 16

struct board_sink {
	struct board_kafka kafka;
	uint32_t full, zero; /* `full`: nothing more fits, so sensors' frames wait */
	board_number waiting, waiting_bytes; /* messages that the brokers have not confirmed */
	board_number oldest_us;		     /* when the first of them was put; 0: none waits */
#define X(name, help) board_number name;
	BOARD_SINK_COUNTERS(X)
#undef X
	/* Messages confirmed within less than 2^n ms; the last class has all others. */
	board_number acks[BOARD_ACKS], acks_ns; /* the latter: the sum of the times */
};

/* Messages of --source. Each is in one of these. Name, meaning. */
#define BOARD_SOURCE_COUNTERS(X)                                                                   \
	X(combos, "combos taken")                                                                  \
	X(repeated, "combos and totals that were taken before")                                    \
	X(bad, "malformed messages")                                                               \
	X(unknown_record, "combos of sensors whose record has not come")                           \
	X(no_place, "combos of too many sensors, or without memory")                               \
	X(totals, "sensors' totals and progress taken")                                            \
	X(records, "sensors' records")                                                             \
	X(others, "messages of other topics")

struct board_source {
	struct board_kafka kafka;
	board_number lag;      /* messages that are still in the topic */
	board_number messages; /* received */
#define X(name, help) board_number name;
	BOARD_SOURCE_COUNTERS(X)
#undef X
};

struct board_collector {
	board_number time_us; /* of this state */
	board_number begun_us;
	board_number interval_ns; /* between this state and the previous one */
	board_number silent_ns;	  /* --silent-after */
	char version[32];
	char file[256];	  /* the output's name; may be cut */
	uint32_t holding; /* 1: the output waits for disk space */
	uint32_t sensors, interfaces, channels, modules, groups, refused; /* records */
	uint32_t not_shown; /* interfaces, channels and modules without room */
	board_number disk_free,
		disk_size;	    /* bytes of the output's file system; both 0: not known */
	board_number keep_free;	    /* bytes of --keep-free; 0: no limit */
	board_number written_us;    /* last successful write to the output; 0: none yet */
	board_number written_bytes; /* to the output, by this collector */
	board_number pool_bytes, pool_limit; /* pieces of combos that wait for the others */
	struct network_counters network;
#define X(name, help) board_number name;
	BOARD_COLLECTOR_COUNTERS(X)
#undef X
	/* New members come at the end: there, other releases have 0. */
	struct board_sink sink;
	struct board_source source;
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

/* Bits of `placed`: which of the sensors file's words the sensor has. */
#define BOARD_PLACED_FLOOR 1
#define BOARD_PLACED_X 2
#define BOARD_PLACED_Y 4

struct board_sensor {
	char name[BOARD_NAME_MAX], group[BOARD_NAME_MAX]; /* group "": none */
	uint8_t address[BOARD_ADDRESS_MAX];		  /* struct sockaddr_in or sockaddr_in6 */
	uint32_t address_len;				  /* 0: none */
	char application[64];				  /* name and version */
	uint32_t id;
	uint32_t listed;     /* in the sensors file */
	uint32_t presence;   /* enum board_presence */
	uint32_t one_way;    /* it gets no ACKs */
	uint32_t held;	     /* its frames wait for disk space */
	uint32_t interfaces; /* number of them */
	uint32_t placed;     /* BOARD_PLACED_ bits */
	int32_t floor;
	uint32_t counted; /* 0: it has had no run */
	uint32_t zero;
	double x, y;	       /* metres */
	board_number heard_us; /* last datagram, also before this collector's start */
	board_number run;      /* id */
	board_number round_trip_us;
	board_number ahead_us, behind_us; /* of its clock, against the collector's */
	board_number newest_us;		  /* newest stamp of a frame taken, by its clock */
	board_number twice_us;		  /* two machines used its key, at the latest then */
	board_number held_disk_ns;	  /* sum of the times for which it was `held` */
	board_number balance;		  /* of the ledger: 0 if all frames are accounted for */
					  /* From here on all is 0 until the first run. */
#define X(name, help) board_number name;
	BOARD_SENSOR_COUNTERS(X)
#undef X
#define X(name, help) board_number name;
	struct {
		TOTALS_FIELDS(X)
	} totals; /* the sensor's; `final`, `store` and `store_limit` are the present run's */
#undef X
};

struct board_interface {
	uint32_t sensor; /* index of its record */
	uint32_t number; /* the sensor's: 0 to 7 */
	char name[64], source[32], keep[16], filter[256];
	char state[16]; /* "down", "no carrier", "absent"; "": up, or not known */
	uint32_t snaplen;
	uint32_t radio;	      /* 1: its frames are 802.11 */
	board_number rose_us; /* when `seen` was last seen to rise */
#define X(name) board_number name;
	TOTALS_INTERFACE_FIELDS(X)
#undef X
	/* Coverage (collector/model/coverage.h), of the present run. All 0: no channels sampled. */
	board_number from_ns, to_ns;   /* of all dwells, since 1970-01-01 UTC */
	board_number begin_ns, end_ns; /* the same, by a clock that is never set */
	board_number other_dwells;     /* of channels without room */
};

/* A channel that an interface has listened to, in its sensor's present run. */
struct board_channel {
	uint32_t interface;	     /* index of its record */
	uint32_t mhz, width, center; /* as struct radio_channel */
	board_number dwells, listened_ns, frames, marked, switch_ns, failures;
};

/* A module's events from one sensor. */
struct board_module {
	uint32_t sensor, zero; /* index of the sensor's record */
	char name[32];
	board_number events, last_us;
};

struct board_group {
	char name[BOARD_NAME_MAX];
	char channels[900];	   /* its plan; "": none */
	uint32_t members, present; /* sensors */
	uint32_t zero;
	board_number refocused; /* focuses set by rules */
};

/* Why a sensor is refused. */
enum board_reason {
	BOARD_UNLISTED,	     /* its public key is not in the sensors file */
	BOARD_UNPROVED,	     /* its preshared key is another one */
	BOARD_OTHER_VERSION, /* of the protocol */
	BOARD_TWICE,	     /* another machine uses its key, and is heard */
	BOARD_WRONG_KEY,     /* it probably has another collector's key */
	BOARD_REASONS
};

/* A key, or an address, that is refused; the newest ones. */
struct board_refused {
	uint32_t reason; /* enum board_reason */
	uint32_t address_len;
	uint8_t address[BOARD_ADDRESS_MAX]; /* of the last datagram */
	uint32_t zero;
	char name[BOARD_NAME_MAX]; /* the sensor's; "": not known */
	char key[48];		   /* its public key as text; "": not known */
	board_number first_us, last_us, count;
};

/* The tables, in their order in a slot. Name (of the count in struct board_collector), type of a
 * record, most records. */
#define BOARD_TABLES(X)                                                                            \
	X(interfaces, struct board_interface, BOARD_INTERFACES_MAX)                                \
	X(channels, struct board_channel, BOARD_CHANNELS_MAX)                                      \
	X(modules, struct board_module, BOARD_MODULES_MAX)                                         \
	X(groups, struct board_group, BOARD_GROUPS_MAX)                                            \
	X(refused, struct board_refused, BOARD_REFUSED_MAX)

#define BOARD_HEAD_BYTES offsetof(struct board_sensor, runs)
#define BOARD_COUNTS_BYTES (sizeof(struct board_sensor) - BOARD_HEAD_BYTES)

/* A slot. */
struct board_slot {
	union {
		struct board_collector collector;
		uint8_t page[4096];
	};
	uint8_t heads[BOARD_SENSORS_MAX][BOARD_HEAD_BYTES]; /* of struct board_sensor */
	uint8_t counts[BOARD_SENSORS_MAX][BOARD_COUNTS_BYTES];
#define X(name, type, most) type name[most];
	BOARD_TABLES(X)
#undef X
};

#define BOARD_SLOT_BYTES sizeof(struct board_slot)
#define BOARD_BYTES (BOARD_DATA + BOARD_SLOTS * BOARD_SLOT_BYTES)

static_assert(sizeof(struct board_collector) <= 4096, "a slot's first page");
static_assert(BOARD_HEAD_BYTES % 8 == 0 && sizeof(struct board_sensor) % 8 == 0,
	      "same on all machines");
#define X(name, type, most) static_assert(sizeof(type) % 8 == 0, "same on all machines");
BOARD_TABLES(X)
#undef X

static inline void board_sensor_write(struct board_slot *slot, uint32_t i,
				      const struct board_sensor *s)
{
	memcpy(&slot->heads[i], s, BOARD_HEAD_BYTES);
	if (s->counted)
		memcpy(slot->counts[i], &s->runs, BOARD_COUNTS_BYTES);
}

static inline void board_sensor_read(struct board_sensor *s, const struct board_slot *slot,
				     uint32_t i)
{
	*s = (struct board_sensor){ 0 };
	memcpy(s, slot->heads[i], BOARD_HEAD_BYTES);
	if (s->counted)
		memcpy(&s->runs, slot->counts[i], BOARD_COUNTS_BYTES);
}

/* The slot of state n. */
static inline struct board_slot *board_slot(const struct board *map, uint32_t n)
{
	return (struct board_slot *)((uint8_t *)map + BOARD_DATA) + n % BOARD_SLOTS;
}

#endif
