/* SPDX-License-Identifier: GPL-2.0 */
/* Verify, log: what the verifier has said of a program. In: its log, at level VERIFY_LOG_LEVEL. */
#ifndef AGENT_MODULE_VERIFY_LOG_H
#define AGENT_MODULE_VERIFY_LOG_H

#include <stdint.h>

#define VERIFY_LOG_LEN (4 << 20)
/* Why, and how much: BPF_LOG_STATS, include/linux/bpf_verifier.h; since Linux 5.2. */
#define VERIFY_LOG_LEVEL 4

/* The last line that says why. Changes the log. */
const char *verify_log_why(char *log);
/* Instructions that the verifier went through, in its last line: Linux before 5.16 says it nowhere
 * else. 0: it does not say. */
uint32_t verify_log_processed(const char *log);

#endif
