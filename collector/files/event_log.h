/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event log: files of modules' lines, MODULE.jsonl. The privileged process opens them only in the
 * folder of --events. Their number is bounded (limit.h), so that no sensor fills the folder with
 * invented names.
 */
#ifndef COLLECTOR_FILES_EVENT_LOG_H
#define COLLECTOR_FILES_EVENT_LOG_H

#include "files.h"

/* Opens and locks the folder. Returns 0, also without --events, or -errno after a line. */
int files_event_log_init(struct files *f);
/* Opens a module's file for appending. Returns a descriptor, FILES_TOO_MANY or -errno. */
int files_event_log_open(struct files *f, const char *module, struct files_answer *a);
void files_event_log_free(struct files *f);

#endif
