// SPDX-License-Identifier: GPL-2.0
/* Filter, made from code or an expression: see filter.h. */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

char *filter_join(int count, char *const *words)
{
	size_t len = 1;
	char *text;

	for (int i = 0; i < count; i++)
		len += strlen(words[i]) + 1;
	text = calloc(1, len);
	for (int i = 0; text && i < count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, words[i]);
	}
	return text;
}

struct filter *filter_open_code(const char *path, char *why, size_t why_len)
{
	struct filter *f = malloc(sizeof(*f));
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (!f || fd < 0) {
		snprintf(why, why_len, "--filter-code %.200s: %s", path,
			 f ? strerror(errno) : "out of memory");
		err = -1;
	} else {
		err = filter_read_code(f, fd, path, why, why_len);
	}
	if (fd >= 0)
		close(fd);
	if (!err)
		return f;
	free(f);
	return NULL;
}

static const int linktypes[] = {
	LINKTYPE_ETHERNET, LINKTYPE_RADIOTAP,	LINKTYPE_IEEE802_11,
	LINKTYPE_PRISM,	   LINKTYPE_AVS,	LINKTYPE_PPI,
	101 /* RAW */,	   113 /* LINUX_SLL */, 276 /* LINUX_SLL2 */,
};
#define LINKTYPES (sizeof(linktypes) / sizeof(linktypes[0]))

struct filter_ready {
	struct {
		int err;
		char why[FILTER_WHY_LEN];
		struct filter f;
	} of[LINKTYPES];
};

int filter_prepare(struct filter_given *given, char *why, size_t why_len)
{
	struct filter_ready *r;
	int err = -EINVAL;

	if (!given->expression)
		return 0;
	r = calloc(1, sizeof(*r)); /* unwritten pages take no memory */
	if (!r) {
		snprintf(why, why_len, "no memory for a filter");
		return -ENOMEM;
	}
	for (size_t i = 0; i < LINKTYPES; i++) {
		r->of[i].err = filter_compile(&r->of[i].f, given->expression, linktypes[i],
					      r->of[i].why, sizeof(r->of[i].why));
		if (!r->of[i].err)
			err = 0;
	}
	snprintf(why, why_len, "%s", r->of[0].why);
	given->ready = r;
	return err;
}

static int take_ready(struct filter *f, const struct filter_ready *r, int linktype, char *why,
		      size_t why_len)
{
	for (size_t i = 0; i < LINKTYPES; i++) {
		if (linktypes[i] != linktype)
			continue;
		*f = r->of[i].f;
		snprintf(why, why_len, "%s", r->of[i].why);
		return r->of[i].err;
	}
	snprintf(why, why_len, "no filter expressions for this link type; use --filter-code");
	return -EPFNOSUPPORT;
}

int filter_make(struct filter *f, const struct filter_given *given, int linktype, char *why,
		size_t why_len)
{
	if (given->ready)
		return take_ready(f, given->ready, linktype, why, why_len);
	if (!given->code)
		return filter_compile(f, given->expression ?: "", linktype, why, why_len);
	*f = *given->code;
	return 0;
}

/* FNV-1a, 32 bits: www.rfc-editor.org/rfc/rfc9923, section 2. */
uint32_t filter_hash(const struct filter *f)
{
	uint32_t hash = 2166136261;

	if (!f || f->len == 0)
		return 0;
	for (size_t i = 0; i < f->len * sizeof(f->code[0]); i++)
		hash = (hash ^ ((const uint8_t *)f->code)[i]) * 16777619;
	return hash ?: 1;
}
