/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Board: shows the state of all sensors to other programs, in memory that they map (board/board.h).
 * The privileged process makes the memory and hands it out. The receiving process writes a state
 * once a second, without a lock and without waiting.
 */
#ifndef COLLECTOR_BOARD_BOARD_H
#define COLLECTOR_BOARD_BOARD_H

#include "collector/files/handout.h"
#include "board/board.h"
#include "kafka.h"

struct network;
struct receive;
struct groups;

/* ---- the privileged process ------------------------------------------------------------------ */

/* Makes the memory, and maps it at `*map`. Call it before the processes divide. Before Linux 5.1,
 * and with a limit to the sizes of files (RLIMIT_FSIZE), only this process and its children can
 * have it, and board_listen() fails. Returns 0 or -errno. */
int board_make(struct handout *out, struct board **map);
/* Makes the socket at `path`, for the group BOARD_GROUP if there is one. Returns 0, or -errno after
 * a line. */
int board_listen(struct handout *out, const char *path);
void board_unmap(struct board **map);
/* Hands the memory to a program that waits. */
void board_hand_out(struct handout *out, uint64_t now_ns);

/* ---- the receiving process ------------------------------------------------------------------- */

struct record_texts;

struct board_writer {
	struct board *map;	     /* NULL: no board */
	uint32_t count;		     /* states so far */
	uint64_t begun_us;	     /* Unix time */
	uint64_t silent_ns;	     /* --silent-after */
	uint64_t shown_ns;	     /* monotonic: of the last state */
	uint64_t next_ns;	     /* monotonic: of the next one */
	struct record_texts **texts; /* by the sensor's index: its description, read */
	unsigned int room;	     /* of `texts` */
	struct kafka_progress sink, source;
};

struct board_sources {
	const struct network *network;
	const struct receive *receive;
	const struct groups *groups;
	const struct source *source; /* NULL without --source */
};

/* Shows a state if a second has passed. Returns milliseconds until the next one; -1: no board. */
int board_tick(struct board_writer *w, const struct board_sources *from, uint64_t now_ns);
/* Shows a last state, before the process ends. */
void board_show_last(struct board_writer *w, const struct board_sources *from, uint64_t now_ns);
void board_writer_free(struct board_writer *w);

#endif
