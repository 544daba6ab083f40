// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/pcapng.o collector/output/pcapng_walk.o pcapng/combo_name.o
 * collector/output/written.o collector/output/late.o common/pcap_read.o wire/channel.o */
/*
 * The output file. First byte even: any file, to be appended to. Odd: which blocks to write with
 * which texts, numbers and names. Always holds: the kept part of a file is kept again; no block is
 * larger than promised; a file truncated anywhere is cut back to whole blocks, and to whole combos;
 * frames and names read back as written.
 */
#include <errno.h>

#include "collector/output/written.h"
#include "collector/output/pcapng_walk.h"
#include "collector/output/event_json.h"
#include "common/pcap_read.h"
#include "fuzz.h"

#define BLOCKS_MAX 64
#define FRAME_MAX 600

static void hostile_names(int fd, int64_t from, int64_t len)
{
	struct written n = { 0 };
	int64_t whole = written_scan(&n, fd, from, len);

	CHECK(whole == -EBADMSG || (whole >= 0 && whole <= len));
	if (whole > from)
		CHECK(written_scan(&n, fd, from, whole) == whole);
	written_free(&n);
}

/* Returns the bytes of whole blocks at the start of a file, or -EBADMSG. */
static int64_t whole_blocks(int fd, int64_t len)
{
	struct pcapng_block b;
	struct pcapng_walk w;
	int got = pcapng_walk_init(&w, fd, 0, len);

	while (!got && (got = pcapng_walk_next(&w, &b)) == 1)
		got = 0;
	pcapng_walk_free(&w);
	return got ? got : w.at;
}

/* Counts modules' lines in the first bytes of a file, and reads them all. */
static unsigned int lines_in(int fd, int64_t len)
{
	static char line[PCAPNG_WINDOW];
	struct pcapng_block b;
	struct pcapng_walk w;
	unsigned int n = 0;
	int got = pcapng_walk_init(&w, fd, 0, len);

	while (!got && (got = pcapng_walk_next(&w, &b)) == 1) {
		got = 0;
		if (!b.line)
			continue;
		CHECK(b.line_len && b.line_len < sizeof(line));
		memcpy(line, b.line, b.line_len);
		n++;
	}
	pcapng_walk_free(&w);
	return n;
}

static void hostile(struct fuzz_input *in)
{
	int64_t len = in->end - in->p, whole;
	int fd = fuzz_file(in->p, len);

	lines_in(fd, len);

	hostile_names(fd, 0, len);
	hostile_names(fd, len / 3, len); /* by a state that belongs to another file */

	whole = whole_blocks(fd, len);
	CHECK(whole == -EBADMSG || (whole >= 0 && whole <= len));
	if (whole > 0)
		CHECK(whole_blocks(fd, whole) == whole);
	close(fd);
}

/* The blocks written so far. */
struct laid_out {
	uint8_t file[BLOCKS_MAX * PCAPNG_META_MAX];
	size_t len, ends[BLOCKS_MAX + 1];
	unsigned int blocks, interfaces, frames, sections, said;
	uint16_t linktypes[BLOCKS_MAX];
	struct combo_frame list[BLOCKS_MAX];
	uint32_t left; /* frames missing from the present combo */
	uint64_t next; /* count of the next combo */
	size_t begun;  /* start of the present one */
};

static const char *text(struct fuzz_input *in)
{
	static char texts[8][1024];
	static unsigned int next;
	char *to = texts[next++ % 8];
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 1) * 4, &len);

	memcpy(to, p, len);
	to[len] = 0;
	return len ? to : NULL;
}

/* Returns the name of a combo's next block: without frames if it is not the first. */
static struct combo_name combo_name(struct laid_out *w, struct fuzz_input *in)
{
	struct combo_name name = { 0 };
	uint8_t what;

	if (!w->left) {
		what = fuzz_number(in, 1);
		name = (struct combo_name){ .run = 1, .sensor = 2, .count = w->next++ };
		name.frames = 1 + what % 4;
		name.events = what >> 6; /* the order of the two does not matter */
		w->left = name.frames + name.events;
		w->begun = w->len;
	}
	w->left--;
	return name;
}

static size_t packet(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	static const uint8_t bytes[FRAME_MAX] = "frame";
	struct combo_frame f = { .time_ns = fuzz_number(in, 8), .data = bytes };
	uint32_t interface = fuzz_number(in, 1);
	struct combo_name name;

	if (!w->interfaces)
		return 0;
	interface %= w->interfaces;
	f.kept_len = fuzz_number(in, 2) % FRAME_MAX;
	f.orig_len = f.kept_len + fuzz_number(in, 2);
	f.direction = fuzz_number(in, 1);
	f.linktype = w->linktypes[interface];
	w->list[w->frames++] = f;
	name = combo_name(w, in);
	return pcapng_packet(out, interface, &f, name.frames ? &name : NULL);
}

static size_t dwell(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	struct dwell d = { .mhz = fuzz_number(in, 2), .width = fuzz_number(in, 2) };
	struct combo_name name;

	if (!w->interfaces)
		return 0;
	d.center = fuzz_number(in, 2);
	d.from_ns = fuzz_number(in, 8);
	d.to_ns = fuzz_number(in, 8);
	d.frames = d.marked = d.switch_ns = fuzz_number(in, 8);
	d.error = fuzz_number(in, 4);
	name = combo_name(w, in);
	return pcapng_dwell(out, 0, &d, name.frames ? &name : NULL);
}

