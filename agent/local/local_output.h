/* SPDX-License-Identifier: GPL-2.0 */
/* Local output: -w FILE of `saluki capture` begins anew, as with tcpdump(8). */
#ifndef AGENT_LOCAL_LOCAL_OUTPUT_H
#define AGENT_LOCAL_LOCAL_OUTPUT_H

/* Empties an existing regular file, which the collector would append to. A file that does not
 * exist, or is no regular one, stays as it is. Returns 0, or -errno after a line: another collector
 * writes to it, or it is no capture file. */
int local_output_empty(const char *path);

#endif
