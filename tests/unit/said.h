/* SPDX-License-Identifier: GPL-2.0 */
/* What a test's code writes to standard error. Include it after unit.h. */
#ifndef TESTS_UNIT_SAID_H
#define TESTS_UNIT_SAID_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	FILE *file;
	int stderr_before;
	char text[1 << 20];
} said;

static void said_begin(void)
{
	said.file = tmpfile();
	said.stderr_before = dup(2);
	dup2(fileno(said.file), 2);
}

static void said_end(void)
{
	dup2(said.stderr_before, 2);
	close(said.stderr_before);
	fclose(said.file);
}

static const char *said_all(void)
{
	ssize_t n = pread(fileno(said.file), said.text, sizeof(said.text) - 1, 0);

	assert_true(n >= 0);
	said.text[n] = 0;
	return said.text;
}

static int count_said(const char *words)
{
	int count = 0;

	for (const char *at = said_all(); (at = strstr(at, words)); at++)
		count++;
	return count;
}

#endif
