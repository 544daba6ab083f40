// SPDX-License-Identifier: GPL-2.0
/* Origin: see origin.h. */
#include "origin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "form.h"
#include "pcapng/block.h"
#include "pcapng/build.h"
#include "pcapng/section.h"

#define HEADER_MAX 4096

static bool begins_with(const struct pcapng_option *o, const char *text)
{
	return o->len >= strlen(text) && !memcmp(o->value, text, strlen(text));
}

/* The collector's comments are those of pcapng/section.h. */
static void read_comment(struct origin *of, const struct pcapng_option *o)
{
	char text[SECTION_COMMENT_MAX];
	unsigned long long bytes;

	if (o->len >= sizeof(text))
		return;
	memcpy(text, o->value, o->len);
	text[o->len] = 0;
	if (begins_with(o, SECTION_RING_BEGIN))
		of->is_ring = true;
	if (sscanf(text, SECTION_TRACE_FORMAT, &bytes) == 1)
		of->trace = bytes;
	if (sscanf(text, SECTION_KEEP_FREE_FORMAT, &bytes, &of->keep_free.percent) == 2) {
		of->keep_free.bytes = bytes;
		of->tells_keep_free = true;
	}
}

void origin_section(struct origin *of, struct pcapng_block b)
{
	struct pcapng_option o;

	*of = (struct origin){ .header_len = b.len };
	while (pcapng_option(&b, &o)) {
		if (o.code == SHB_APPLICATION) {
			of->is_collected |= begins_with(&o, SECTION_COLLECTOR);
			of->is_merged |= begins_with(&o, SECTION_MERGE);
			of->is_found |= begins_with(&o, SECTION_FOUND);
		} else if (o.code == OPT_COMMENT) {
			read_comment(of, &o);
		}
	}
}

int origin_read(struct origin *of, int fd)
{
	static const uint32_t section = BLOCK_SECTION; /* the same in both byte orders */
	uint8_t header[HEADER_MAX];
	ssize_t n = pread(fd, header, sizeof(header), 0);
	struct pcapng_block b;
	bool swapped = false;
	int64_t len;

	if (n < 0)
		return -errno;
	if (memcmp(header, &section, n < 4 ? n : 4))
		return -EBADMSG;
	len = pcapng_block(&b, header, n, &swapped);
	if (len <= 0)
		return len || n == sizeof(header) ? -EBADMSG : -ENODATA;
	origin_section(of, b);
	return 0;
}

int origin_of(struct origin *o, int folder, const char *stem, char name[NAME_MAX + 1])
{
	int fd = form_open(folder, stem, FORM_PCAPNG, name), err;

	if (fd < 0)
		return fd;
	err = origin_read(o, fd);
	close(fd);
	return err;
}

bool origin_has_begun(int folder, const char *stem, uint64_t bytes)
{
	struct origin of = { .header_len = 0 };
	char name[NAME_MAX + 1];

	return !origin_of(&of, folder, stem, name) && bytes > of.header_len;
}
