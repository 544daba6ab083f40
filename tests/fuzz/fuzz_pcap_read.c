// SPDX-License-Identifier: GPL-2.0
/* links: common/pcap_read.o */
/*
 * The reader of capture files, with any file. Always holds: a frame is no longer than its block,
 * its original or the file; an error has a reason; and the same bytes give the same frames and the
 * same end, from a file or in small parts from a pipe (first two bytes: the parts' size).
 */
#include <errno.h>
#include <fcntl.h>

#include "common/pcap_read.h"
#include "fuzz.h"

#define PIPE_MAX 32768 /* a pipe's capacity without a reader */

struct seen {
	int end;
	const char *why;
	uint32_t frames;
	uint64_t digest; /* of all frames */
};

static void mix(struct seen *s, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		s->digest = (s->digest ^ ((const uint8_t *)data)[i]) * 0x100000001b3; /* FNV-1a */
}

static void take(struct seen *s, const struct pcap_frame *f)
{
	CHECK(f->cap_len <= f->orig_len && f->cap_len <= PCAP_BLOCK_MAX);
	mix(s, &f->time_ns, sizeof(f->time_ns));
	mix(s, &f->orig_len, sizeof(f->orig_len));
	mix(s, &f->cap_len, sizeof(f->cap_len));
	mix(s, &f->linktype, sizeof(f->linktype));
	mix(s, f->data, f->cap_len);
	s->frames++;
}

static void finish(struct seen *s, struct pcap_reader *r, int end, size_t len)
{
	s->end = end;
	s->why = r->why;
	CHECK(end == 0 || (end == -EBADMSG && r->why));
	CHECK(r->offset <= len);
	CHECK(r->interface_count <= r->interface_limit);
	pcap_close(r);
}

static struct seen from_file(const uint8_t *data, size_t len)
{
	struct pcap_reader r;
	struct pcap_frame f;
	struct seen s = { 0 };
	uint64_t bytes = 0;
	int got = pcap_open(&r, fuzz_file(data, len));

	while (got == 0 && (got = pcap_next(&r, &f)) == 1) {
		take(&s, &f);
		bytes += f.cap_len;
		CHECK(bytes <= len && r.offset <= len);
		got = 0;
	}
	finish(&s, &r, got, len);
	return s;
}

/* Takes the complete data, as agent/source/source_file.c does. Returns the file's end, or -EAGAIN
 * if more must come first. */
static int drain(struct pcap_reader *r, struct seen *s)
{
	struct pcap_frame f;

	while (pcap_ready(r, 0)) {
		bool started = r->started;
		int got = started ? pcap_next(r, &f) : pcap_start(r);

		if (got == 1)
			take(s, &f);
		else if (got < 0 ? got != -EAGAIN : started)
			return got;
	}
	return -EAGAIN;
}

/* Names are inside their blocks. */
static int described(void *context, uint32_t number, uint16_t linktype, const char *name,
		     size_t len)
{
	const struct pcap_reader *r = context;

	CHECK(number == r->interface_count - 1 && linktype == r->interfaces[number].linktype);
	CHECK(!len || ((const uint8_t *)name >= r->block &&
		       (const uint8_t *)name + len <= r->block + PCAP_BLOCK_MAX));
	fuzz_touch((const uint8_t *)name, len);
	return 0;
}

static struct seen from_pipe(const uint8_t *data, size_t len, size_t chunk)
{
	struct pcap_reader r;
	struct seen s = { 0 };
	int ends[2], got = -EAGAIN;

	CHECK(pipe2(ends, O_CLOEXEC) == 0 && pcap_init(&r, ends[0]) == 0);
	r.pipe = true;
	r.interface_limit = PCAP_INTERFACES_LIVE; /* inputs are too short for as many */
	r.described = described;
	r.context = &r;
	for (size_t at = 0; at < len && got == -EAGAIN; at += chunk) {
		size_t n = len - at < chunk ? len - at : chunk;

		CHECK(write(ends[1], data + at, n) == (ssize_t)n);
		got = drain(&r, &s);
	}
	close(ends[1]);
	if (got == -EAGAIN)
		got = drain(&r, &s);
	finish(&s, &r, got, len);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	size_t chunk = fuzz_number(&in, 2) % 4096 + 1;
	struct seen a, b;

	len = in.end - in.p;
	a = from_file(in.p, len);
	if (len > PIPE_MAX)
		return 0;
	b = from_pipe(in.p, len, chunk);
	CHECK(a.end == b.end && a.frames == b.frames && a.digest == b.digest);
	CHECK(a.why == b.why || !strcmp(a.why, b.why));
	return 0;
}
