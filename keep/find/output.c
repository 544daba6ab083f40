// SPDX-License-Identifier: GPL-2.0
/* Output: see output.h. */
#include "output.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stop.h"
#include "common/version.h"
#include "pcapng/build.h"
#include "pcapng/section.h"

#define BUFFER (4 * 1024 * 1024)
#define FLUSH_AT (256 * 1024)
#define APPLICATION SECTION_FOUND SALUKI_VERSION
#define IF_TSOFFSET 14
#define EPB_FLAGS 2
#define EPB_DROPCOUNT 4

_Static_assert(FLUSH_AT + 2 * PCAPNG_BLOCK_MAX < BUFFER, "an interface's and a frame's block fit");

/* An interface that was written. */
struct written {
	uint32_t number, len;
	uint8_t block[];
};

struct output {
	int fd;
	bool is_file; /* else a pipe, which waits for its reader */
	bool has_begun;
	uint64_t trace; /* in the section header */
	bool is_mixed;	/* frames of several traces, which was logged */
	size_t len;
	void *written; /* of tsearch(3), by block: a file can describe a million interfaces */
	uint32_t count;
	uint8_t buffer[BUFFER];
};

struct output *output_new(int fd)
{
	struct output *o = malloc(sizeof(*o));

	struct stat st;

	if (!o)
		return NULL;
	o->fd = fd;
	o->is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	o->written = NULL;
	o->count = 0;
	o->len = 0;
	o->has_begun = o->is_mixed = false;
	return o;
}

void output_free(struct output *o)
{
	if (o)
		tdestroy(o->written, free);
	free(o);
}

static void begin(struct output *o, uint64_t trace)
{
	char comment[SECTION_COMMENT_MAX];

	snprintf(comment, sizeof(comment), SECTION_TRACE_FORMAT, (unsigned long long)trace);
	o->len = block_section(o->buffer, APPLICATION, trace ? comment : NULL);
	o->trace = trace;
	o->has_begun = true;
}

int output_flush(struct output *o)
{
	size_t at = 0;

	if (!o->has_begun)
		begin(o, 0);
	while (at < o->len) {
		ssize_t n = o->is_file ? write(o->fd, o->buffer + at, o->len - at)
				       : stop_write(o->fd, o->buffer + at, o->len - at);

		if (n < 0)
			return o->is_file ? -errno : n;
		at += n;
	}
	o->len = 0;
	return 0;
}

void output_interrupt(struct output *o)
{
	if (o->is_file)
		output_flush(o);
}

bool output_is_mixed(const struct output *o)
{
	return o->is_mixed;
}

/* A pipe without a reader has an error, which poll(2) always tells. */
int output_tick(struct output *o)
{
	if (o->len || (!o->has_begun && !o->is_file))
		return output_flush(o);
	if (o->is_file)
		return 0;
	return stop_wait(o->fd, 0, 0) > 0 ? -EPIPE : 0;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Copies an option of the other byte order. Only these have numbers. */
static uint8_t *put_swapped(uint8_t *p, const struct pcapng_option *o, uint32_t type)
{
	uint8_t value[8];
	bool is_number = type == BLOCK_PACKET &&
			 ((o->code == EPB_FLAGS && o->len == 4) ||
			  ((o->code == EPB_DROPCOUNT || o->code == EPB_PACKETID) && o->len == 8));

	if (!is_number)
		return put_option(p, o->code, o->value, o->len);
	for (int i = 0; i < o->len; i++)
		value[i] = o->value[o->len - 1 - i];
	return put_option(p, o->code, value, o->len);
}

/* Options of the combo's name are not for copies. Returns where the next option goes. */
static uint8_t *put_options(uint8_t *p, struct pcapng_block b)
{
	struct pcapng_option o;

	while (pcapng_option(&b, &o)) {
		if (o.code == OPT_CUSTOM ||
		    (b.type == BLOCK_INTERFACE && (o.code == IF_TSRESOL || o.code == IF_TSOFFSET)))
			continue;
		p = b.swapped ? put_swapped(p, &o, b.type) : put_option(p, o.code, o.value, o.len);
	}
	return p;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static size_t lay_interface(uint8_t *block, const struct section_interface *i)
{
	static const uint8_t ns = 9;
	bool swapped = i->swapped;
	struct pcapng_block b;
	uint32_t snaplen;
	uint8_t *p;

	pcapng_block(&b, i->block, i->block_len, &swapped); /* it was read before */
	memcpy(&snaplen, i->block + 12, sizeof(snaplen));
	p = block_begin(block, BLOCK_INTERFACE);
	p = put32(put16(put16(p, i->linktype), 0), swapped ? __builtin_bswap32(snaplen) : snaplen);
	return block_end(block, put_option(put_options(p, b), IF_TSRESOL, &ns, 1));
}

static int by_block(const void *a, const void *b)
{
	const struct written *one = a, *other = b;

	if (one->len != other->len)
		return one->len < other->len ? -1 : 1;
	return memcmp(one->block, other->block, one->len);
}

/* Returns the interface's number, or -ENOMEM. */
static int64_t interface_number(struct output *o, const struct section_interface *i)
{
	uint8_t *block = o->buffer + o->len;
	size_t len = lay_interface(block, i);
	struct written *w = malloc(sizeof(*w) + len), **found;

	if (!w)
		return -ENOMEM;
	w->number = o->count;
	w->len = len;
	memcpy(w->block, block, len);
	found = tsearch(w, &o->written, by_block);
	if (!found || *found != w) {
		free(w);
		return found ? (int64_t)(*found)->number : -ENOMEM;
	}
	o->len += len;
	return o->count++;
}

static int add_interface(struct output *o, struct section_interface *i)
{
	int err = o->len >= FLUSH_AT ? output_flush(o) : 0;

	if (!err && i->copy < 0)
		i->copy = interface_number(o, i);
	return err ?: i->copy < 0 ? -ENOMEM : 0;
}

/* Numbers of transmissions are those of a trace. */
static void note_trace(struct output *o, uint64_t trace)
{
	if (!o->has_begun)
		begin(o, trace);
	if (!trace || !o->trace || o->trace == trace || o->is_mixed)
		return;
	log_line("warning: frames of several unified traces were found, but a file has one trace; "
		 "find one trace at a time, by --from and --to");
	o->is_mixed = true;
}

static int add_radios(struct output *o, struct sections *radios)
{
	int err = 0;

	for (; !err && radios->copied < radios->count; radios->copied += !err) {
		struct section_interface *i = &radios->list[radios->copied];

		err = *i->sensor ? add_interface(o, i) : 0;
	}
	return err;
}

int output_frame(struct output *o, const struct found *f)
{
	uint8_t *block, *p;
	int err = 0;

	note_trace(o, f->trace);
	if (f->radios)
		err = add_radios(o, f->radios);
	err = err ?: add_interface(o, f->interface);
	if (err)
		return err;
	block = o->buffer + o->len;
	p = block_packet(block, f->interface->copy, f->ns, f->block->frame, f->block->kept,
			 f->block->whole);
	o->len += block_end(block, put_options(p, *f->block));
	return 0;
}
