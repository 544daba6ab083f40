/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of modules' lines (event_log.h), opened by the privileged process in the folder of --events
 * and nowhere else: MODULE.jsonl. How many can be made is bounded (limit.h), so that no sensor
 * fills the folder by names that it makes up.
 */
#ifndef COLLECTOR_FILES_EVENT_LOG_H
#define COLLECTOR_FILES_EVENT_LOG_H

#include "files.h"

/* Opens and locks the folder. Returns 0, also where none is asked for, or -errno after a line. */
int files_event_log_init(struct files *f);
/* Returns a descriptor, to be appended to, FILES_TOO_MANY or -errno. */
int files_event_log_open(struct files *f, const char *module, struct files_answer *a);
void files_event_log_free(struct files *f);

#endif
