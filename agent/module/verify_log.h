/* SPDX-License-Identifier: GPL-2.0 */
/* Verify, log: parses the verifier's log. In: a log at level VERIFY_LOG_LEVEL. */
#ifndef AGENT_MODULE_VERIFY_LOG_H
#define AGENT_MODULE_VERIFY_LOG_H

#include <stdint.h>

#define VERIFY_LOG_LEN (4 << 20)
/* Errors and BPF_LOG_STATS (include/linux/bpf_verifier.h), since Linux 5.2. */
#define VERIFY_LOG_LEVEL 4

/* Returns the last line with a reason. Changes the log. */
const char *verify_log_why(char *log);
/* Returns the number of processed instructions from the log's last line: before Linux 5.16 it is
 * nowhere else. 0: not in the log. */
uint32_t verify_log_processed(const char *log);

#endif
