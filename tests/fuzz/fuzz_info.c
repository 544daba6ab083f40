// SPDX-License-Identifier: GPL-2.0
/* links: wire/info.o */
/*
 * A sensor's info. First byte even: any text; odd: a structure with any content, including texts
 * without an end. Always holds: an info read is printable, ends, and has zeros after its end; one
 * written fits and has every line; written and read again it is the same, except for truncated
 * texts.
 */
#include "fuzz.h"
#include "wire/info.h"

static void check_text(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	CHECK(len < size);
	for (size_t i = 0; i < len; i++)
		CHECK(text[i] >= 32 && text[i] < 127);
	for (size_t i = len; i < size; i++)
		CHECK(!text[i]);
}

static void check_read(const struct info *i)
{
	CHECK(i->count <= INFO_INTERFACES_MAX);
	check_text(i->application, sizeof(i->application));
	check_text(i->os, sizeof(i->os));
	for (unsigned int n = 0; n < INFO_INTERFACES_MAX; n++) {
		const struct info_interface *f = &i->interfaces[n];

		check_text(f->name, sizeof(f->name));
		check_text(f->source, sizeof(f->source));
		check_text(f->keep, sizeof(f->keep));
		check_text(f->filter, sizeof(f->filter));
		if (n >= i->count)
			CHECK(!*f->name && !*f->source && !*f->keep && !*f->filter && !f->snaplen);
	}
}

/* Reads from a block of exactly this size; the bytes after it are poisoned. */
static void read_exact(struct info *i, const void *text, size_t len)
{
	uint8_t *copy = fuzz_copy(text, len);

	info_read(i, copy, len);
	fuzz_free(copy);
	check_read(i);
}

static size_t write_exact(char *text, const struct info *i)
{
	char *block = malloc(INFO_LEN_MAX + 1);
	size_t len = info_write(block, i);

	CHECK(len <= INFO_LEN_MAX && strlen(block) == len);
	memcpy(text, block, len + 1);
	free(block);
	return len;
}

static bool cut(const char *text)
{
	size_t len = strlen(text);

	return len >= 3 && !strcmp(text + len - 3, "...");
}

/* `was` may lack an end. */
static void check_came_back(const char *was, const char *is, size_t size)
{
	CHECK(!*was == !*is);
	CHECK(cut(is) || (strnlen(was, size) < size && strlen(was) == strlen(is)));
}

static void check_write(const struct info *i)
{
	char text[INFO_LEN_MAX + 1], again[INFO_LEN_MAX + 1];
	size_t len = write_exact(text, i);
	struct info got;

	read_exact(&got, text, len);
	CHECK(got.exported == i->exported && got.change == i->change);
	CHECK(got.count <= i->count);
	check_came_back(i->application, got.application, sizeof(got.application));
	check_came_back(i->os, got.os, sizeof(got.os));
	for (unsigned int n = 0; n < i->count && n < INFO_INTERFACES_MAX; n++) {
		const struct info_interface *was = &i->interfaces[n], *is = &got.interfaces[n];

		CHECK(is->snaplen == was->snaplen);
		check_came_back(was->name, is->name, sizeof(is->name));
		check_came_back(was->source, is->source, sizeof(is->source));
		check_came_back(was->keep, is->keep, sizeof(is->keep));
		check_came_back(was->filter, is->filter, sizeof(is->filter));
	}
	CHECK(write_exact(again, &got) == len && !memcmp(again, text, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	bool structure = fuzz_number(&in, 1) & 1;
	struct info i = { 0 };
	const uint8_t *p;
	size_t n;

	if (structure) {
		p = fuzz_bytes(&in, sizeof(i), &n);
		memcpy(&i, p, n);
	} else {
		p = fuzz_bytes(&in, SIZE_MAX, &n);
		read_exact(&i, p, n);
	}
	check_write(&i);
	return 0;
}
