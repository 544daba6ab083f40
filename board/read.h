/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the board (board.h), and does not believe it. */
#ifndef BOARD_READ_H
#define BOARD_READ_H

#include "board.h"

struct board_view {
	const struct board *map; /* BOARD_BYTES; NULL: none */
};

/* One state. All texts end with a 0 byte and have no control characters; all indices and enums are
 * in range; records of interfaces and modules are in the order of their sensors, and those of
 * channels in the order of their interfaces. */
struct board_state {
	struct board_collector collector;
	struct board_sensor *sensors; /* malloc, as all */
#define X(name, type, most) type *name;
	BOARD_TABLES(X)
#undef X
};

/* Connects to the collector's socket at `path`. Returns a descriptor of the board, -EPROTO if the
 * collector's version is another one, or another -errno. */
int board_take(const char *path);
/* Connects, and maps the board. Returns 0, -EPROTO if the
 * collector's version is another one, or another -errno. */
int board_open(struct board_view *v, const char *path);
/* Maps the memory behind a descriptor, and closes it. Returns 0 or -errno. */
int board_map(struct board_view *v, int fd);
void board_close(struct board_view *v);

/* Returns the number of the newest state; 0: none yet. */
uint32_t board_published(const struct board_view *v);
/* Copies the newest state, and the state before it if `before` is not NULL; `before` has no sensors
 * if there is none. Returns 0, -ENODATA before the first state, -EBADMSG if the board
 * contradicts itself, -EAGAIN if it changes too fast to be copied, or -ENOMEM. */
int board_copy(const struct board_view *v, struct board_state *now, struct board_state *before);
void board_state_free(struct board_state *s);

#endif
