/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that are replaced in one piece: statistics and state. Written under another name, and then
 * put in place. On a full disk too: a spare file has room for one more, is overwritten, and then
 * changes places with the old one, which is the next spare. Whoever writes reserves that room
 * (ask.c). The state is locked, the new one before it is in place: two collectors with one
 * state would each forget what the other one wrote. All return 0, or where they open a descriptor,
 * or -errno.
 */
#ifndef COLLECTOR_FILES_REPLACED_H
#define COLLECTOR_FILES_REPLACED_H

#include "files.h"

/* Says where the state is, and locks it. Fails after a line where another collector uses it; where
 * none can be kept, that is said, and no failure. */
int files_replaced_init(struct files *f);
void files_replaced_free(struct files *f);

int files_replaced_stats(struct files *f);
int files_replaced_stats_spare(struct files *f);
int files_replaced_stats_done(struct files *f);
int files_replaced_state(struct files *f);
int files_replaced_state_spare(struct files *f);
int files_replaced_state_read(struct files *f, struct files_answer *a);
int files_replaced_state_done(struct files *f);

/* serve.c: locks what was opened, where it is to be written. Two collectors in one file would tear
 * each other's blocks. Released with the last copy of the descriptor. Returns it, or closes it and
 * returns -EWOULDBLOCK. */
int files_locked(int fd);

#endif
