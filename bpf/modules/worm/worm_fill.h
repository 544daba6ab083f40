/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fill: converts an operator's settings and signatures to the lines that `saluki module fill`
 * reads. In: settings in one argument, signatures in a file. Out: lines on standard output, in this
 * machine's byte order, so it must run on the sensor.
 *
 *     # name      protocol/port  where  pattern
 *     slammer     udp/1434       @0     04010101010101010101
 *     codered     tcp/80         @0     "GET /default.ida"
 *     shell       any            <32    2f62696e..7368
 *
 * The port may be missing, as in `udp`. `@N`: at N bytes from the beginning of the payload. `<N`:
 * beginning anywhere in its first N bytes, at most 32. A pattern has 1 to 16 bytes: hexadecimal
 * digits, two dots for any byte, or text in quotes.
 */
#ifndef BPF_MODULES_WORM_WORM_FILL_H
#define BPF_MODULES_WORM_WORM_FILL_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worm.h"

#define FILL_NAME 32
#define FILL_HOSTS_MAX 150 /* with more, all 64 bits are often set */

struct fill_names {
	char names[WORM_SIGNATURES][FILL_NAME];
};

/* ---- signatures ------------------------------------------------------------------------------ */

static inline int fill_protocol(struct worm_signature *s, char *word)
{
	char *slash = strchr(word, '/'), *end;
	unsigned long port = 0;

	if (slash) {
		*slash++ = 0;
		port = strtoul(slash, &end, 10);
		if (*slash < '0' || *slash > '9' || *end || port > 65535)
			return -EINVAL;
	}
	s->port = port;
	s->port_mask = port ? 0xffff : 0;
	s->protocol = !strcmp(word, "tcp") ? 6 : !strcmp(word, "udp") ? 17 : 0;
	s->protocol_mask = s->protocol ? 0xff : 0;
	return s->protocol || !strcmp(word, "any") ? 0 : -EINVAL;
}

static inline int fill_where(struct worm_signature *s, const char *word)
{
	char *end;
	unsigned long n = strtoul(word + !!*word, &end, 10);

	if ((*word != '@' && *word != '<') || word[1] < '0' || word[1] > '9' || *end)
		return -EINVAL;
	if (*word == '<') {
		s->to = n - 1;
		return n >= 1 && n <= WORM_SPAN ? 0 : -EINVAL;
	}
	s->from = s->to = n;
	return n <= WORM_OFFSET_MAX ? 0 : -EINVAL;
}

static inline int fill_text(struct worm_signature *s, const char *text)
{
	size_t len = strlen(text);

	if (len < 2 || text[len - 1] != '"' || len - 2 > WORM_PATTERN)
		return -EINVAL;
	s->len = len - 2;
	memcpy(s->pattern, text + 1, s->len);
	memset(s->mask, 0xff, s->len);
	return s->len ? 0 : -EINVAL;
}

static inline int fill_hex(struct worm_signature *s, const char *text)
{
	for (; *text; text += 2) {
		char digits[3] = { text[0], text[1], 0 }, *end;

		if (s->len == WORM_PATTERN)
			return -EINVAL;
		if (strcmp(digits, "..")) {
			s->pattern[s->len] = strtoul(digits, &end, 16);
			s->mask[s->len] = 0xff;
			if (end != digits + 2 || strspn(digits, "+- \t"))
				return -EINVAL;
		}
		s->len++;
	}
	return s->len && memchr(s->mask, 0xff, s->len) ? 0 : -EINVAL;
}

