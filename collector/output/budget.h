/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Budget: how much of the disk each sensor may still use. In: what the file system has left, what
 * was written. Out: whether anything may be written, and whether one sensor's frames must wait.
 *
 *     room    = free space - --keep-free
 *     recent  = bytes written in the last BUDGET_RECENT_NS, by all sensors
 *     reserve = file system / BUDGET_PART, at most BUDGET_RESERVE_MAX
 *     writers = sensors that wrote in the last BUDGET_WROTE_NS
 *
 * What an operator is promised, where several sensors are listed:
 *
 *  - A sensor is not held while the disk has room, whatever its rate and however many idle sensors
 *    there are. The disk has room while room >= reserve and, beside other writers, while
 *    room >= recent: it lasts another minute at the present rate.
 *  - The reserve is shared by all sensors, also by those that are quiet now. No sensor can use more
 *    than its share of it, however long it writes. Above the reserve, a sudden flood beside other
 *    writers is slowed: it has half of the room at once, then half of the rest in some 90 seconds.
 *  - A sensor that is held goes on within two seconds when files are deleted.
 *  - A sensor that has written less than its share is not held, whatever others write.
 *
 * The rule: space is scarce when room < recent and there are several writers, or when
 * room < reserve. Both count what each sensor writes from then on. A sensor is held once that is
 *
 *     share   = (room + spent by all) / n
 *
 * or 2 * room, if that is less. n is one more than the writers or, in the reserve, one more than
 * the listed sensors; at most BUDGET_SHARES, and in the reserve so few that a share is not less
 * than BUDGET_SHARE_MIN. The bracket is what was free when space became scarce, so writing does not
 * change a share. Deleted files are taken off what sensors have spent, in proportion. Space is not
 * scarce any more when room >= reserve and room >= 2 * recent. `recent` falls while sensors are
 * held, so above the reserve a hold lasts for a minute or two. In the reserve, only deleted files
 * end it.
 *
 * What it does not give:
 *
 *  - A sensor that writes for long can use all but the reserve. A tap and a slow flood look alike.
 *  - k bad sensors leave 1 - k / n of the reserve, less two combos each: space becomes scarce after
 *    a combo, and a sensor is held after one. If there are n or more, they leave 1 / (2 k + 1) of
 *    it when they write at once. One after the other they can leave nothing.
 *  - In the reserve a lone honest writer is held, too. A job that deletes old files should begin
 *    before.
 *  - A new start of the collector forgets what was spent.
 *  - Where a share of the reserve would be less than BUDGET_SHARE_MIN with n = 2, that is on file
 *    systems of less than 64 MB, the reserve is not shared: who comes first has it.
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
