/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Budget: how much of the disk each sensor may still use. In: the file system's free space, and the
 * bytes written. Out: whether anything may be written, and whether one sensor's frames must wait.
 *
 *     room    = free space - --keep-free
 *     recent  = bytes written in the last BUDGET_RECENT_NS, by all sensors
 *     reserve = file system / BUDGET_PART, at most BUDGET_RESERVE_MAX
 *     writers = sensors that wrote in the last BUDGET_WROTE_NS
 *
 * Guarantees, if several sensors are listed:
 *
 *  - No sensor is held while the disk has room, at any rate and with any number of idle sensors.
 *    The disk has room while room >= reserve. If there are other writers, room >= recent must hold
 *    too: the room then lasts another minute at the present rate.
 *  - All sensors share the reserve, also sensors that do not write now. No sensor can use more than
 *    its share of the reserve, however long it writes. Above the reserve, a sudden flood is slowed
 *    if there are other writers: it may use half of the room at once, then half of the rest in
 *    about 90 seconds.
 *  - A held sensor continues within two seconds after files were deleted.
 *  - A sensor that has written less than its share is not held, whatever the others write.
 *
 * The rule: space becomes scarce when room < recent and there are several writers, or when
 * room < reserve. Then the budget starts to count each sensor's bytes. A sensor is held when it has
 * written
 *
 *     share   = (room + bytes of all sensors) / n
 *
 * or 2 * room, if that is less. n is writers + 1, in the reserve listed sensors + 1, and at most
 * BUDGET_SHARES. In the reserve, n is also limited so that a share has at least BUDGET_SHARE_MIN.
 * The sum in brackets is the room at the time when space became scarce, so writing does not change
 * a share. If files are deleted, the sensors' counts decrease in proportion. Space is no longer
 * scarce when room >= reserve and room >= 2 * recent. `recent` falls while sensors are held, so
 * above the reserve a hold lasts for a minute or two. In the reserve, only deleting files ends a
 * hold.
 *
 * Limits:
 *
 *  - A sensor that writes for long can use all room except the reserve. The budget cannot
 *    distinguish a tap from a slow flood.
 *  - k bad sensors leave 1 - k / n of the reserve, less two combos each: space becomes scarce after
 *    one combo, and a sensor is held after one more. n or more bad sensors leave 1 / (2 k + 1) of
 *    the reserve if they write at once. If they write one after the other, they can leave nothing.
 *  - In the reserve, a single honest writer is held, too. A job that deletes old files should begin
 *    earlier.
 *  - A restarted collector has forgotten the sensors' counts.
 *  - On file systems of less than 64 MB, a share would be less than BUDGET_SHARE_MIN with n = 2.
 *    Such a reserve is not shared: the first sensors to write can use all of it.
 */
#ifndef COLLECTOR_OUTPUT_BUDGET_H
#define COLLECTOR_OUTPUT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_RECENT_NS 60000000000ULL
#define BUDGET_PART 32
#define BUDGET_RESERVE_MAX 16000000000ULL
#define BUDGET_SHARES 32
#define BUDGET_SHARE_MIN (1ULL << 20) /* the largest size of a combo in a file */
#define BUDGET_WROTE_NS 3600000000000ULL
#define BUDGET_LOOK_NS 1000000000ULL /* interval of counting sensors */

struct sensor;
struct sensors;

struct budget {
	bool on;		    /* the current output's file system reports its space */
	bool fits;		    /* the buffer's data left --keep-free free at that time */
	uint64_t keep, free;	    /* bytes; `free` minus all unwritten data */
	uint64_t size;		    /* bytes of the file system */
	uint64_t asked_ns;	    /* CLOCK_MONOTONIC */
	uint64_t reserve;	    /* bytes */
	uint64_t recent, recent_ns; /* at CLOCK_MONOTONIC `recent_ns` */
	bool scarce;		    /* since then: */
	uint64_t began;		    /* the room at the begin */
	uint64_t spent;		    /* by all sensors */
	bool in_reserve;	    /* scarce because of the reserve */
	unsigned int listed;	    /* sensors, as of `looked_ns` */
	unsigned int writers;	    /* writers in the last BUDGET_WROTE_NS */
	uint64_t looked_ns;
};

/* Bytes above --keep-free. */
uint64_t budget_room(const struct budget *b);
/* Takes the state of a file system of `size` bytes. `free` excludes space for unwritten data. */
void budget_asked(struct budget *b, const struct sensors *sensors, uint64_t free, uint64_t keep,
		  uint64_t size, uint64_t now_ns);
/* Adds bytes of a sensor that will be written. */
void budget_spend(struct budget *b, const struct sensors *sensors, struct sensor *s, uint64_t len,
		  uint64_t now_ns);
/* Returns the limit of a sensor's `spent`; UINT64_MAX: no limit. */
uint64_t budget_share(const struct budget *b);

#endif
