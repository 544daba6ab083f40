// SPDX-License-Identifier: GPL-2.0
/* Filter, from a file with an expression, as for tcpdump's -F: '#' begins a comment. Always holds:
 * the expression is one line of text. */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPRESSION_MAX 65536 /* bytes of the file */

/* Reads to the end of the file. Returns the number of bytes, at most `size`, or -errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t got = 1;

	while (got && len < size) {
		got = read(fd, text + len, size - len);
		if (got < 0 && errno != EINTR)
			return -errno;
		len += got > 0 ? got : 0;
	}
	return len;
}

/* Replaces comments, line ends and blanks by single blanks between words. */
static void make_line(char *text, size_t len)
{
	bool comment = false;
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		comment = text[i] != '\n' && (comment || text[i] == '#');
		if (!comment && text[i] != 127 && (unsigned char)text[i] > ' ')
			text[out++] = text[i];
		else if (out && text[out - 1] != ' ')
			text[out++] = ' ';
	}
	out -= out && text[out - 1] == ' ';
	text[out] = 0;
}

/* Reads the file's text. Returns NULL, or the mistake. */
static const char *read_text(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -errno : read_all(fd, text, EXPRESSION_MAX + 1);

	if (fd >= 0)
		close(fd);
	if (len < 0)
		return strerror(-len);
	if (len > EXPRESSION_MAX)
		return "an expression has at most 65536 bytes";
	if (memchr(text, 0, len))
		return "is no text; give a file with a pcap-filter(7) expression";
	make_line(text, len);
	return NULL;
}

char *filter_read_expression(const char *path, char *why, size_t why_len)
{
	char *text = calloc(1, EXPRESSION_MAX + 1);
	const char *wrong = text ? read_text(path, text) : "out of memory";

	if (!wrong)
		return text;
	snprintf(why, why_len, "-F %.200s: %s", path, wrong);
	free(text);
	return NULL;
}
