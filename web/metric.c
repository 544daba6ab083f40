// SPDX-License-Identifier: GPL-2.0
/* Metric: see metric.h. */
#include "metric.h"

#include <inttypes.h>

void metric_family(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP saluki_%s %s\n# TYPE saluki_%s %s\n", name, help, name, type);
}

/* Bytes that are not ASCII need not be UTF-8. */
static int shown(char c)
{
	return c >= ' ' && c <= '~' ? c : '?';
}

static void value(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', f);
		putc(shown(*text), f);
	}
	putc('"', f);
}

bool metric_same(const char *a, const char *b)
{
	while (*a && *b && shown(*a) == shown(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

void metric_sample(FILE *f, const char *name, const char *const *labels)
{
	char before = '{';

	fputs("saluki_", f);
	fputs(name, f);
	for (; *labels; labels += 2) {
		putc(before, f);
		fputs(labels[0], f);
		putc('=', f);
		value(f, labels[1]);
		before = ',';
	}
	if (before == ',')
		putc('}', f);
}

void metric_number(FILE *f, uint64_t n)
{
	fprintf(f, " %" PRIu64 "\n", n);
}

void metric_whole(FILE *f, int64_t n)
{
	fprintf(f, " %" PRId64 "\n", n);
}

void metric_micro(FILE *f, int64_t millionths)
{
	uint64_t n = millionths < 0 ? -(uint64_t)millionths : (uint64_t)millionths;

	fprintf(f, " %s%" PRIu64 ".%06u\n", millionths < 0 ? "-" : "", n / 1000000,
		(unsigned int)(n % 1000000));
}

void metric_only(FILE *f, const char *name, const char *type, const char *help, uint64_t n)
{
	metric_family(f, name, type, help);
	metric_labels(f, name, NULL);
	metric_number(f, n);
}
