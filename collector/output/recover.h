/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recover: what a collector that was ended in any way had written is known to the next one. In: the
 * state file, and files that were written since; out: names, and the floor of protocol time. What
 * a kill in the middle of a write left, of a block or of a combo, is cut off.
 */
#ifndef COLLECTOR_OUTPUT_RECOVER_H
#define COLLECTOR_OUTPUT_RECOVER_H

#include "buffer.h"

#define RECOVER_FILES_MAX 64			     /* of a series, the newest */
#define RECOVER_BYTES_MAX (4LL * 1024 * 1024 * 1024) /* read, where there is no state */

/* Reads the state, and files of a series that go on where it ends. Returns 0 or -errno. */
int recover_begin(struct output *out);
/* Takes the names of a file that is there already, and cuts it. Returns its bytes, or -errno;
 * -EBADMSG: it is none of pcapng. */
int64_t recover_file(struct output *out, const char *name, int fd);
/* Brings the lines of such a file, now `len` bytes, to where they belong (event_log_recover.h). */
void recover_event_log(struct output *out, const char *name, int fd, int64_t len);
/* Writes the state: nothing may be in the buffer. A failure is said once. */
void recover_save(struct output *out);

#endif