static size_t readings(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	struct clock_readings r = { .count = 1 + fuzz_number(in, 1) % CLOCK_READINGS_MAX };
	struct combo_name name;

	if (!w->interfaces)
		return 0;
	for (unsigned int i = 0; i < r.count; i++) {
		r.list[i].monotonic_ns = fuzz_number(in, 8);
		r.list[i].realtime_minus_monotonic_ns = fuzz_number(in, 8);
		r.list[i].raw_minus_monotonic_ns = fuzz_number(in, 8);
	}
	name = combo_name(w, in);
	return pcapng_readings(out, 0, &r, name.frames ? &name : NULL);
}

static size_t said(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	const char *line = text(in);
	struct combo_name name;

	if (!w->interfaces || !line || !*line)
		return 0;
	w->said++;
	name = combo_name(w, in);
	return pcapng_module_event(out, line, strnlen(line, EVENT_JSON_MAX - 1),
				   name.frames ? &name : NULL);
}

static size_t interface(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	struct pcapng_interface i = { .linktype = fuzz_number(in, 2) & 0x7fff };

	i.name = text(in);
	i.description = text(in);
	i.filter = text(in);
	i.os = text(in);
	i.comment = text(in);
	w->linktypes[w->interfaces++] = i.linktype;
	return pcapng_interface(out, &i);
}

static size_t statistics(struct laid_out *w, struct fuzz_input *in, uint8_t *out)
{
	struct pcapng_statistics s = { .time_ns = fuzz_number(in, 8) };

	s.start_ns = fuzz_number(in, 8);
	s.received = fuzz_number(in, 8);
	s.comment = text(in);
	return w->interfaces && !w->left ? pcapng_statistics(out, &s) : 0;
}

/* Every block is written into memory of exactly the promised size. */
static void write_block(struct laid_out *w, struct fuzz_input *in)
{
	uint8_t number = fuzz_number(in, 1), what = number % 4;
	uint8_t *out = malloc(PCAPNG_META_MAX), *exact;
	size_t len = 0;

	if (what == 0 || !w->blocks) {
		len = pcapng_section(out, text(in), text(in), text(in), text(in));
		w->interfaces = 0;
		w->left = 0;
		w->sections++;
	} else if (what == 1) {
		len = interface(w, in, out);
	} else if (what == 2) {
		len = packet(w, in, out);
		CHECK(!len || len <= w->list[w->frames - 1].kept_len +
					      (size_t)PCAPNG_PACKET_OVERHEAD + PCAPNG_NAME_LEN +
					      PCAPNG_UNSETTLED_LEN);
	} else if (number & 64) {
		len = dwell(w, in, out);
		CHECK(len <= PCAPNG_DWELL_MAX);
	} else if (number & 32) {
		len = said(w, in, out);
		CHECK(len <= PCAPNG_MODULE_EVENT_MAX);
	} else if (number & 16) {
		len = readings(w, in, out);
		CHECK(len <= PCAPNG_READINGS_MAX);
	} else {
		len = statistics(w, in, out);
	}
	CHECK(len % 4 == 0 && len <= PCAPNG_META_MAX);
	exact = fuzz_copy(out, len); /* all of it is initialised */
	memcpy(w->file + w->len, exact, len);
	fuzz_free(exact);
	free(out);
	if (len) {
		w->len += len;
		w->ends[++w->blocks] = w->len;
	}
}

static void check_cut(const struct laid_out *w, int fd, size_t cut)
{
	unsigned int whole = 0;

	while (whole < w->blocks && w->ends[whole + 1] <= cut)
		whole++;
	CHECK(whole_blocks(fd, cut) == (int64_t)w->ends[whole]);
}

/* All combos with all their frames are found. */
static void check_names(const struct laid_out *w, int fd)
{
	struct written n = { 0 };
	uint64_t next = w->left ? w->next - 1 : w->next;
	int64_t whole = written_scan(&n, fd, 0, w->len);
	const struct sensor_run *r = written_find(&n, 2, 1);

	CHECK(whole == (int64_t)(w->left ? w->begun : w->len));
	CHECK(w->sections > 1 || (r ? r->next : 0) == next);
	written_free(&n);
}

static void check_frames(const struct laid_out *w, int fd)
{
	struct pcap_reader r;
	struct pcap_frame f;

	CHECK(pcap_open(&r, fd) == 0);
	for (unsigned int i = 0; i < w->frames; i++) {
		const struct combo_frame *want = &w->list[i];

		CHECK(pcap_next(&r, &f) == 1);
		CHECK(f.time_ns == want->time_ns && f.linktype == want->linktype);
		CHECK(f.cap_len == want->kept_len && f.orig_len == want->orig_len);
		CHECK(!memcmp(f.data, want->data, f.cap_len));
	}
	CHECK(pcap_next(&r, &f) == 0);
	pcap_close(&r);
}

static void honest(struct fuzz_input *in)
{
	static struct laid_out w;
	size_t cut = fuzz_number(in, 2);
	int fd;

	memset(&w, 0, sizeof(w));
	while (w.blocks < BLOCKS_MAX && in->p < in->end)
		write_block(&w, in);
	if (!w.blocks)
		return;
	fd = fuzz_file(w.file, w.len);
	check_cut(&w, fd, cut % (w.len + 1));
	check_cut(&w, fd, w.len);
	check_names(&w, fd);
	CHECK(lines_in(fd, w.len) == w.said);
	check_frames(&w, fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };

	if (fuzz_number(&in, 1) & 1)
		honest(&in);
	else
		hostile(&in);
	return 0;
}
