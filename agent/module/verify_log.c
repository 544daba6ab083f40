// SPDX-License-Identifier: GPL-2.0
/* Verify, log: see verify_log.h. */
#include "verify_log.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Skips lines about place and statistics. */
static bool says_why(const char *line)
{
	static const char *const others[] = { "processed ",  "-- ",	    "verification time",
					      "stack depth", "peak_states", "cur state",
					      "old state" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(line, others[i], strlen(others[i])))
			return false;
	return *line;
}

const char *verify_log_why(char *log)
{
	char *line = NULL, *next = log, *one;

	while ((one = strsep(&next, "\n")))
		if (says_why(one))
			line = one;
	return line ?: "it does not say why";
}

uint32_t verify_log_processed(const char *log)
{
	uint32_t n = 0;

	for (const char *at = log; (at = strstr(at, "processed ")); at++)
		if (at == log || at[-1] == '\n')
			sscanf(at, "processed %" SCNu32 " insns", &n);
	return n;
}
