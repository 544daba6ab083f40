/* SPDX-License-Identifier: GPL-2.0 */
/* Local output: -w FILE of `saluki capture` begins anew, as with tcpdump(8). */
#ifndef AGENT_LOCAL_LOCAL_OUTPUT_H
#define AGENT_LOCAL_LOCAL_OUTPUT_H

/* Checks an existing regular file, which the collector would append to. Returns 0 if it may be
 * emptied, does not exist, or is no regular file; or -EINVAL after a line: another collector writes
 * to it, it is no capture file, or it is `input`, the file that is read; NULL: none. */
int local_output_check(const char *path, const char *input);
/* Empties it, after the same checks. */
int local_output_empty(const char *path, const char *input);

#endif
