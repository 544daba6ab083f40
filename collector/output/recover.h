/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recover: finds what earlier collectors wrote, however they ended. In: the state file, and files
 * written since. Out: names, and the floor of protocol time. Incomplete blocks and combos are
 * truncated.
 */
#ifndef COLLECTOR_OUTPUT_RECOVER_H
#define COLLECTOR_OUTPUT_RECOVER_H

#include "buffer.h"

#define RECOVER_FILES_MAX 64			     /* of a series, the newest ones */
#define RECOVER_BYTES_MAX (4LL * 1024 * 1024 * 1024) /* to read without a state file */

/* Reads the state, and a series' files from the state's end on. Returns 0 or -errno. */
int recover_begin(struct output *out);
/* Reads the names in an existing file, and truncates it. Returns its bytes, or -errno; -EBADMSG: no
 * pcapng file. */
int64_t recover_file(struct output *out, const char *name, int fd);
/* Writes missing event log lines of such a file, now `len` bytes (event_log_recover.h). */
void recover_event_log(struct output *out, const char *name, int fd, int64_t len);
/* Writes the state. The buffer must be empty. Logs a failure once. */
void recover_save(struct output *out);

#endif
