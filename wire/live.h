/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The live ring: shared memory in which saluki-collector shows written frames to viewers
 * (saluki-live), on the same machine and in its byte order. The collector does not know its
 * viewers, and never waits for one.
 *
 * A viewer connects to the collector's socket (SOCK_SEQPACKET), and gets one struct live_hello with
 * three descriptors: the ring, the table, and the reading end of a pipe. The pipe hangs up when the
 * collector has ended. The collector never reads from the socket, and closes it. Both memories are
 * sealed: their size is fixed, and only the collector can write to them.
 *
 * The ring is a struct live_ring, and from LIVE_DATA on `size` bytes. Positions only rise;
 * position p is byte p % size. A record is a struct live_record and the pcapng blocks of one combo,
 * or a statistics block between combos, and may continue at the ring's begin. A combo has one
 * record, also if its sensor sends it again. Bytes below `floor` are void. The writer:
 *
 *     writing++ (odd); floor = head + len - size; full fence;
 *     copy the record; head += len (release); the sensor's frames += ...; writing++ (release)
 *
 * A reader at `pos` takes head (acquire), and copies the record at `pos`. After an acquire fence it
 * reads `floor`: if floor > pos, the copy is void, and the reader goes on at `head`. Each record
 * has the number of the sensor's frames before it, so a reader knows how many it missed. Numbers
 * that the reader finds with the same even `writing` before and after belong together.
 *
 * The table is a struct live_table, LIVE_SENSORS_MAX of struct live_sensor, and two halves of
 * LIVE_HALF bytes of pcapng interface blocks. In a record, the interface of a packet or statistics
 * block is its interface block's offset in the half `generation` % 2, or LIVE_ANY in a statistics
 * block about the whole sensor. When a half is full, the writer increments `generation`, and after
 * a full fence begins the other half again. A reader copies a block, then an acquire fence, then
 * checks that `generation` is at most one ahead. Sensors change while `sensors_seq` is odd.
 *
 * A reader must not trust the ring and the table: an attacker in the collector may change them at
 * any time. The reader therefore copies data before it checks the copy.
 */
#ifndef WIRE_LIVE_H
#define WIRE_LIVE_H

#include <assert.h>
#include <stdint.h>

/* Whether two processes can share 64-bit numbers: MIPS32 cannot, and has no live ring. */
#define LIVE_POSSIBLE (__GCC_ATOMIC_LLONG_LOCK_FREE == 2)

#define LIVE_PATH "/run/saluki-collector/live"
#define LIVE_GROUP "saluki"
#define LIVE_MAGIC 0x4556494c /* "LIVE" */
#define LIVE_VERSION 1
#define LIVE_FDS 3

#define LIVE_DATA 4096 /* offset of the ring's data, and of the table's sensors */
#define LIVE_BYTES_DEFAULT (64 << 20)
#define LIVE_BYTES_MIN (4 << 20)
#define LIVE_BYTES_MAX (1 << 30)
#define LIVE_SENSORS_MAX 65536
#define LIVE_NAME_MAX 32 /* with its 0 byte */
#define LIVE_HALF (16 << 20)
#define LIVE_BLOCK_MAX 4096 /* bytes of an interface block */
#define LIVE_ANY UINT32_MAX

/* Where a long integer is aligned to 4, too. */
typedef uint64_t __attribute__((aligned(8))) live_number;

struct live_hello {
	uint32_t magic, version;
};

enum { LIVE_FD_RING, LIVE_FD_TABLE, LIVE_FD_END };

struct live_ring {
	uint32_t magic, version;
	live_number size; /* bytes of data, a multiple of 8 */
	live_number head, floor;
	uint32_t writing;
	uint32_t zero;
};

/* Its length is a multiple of 8: zeros follow the last block. */
struct live_record {
	uint32_t len; /* all its bytes, with this struct */
	uint32_t blocks_len;
	uint32_t sensor; /* index in the table */
	uint32_t generation;
	uint32_t frames; /* packet blocks in this record */
	uint32_t zero;
	live_number before; /* the sensor's frames before this record */
};

#define LIVE_RECORD_MAX (sizeof(struct live_record) + (1 << 20))

struct live_sensor {
	char name[LIVE_NAME_MAX];
	char group[LIVE_NAME_MAX]; /* "": none */
	live_number frames;	   /* so far */
	uint32_t id;
	uint32_t listed; /* in the sensors file */
};

struct live_table {
	uint32_t magic, version;
	uint32_t sensors; /* number of them */
	uint32_t sensors_seq;
	uint32_t generation;
};

#define LIVE_HALVES (LIVE_DATA + LIVE_SENSORS_MAX * sizeof(struct live_sensor))
#define LIVE_TABLE_BYTES (LIVE_HALVES + 2 * LIVE_HALF)

static inline uint64_t live_load(const live_number *p)
{
#if LIVE_POSSIBLE
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
	return *p;
#endif
}

static inline void live_store(live_number *p, uint64_t v)
{
#if LIVE_POSSIBLE
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
	*p = v;
#endif
}

static_assert(sizeof(struct live_ring) == 40, "same on all machines");
static_assert(sizeof(struct live_record) == 32, "a record begins at a multiple of 8");
static_assert(sizeof(struct live_sensor) == 80, "same on all machines");

#endif
