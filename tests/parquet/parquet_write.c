// SPDX-License-Identifier: GPL-2.0
/*
 * parquet_write FILE: writes a Parquet file of what stands in its input, words between blanks:
 *
 *     column NAME TYPE LOGICAL OPTIONAL BLOOM    numbers, as in parquet.h
 *     group ROWS ORDERED [ORDER...]
 *         and of each column of the file:
 *         all | some PRESENT...                   by row, 0 or 1
 *         NUMBER...                               by row
 *         texts COUNT HEX...                      for a column of texts, whose numbers are indexes
 *     pair KEY VALUE
 *
 * A HEX is two digits a byte, and "-" is no byte. Prints what failed, and ends with 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keep/parquet/parquet.h"

#define MOST 64

static struct parquet_column columns[MOST];
static struct parquet_pair pairs[MOST];
static uint32_t column_count, pair_count;
static struct parquet *file;

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

static char *word(void)
{
	char *text;

	if (scanf("%ms", &text) != 1)
		check(-EINVAL, "input");
	return text;
}

static uint64_t number(void)
{
	char *text = word();
	uint64_t v = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);

	free(text);
	return v;
}

static void *room(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		check(-ENOMEM, "room");
	return p;
}

static struct parquet_text text_of(char *hex)
{
	struct parquet_text t = { .len = strcmp(hex, "-") ? (uint32_t)(strlen(hex) / 2) : 0 };
	char *bytes = room(t.len, 1);

	for (uint32_t i = 0; i < t.len; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		bytes[i] = (char)strtoul(pair, NULL, 16);
	}
	free(hex);
	t.bytes = bytes;
	return t;
}

static uint8_t *present(uint32_t rows)
{
	char *how = word();
	uint8_t *flags = NULL;

	if (!strcmp(how, "some")) {
		flags = room(rows, 1);
		for (uint32_t i = 0; i < rows; i++)
			flags[i] = (uint8_t)number();
	}
	free(how);
	return flags;
}

static struct parquet_values values(enum parquet_type type, uint32_t rows)
{
	struct parquet_values v = { .present = present(rows) };
	size_t width = type == PARQUET_BOOLEAN ? 1 : type == PARQUET_INT64 ? 8 : 4;
	uint8_t *all = room(rows, width);

	for (uint32_t i = 0; i < rows; i++) {
		uint64_t x = number();
		uint32_t narrow = (uint32_t)x;
		uint8_t flag = (uint8_t)x;

		memcpy(all + i * width,
		       width == 8   ? (void *)&x
		       : width == 4 ? (void *)&narrow
				    : &flag,
		       width);
	}
	v.values = all;
	if (type == PARQUET_TEXT) {
		struct parquet_text *texts;

		free(word());
		v.text_count = (uint32_t)number();
		texts = room(v.text_count, sizeof(*texts));
		for (uint32_t i = 0; i < v.text_count; i++)
			texts[i] = text_of(word());
		v.texts = texts;
	}
	return v;
}

static void free_values(struct parquet_values *v)
{
	for (uint32_t i = 0; i < v->text_count; i++)
		free((void *)v->texts[i].bytes);
	free((void *)v->texts);
	free((void *)v->values);
	free((void *)v->present);
}

static void group(int fd)
{
	uint32_t rows = (uint32_t)number(), *order = NULL;
	struct parquet_values all[MOST];

	if (!file)
		check(parquet_open(&file, fd, columns, column_count), "open");
	if (number()) {
		order = room(rows, sizeof(*order));
		for (uint32_t i = 0; i < rows; i++)
			order[i] = (uint32_t)number();
	}
	for (uint32_t i = 0; i < column_count; i++)
		all[i] = values(columns[i].type, rows);
	check(parquet_row_group(file, all, order, rows), "row group");
	for (uint32_t i = 0; i < column_count; i++)
		free_values(&all[i]);
	free(order);
}

static void column(void)
{
	struct parquet_column *c = &columns[column_count++];

	c->name = word();
	c->type = (enum parquet_type)number();
	c->logical = (enum parquet_logical)number();
	c->optional = number();
	c->bloom = number();
}

static void free_all(void)
{
	for (uint32_t i = 0; i < column_count; i++)
		free((void *)columns[i].name);
	for (uint32_t i = 0; i < pair_count; i++) {
		free((void *)pairs[i].key);
		free((void *)pairs[i].value);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	char *what;

	if (fd < 0)
		check(-errno, "output");
	while (scanf("%ms", &what) == 1) {
		if (!strcmp(what, "column")) {
			column();
		} else if (!strcmp(what, "group")) {
			group(fd);
		} else {
			pairs[pair_count].key = word();
			pairs[pair_count++].value = word();
		}
		free(what);
	}
	check(feof(stdin) ? 0 : -ENOMEM, "input");
	if (!file)
		check(parquet_open(&file, fd, columns, column_count), "open");
	check(parquet_close(file, pairs, pair_count, "parquet_write"), "close");
	free_all();
	close(fd);
	return 0;
}
