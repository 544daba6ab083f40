/* SPDX-License-Identifier: GPL-2.0 */
/* Local output: `saluki capture` empties an existing -w FILE, as tcpdump(8) does. */
#ifndef AGENT_LOCAL_LOCAL_OUTPUT_H
#define AGENT_LOCAL_LOCAL_OUTPUT_H

/* Checks an existing regular file, to which the collector would append. Returns 0 if the file may
 * be emptied, does not exist, or is not a regular file. Returns -EINVAL after a line if its folder
 * does not exist, if another collector writes to it, if it is not a capture file, or if it is
 * `input` (the -r file, or NULL). */
int local_output_check(const char *path, const char *input);
/* Empties the file, after the same checks. */
int local_output_empty(const char *path, const char *input);

#endif
