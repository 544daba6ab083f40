/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BOARD_WHY_H
#define BOARD_WHY_H

#define BOARD_WHY_MAX 256

/* Writes why the board at `path` cannot be read: `err` is of a function of read.h. Returns `out`.
 */
const char *board_why(char out[BOARD_WHY_MAX], const char *path, int err);

#endif
