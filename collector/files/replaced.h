/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaced: files that are replaced as a whole: statistics and state. They are written under
 * another name and renamed. A full disk has space too: a spare file is overwritten and exchanged
 * with the old one, which becomes the next spare. The writing process reserves its space (ask.c).
 * The state file is locked, its successor before it is in place, as two collectors with one state
 * would overwrite each other's. All return 0 or a descriptor, or -errno.
 */
#ifndef COLLECTOR_FILES_REPLACED_H
#define COLLECTOR_FILES_REPLACED_H

#include "files.h"

/* Sets the state's path and locks it. Fails after a line if another collector uses the state. Logs
 * a warning and returns 0 if it cannot be kept. */
int files_replaced_init(struct files *f);
void files_replaced_free(struct files *f);

int files_replaced_stats(struct files *f);
int files_replaced_stats_spare(struct files *f);
int files_replaced_stats_done(struct files *f);
int files_replaced_state(struct files *f);
int files_replaced_state_spare(struct files *f);
int files_replaced_state_read(struct files *f, struct files_answer *a);
int files_replaced_state_done(struct files *f);

/* serve.c: locks an opened file, as two collectors in one file would mix their blocks. The lock
 * ends with the last copy of the descriptor. Returns `fd`, or closes it and returns
 * -EWOULDBLOCK. */
int files_locked(int fd);

#endif
