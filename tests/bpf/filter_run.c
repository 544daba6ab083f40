// SPDX-License-Identifier: GPL-2.0
/*
 * filter_run FRAMES FILTERS [FIRST STEP]: compares the kernel's verdict, at XDP and at tc, with
 * libpcap's bpf_filter(), for every filter and every frame. FIRST and STEP choose filters, so that
 * several processes share the work.
 *
 *     FRAMES   a frame after the other: length 4, link type 4, bytes; of this machine's order
 *     FILTERS  a line each: LINKTYPE, a tab, an expression; or instead "code COUNT C JT JF K C JT
 * ..."
 *
 * Prints one line per filter: "ok NUMBER INSTRUCTIONS STEPS STEPS LEFT ACCEPTED COMPARED" (the
 * verifier's steps for XDP and tc; instructions removed by the kernel, tc), or "refused NUMBER WHY"
 * if it does not compile or load; and "differ NUMBER WAY FRAME want V" for each wrong verdict. Ends
 * with "live N pieces N": the number of frames over live interfaces, and the number of these in
 * pieces.
 *
 * Frames run by bpf_prog_test_run as they are, and for Ethernet filters once more with a tag beside
 * them: their own, or an inserted one; some of these are also received in pieces. Frames that the
 * kernel does not test-run (shorter than 14 bytes, longer than a page, malformed IP) are received
 * by a live interface.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/filter/filter.h"
#include "agent/filter/filter_load.h"
#include "filter_live.h"
#include "filter_run.skel.h"

/* pcap/bpf.h conflicts with libbpf's headers. Its struct bpf_insn equals sock_filter. */
unsigned int bpf_filter(const struct sock_filter *code, const unsigned char *frame,
			unsigned int wire_len, unsigned int len);

#define FRAMES_MAX (1 << 22)
#define FRAME_MAX 65536
#define TAG_AT 12
#define XDP_MAX 65534 /* the part of a frame that the verifier lets a program read */
#define TESTABLE_MAX 3400
#define PIECES_EVERY 16 /* one of so many frames is received in pieces */

struct frame {
	uint32_t len, linktype;
	const uint8_t *data;
};

static struct {
	struct frame *frames;
	uint32_t frames_len;
	struct filter_run_bpf *skel;
	struct filter filter;
	uint32_t accepted, compared, live, pieces;
} t;

static void die(const char *what)
{
	fprintf(stderr, "filter_run: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_frames(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const uint8_t *at, *end;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	t.frames = calloc(FRAMES_MAX, sizeof(*t.frames));
	if (at == MAP_FAILED || !t.frames)
		die(path);
	for (end = at + st.st_size; at < end && t.frames_len < FRAMES_MAX;) {
		struct frame *f = &t.frames[t.frames_len++];

		memcpy(&f->len, at, 4);
		memcpy(&f->linktype, at + 4, 4);
		f->data = at + 8;
		at += 8 + f->len;
	}
}

/* Lets the kernel run the frame, by test run or live. */
static void kernel(const struct bpf_program *prog, const uint8_t *frame, uint32_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .repeat = 1);

	t.skel->bss->verdict = 2;
	/* A longer one may become fragments, which no interface does for a program like this.
	 */
	if (len <= TESTABLE_MAX && bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) == 0)
		return;
	t.live++;
	if (prog == t.skel->progs.run_xdp)
		live_xdp(frame, len);
	else
		live_tc(frame, len);
}

static void compare(int number, const char *way, uint32_t frame, const uint8_t *wire, uint32_t len)
{
	bool want = bpf_filter(t.filter.code, wire, len, len);

	if (t.skel->bss->verdict != want)
		printf("differ %d %s %u want %d\n", number, way, frame, want);
	if (filter_match(&t.filter, wire, len, len) != want)
		printf("differ %d match %u want %d\n", number, frame, want);
	t.compared++;
	t.accepted += want;
}

/* The same frame as from a card that removes tags. */
static void run_tagged(int number, uint32_t n)
{
	const struct frame *f = &t.frames[n];
	static uint8_t wire[FRAME_MAX + 4], bare[FRAME_MAX + 4];
	uint32_t len = f->len, tag;

	if (len < 18 || len > FRAME_MAX)
		return;
	memcpy(wire, f->data, len);
	if (memcmp(wire + TAG_AT, "\x81\0", 2) && memcmp(wire + TAG_AT, "\x88\xa8", 2)) {
		tag = htonl(n & 1 ? 0x88a80000 | (n * 7919 & 0xffff) : 0x81000000 | (n & 0xffff));
		memcpy(wire + TAG_AT, &tag, 4);
		memcpy(wire + TAG_AT + 4, f->data + TAG_AT, len - TAG_AT);
		len += 4;
	}
	memcpy(&tag, wire + TAG_AT, 4);
	memcpy(bare, wire, TAG_AT);
	memcpy(bare + TAG_AT, wire + TAG_AT + 4, len - TAG_AT - 4);
	t.skel->bss->tag = ntohl(tag);
	kernel(t.skel->progs.run_tc, bare, len - 4);
	compare(number, "tagged", n, wire, len);
	t.skel->bss->tag = 0;
}