/* Returns 1 for a signature, 0 for a line without one, or -EINVAL. */
static inline int fill_line(struct worm_signature *s, char name[FILL_NAME], char *line)
{
	char protocol[16], where[16];
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (line[strspn(line, " \t\r")] == '#' || !line[strspn(line, " \t\r")])
		return 0;
	if (sscanf(line, " %31s %15s %15s %n", name, protocol, where, &at) != 3 || !at)
		return -EINVAL;
	for (size_t len = strlen(line); len && strchr(" \t\r", line[len - 1]);)
		line[--len] = 0;
	*s = (struct worm_signature){ 0 };
	if (fill_protocol(s, protocol) || fill_where(s, where))
		return -EINVAL;
	return (line[at] == '"' ? fill_text(s, line + at) : fill_hex(s, line + at)) ?: 1;
}

/* Returns 0, or -errno after a line. */
static inline int fill_read(struct worm_signatures *list, struct fill_names *names,
			    const char *path)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	int err = in ? 0 : -errno;

	if (!in)
		fprintf(stderr, "worm: %s: %s\n", path, strerror(errno));
	for (unsigned int n = 1; !err && getline(&line, &size, in) >= 0; n++) {
		struct worm_signature s;
		char name[FILL_NAME];
		int got = fill_line(&s, name, line);

		if (got < 0) {
			fprintf(stderr,
				"worm: %s, line %u: takes a name, tcp, udp or any with /PORT, @N "
				"up to %d "
				"or <N up to %d, and up to %d bytes as digits or in quotes\n",
				path, n, WORM_OFFSET_MAX, WORM_SPAN, WORM_PATTERN);
		} else if (got && list->count == WORM_SIGNATURES) {
			fprintf(stderr, "worm: %s, line %u: there is room for %d signatures\n",
				path, n, WORM_SIGNATURES);
			got = -E2BIG;
		}
		err = got < 0 ? got : 0;
		if (got <= 0)
			continue;
		s.id = list->count;
		memcpy(names->names[s.id], name, sizeof(name));
		list->list[list->count++] = s;
	}
	free(line);
	if (in)
		fclose(in);
	return err;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* prevalence=N,sources=N,destinations=N,window=S,ignore=PORT,ignore=PORT... Returns 0, or -EINVAL
 * after a line. */
static inline int fill_setting(struct worm_settings *s, const char *word)
{
	const char *value = strchr(word, '=');
	size_t len = value ? (size_t)(value - word) : 0, ignored = 0;
	char *end = NULL;
	unsigned long n = value ? strtoul(value + 1, &end, 10) : 0;

	if (!value || value[1] < '0' || value[1] > '9' || *end || !n || n > 1000000)
		return -EINVAL;
	if (len == 10 && !strncmp(word, "prevalence", len)) {
		s->prevalence = n;
	} else if (len == 6 && !strncmp(word, "window", len)) {
		s->window_s = n;
	} else if (len == 7 && !strncmp(word, "sources", len) && n <= FILL_HOSTS_MAX) {
		s->source_bits = lround(64 * (1 - exp(-(double)n / 64)));
	} else if (len == 12 && !strncmp(word, "destinations", len) && n <= FILL_HOSTS_MAX) {
		s->destination_bits = lround(64 * (1 - exp(-(double)n / 64)));
	} else if (len == 6 && !strncmp(word, "ignore", len) && n <= 65535) {
		while (ignored < WORM_IGNORE && s->ignore[ignored])
			ignored++;
		if (ignored == WORM_IGNORE)
			return -EINVAL;
		s->ignore[ignored] = n;
	} else {
		return -EINVAL;
	}
	return 0;
}

static inline int fill_settings(struct worm_settings *s, char *words)
{
	for (char *word = strtok(words, ","); word; word = strtok(NULL, ","))
		if (fill_setting(s, word)) {
			fprintf(stderr,
				"worm: %s: takes prevalence=N, sources=N and destinations=N (up to "
				"%d), "
				"window=SECONDS, and up to %d ignore=PORT\n",
				word, FILL_HOSTS_MAX, WORM_IGNORE);
			return -EINVAL;
		}
	return 0;
}

/* Prints the one entry of a map. */
static inline void fill_print(const void *value, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)value;

	printf("00000000 ");
	for (size_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

#endif
