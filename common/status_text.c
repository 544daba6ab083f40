// SPDX-License-Identifier: GPL-2.0
/* Status text: see status_text.h. */
#include "status_text.h"

#include <stdarg.h>
#include <stdio.h>

#define SECOND_NS 1000000000ULL

#define ULL(x) ((unsigned long long)(x))

__attribute__((format(printf, 2, 3))) static void append(char out[STATUS_TEXT_MAX], const char *fmt,
							 ...)
{
	size_t n = 0;
	va_list args;

	while (out[n])
		n++;
	va_start(args, fmt);
	vsnprintf(out + n, STATUS_TEXT_MAX - n, fmt, args);
	va_end(args);
}

static uint64_t rate(uint64_t before, uint64_t now, uint64_t ns)
{
	return now > before && ns ? (now - before) * SECOND_NS / ns : 0;
}

static void append_bytes(char out[STATUS_TEXT_MAX], uint64_t a_second)
{
	if (a_second >= 1000000)
		append(out, "%llu.%llu MB/s", ULL(a_second / 1000000), ULL(a_second / 100000 % 10));
	else
		append(out, "%llu.%llu kB/s", ULL(a_second / 1000), ULL(a_second / 100 % 10));
}

static void append_losses(char out[STATUS_TEXT_MAX], const struct status_counts *now)
{
	const char *before = "  lost: "; /* one field */

	for (int i = 0; i < STATUS_LOSSES && now->lost[i].where; i++) {
		if (!now->lost[i].frames)
			continue;
		append(out, "%s%s %llu", before, now->lost[i].where, ULL(now->lost[i].frames));
		before = ", ";
	}
}

void status_text(char out[STATUS_TEXT_MAX], const struct status_counts *before,
		 const struct status_counts *now, uint64_t ns, const struct status_words *words)
{
	uint64_t tenths = now->frames ? now->bytes * 10 / now->frames : 0;

	*out = 0;
	append(out, "heard %llu/s  kept %llu/s  %s ", ULL(rate(before->heard, now->heard, ns)),
	       ULL(rate(before->kept, now->kept, ns)), words->exported);
	append_bytes(out, rate(before->bytes, now->bytes, ns));
	append_losses(out, now);
	append(out, "  %s", words->state);
	if (tenths)
		append(out, "  %llu.%llu B/frame", ULL(tenths / 10), ULL(tenths % 10));
}