/* The first piece has the frame's first 14 to 77 bytes. */
static void run_pieces(int number, uint32_t n)
{
	const struct frame *f = &t.frames[n];
	uint32_t first = 14 + n / PIECES_EVERY % 64;

	if (f->len <= first || f->len > 20000)
		return;
	t.skel->bss->verdict = 2;
	t.skel->bss->pieces = 0;
	live_tc_pieces(f->data, f->len, first);
	compare(number, "pieces", n, f->data, f->len);
	t.live++;
	t.pieces += t.skel->bss->pieces;
}

static void run_all(int number, uint32_t linktype)
{
	for (uint32_t n = 0; n < t.frames_len; n++) {
		const struct frame *f = &t.frames[n];

		if (f->len <= XDP_MAX) {
			kernel(t.skel->progs.run_xdp, f->data, f->len);
			compare(number, "xdp", n, f->data, f->len);
		}
		kernel(t.skel->progs.run_tc, f->data, f->len);
		compare(number, "tc", n, f->data, f->len);
		if (linktype == LINKTYPE_ETHERNET && n % PIECES_EVERY == 0)
			run_pieces(number, n);
		if (linktype == LINKTYPE_ETHERNET)
			run_tagged(number, n);
	}
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Parses "COUNT C JT JF K ..." in one line; `tcpdump -ddd` prints several. */
static int parse_words(char *words, char *why)
{
	static char text[FILTER_LEN_MAX * 32];
	size_t len = 0;
	int n = 0, err;

	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "), n++)
		len += snprintf(text + len, sizeof(text) - len, "%s%c", w, n % 4 ? ' ' : '\n');
	err = filter_parse_code(&t.filter, text, len, why, FILTER_WHY_LEN);
	return err ?: filter_check(&t.filter, why, FILTER_WHY_LEN);
}

static int load(char *why)
{
	int err;

	t.skel = filter_run_bpf__open();
	if (!t.skel)
		die("open");
	err = filter_load(t.skel->skeleton, &t.filter, why, FILTER_WHY_LEN);
	if (err && !*why)
		snprintf(why, FILTER_WHY_LEN, "load: %s", strerror(-err));
	return err;
}

static struct bpf_prog_info info_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		die("program info");
	return info;
}

/* Returns the verifier's number of steps for a program. */
static uint32_t verified(const struct bpf_program *prog)
{
	return info_of(prog).verified_insns;
}

/* Returns the number of instructions that the kernel removed as dead code; at least, as it expands
 * some. */
static uint32_t left_out(const struct bpf_program *prog)
{
	uint32_t given = bpf_program__insn_cnt(prog);
	uint32_t kept = info_of(prog).xlated_prog_len / sizeof(struct bpf_insn);

	return given > kept ? given - kept : 0;
}

static void run_filter(int number, char *line)
{
	char why[FILTER_WHY_LEN] = "", *text = strchr(line, '\t');
	uint32_t linktype = atoi(line);
	int err;

	if (!text++)
		die("FILTERS: no tab");
	err = strncmp(text, "code ", 5)
		      ? filter_compile(&t.filter, text, linktype, why, sizeof(why))
		      : parse_words(text + 5, why);
	err = err ?: load(why);
	if (err) {
		printf("refused %d %s\n", number, why);
	} else {
		t.accepted = t.compared = 0;
		live_attach(bpf_program__fd(t.skel->progs.run_xdp),
			    bpf_program__fd(t.skel->progs.run_tc));
		run_all(number, linktype);
		printf("ok %d %u %u %u %u %u %u\n", number, t.filter.len,
		       verified(t.skel->progs.run_xdp), verified(t.skel->progs.run_tc),
		       left_out(t.skel->progs.run_tc), t.accepted, t.compared);
	}
	filter_run_bpf__destroy(t.skel);
	t.skel = NULL;
}

static int libbpf_silent(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return getenv("FILTER_RUN_LOG") ? vfprintf(stderr, fmt, args) : ((void)level, 0);
}

int main(int argc, char **argv)
{
	int first = argc > 4 ? atoi(argv[3]) : 0, step = argc > 4 ? atoi(argv[4]) : 1;
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	if (argc != 3 && argc != 5)
		return 2;
	libbpf_set_print(libbpf_silent);
	if (filter_load_init())
		die("libbpf");
	read_frames(argv[1]);
	live_open();
	f = fopen(argv[2], "re");
	if (!f)
		die(argv[2]);
	for (int number = 0; getline(&line, &room, f) > 0; number++) {
		line[strcspn(line, "\n")] = 0;
		if (number % step == first)
			run_filter(number, line);
	}
	printf("live %u pieces %u\n", t.live, t.pieces);
	free(line);
	fclose(f);
	free(t.frames);
	return fflush(stdout) ? 1 : 0;
}
