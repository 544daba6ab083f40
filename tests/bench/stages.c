// SPDX-License-Identifier: GPL-2.0
/*
 * stages FILE HOST PORT [LEVEL [headers|all [COMBO-SIZE [PASSES]]]]: each pipeline stage's time per
 * frame, in nanoseconds. Reads a capture, keeps the parts that `--keep` keeps, and makes combos. It
 * runs them through the sensor's stages and, in the same process, the collector's. Datagrams go to
 * HOST:PORT, which drops them. Prints a line "name nanoseconds" per stage; "stored" stands for
 * uncompressed combos, and "mmsg" for sendmmsg(2) without UDP_SEGMENT. The level `auto` is the one
 * that `--compress auto` takes without need for another.
 *
 * A stage runs over all combos PASSES times; the fastest pass counts, as the others were disturbed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/export/level.h"
#include "agent/export/session_send.h"
#include "agent/export/sockets.h"
#include "bpf/trim.h"
#include "collector/combo/decompress.h"
#include "collector/output/pcapng.h"
#include "common/monotonic.h"
#include "common/pcap_read.h"
#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/message.h"

#include "connect.h"

#define FRAMES_MAX 65536
#define COMBOS_MAX 4096
#define SNAPLEN 192
#define PASSES_DEFAULT 20
#define IP_UDP_LEN (20 + 8)
#define WINDOW 1024 /* addresses ahead, as saluki requests */

struct sample {
	struct combo_frame f;
	uint8_t bytes[SNAPLEN];
};

/* One combo at the sensor's stages, and its data for the collector. */
struct unit {
	struct combo combo;
	uint8_t wire[2][COMBO_WIRE_MAX]; /* stored, compressed */
	size_t wire_len[2];
};

static struct bench {
	long level, size, passes;
	bool keep_headers;
	struct sample *frames;
	uint32_t frames_len;
	uint64_t kept_bytes;
	struct unit *units[COMBOS_MAX];
	unsigned int units_len;
	struct compress compress;
	struct decompress decompress;
	uint8_t body[COMBO_BODY_MAX]; /* decompressed */
	struct session_send pieces;
	struct shroud_tx tx;
	struct shroud_tx open_tx; /* seals only the datagrams to be opened */
	struct shroud_rx rx;
	struct table table;
	int sock;
} b;

static void die(const char *what)
{
	fprintf(stderr, "stages: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void read_frame(const struct pcap_frame *in)
{
	struct sample *to = &b.frames[b.frames_len++];
	struct frame parse = { .data = in->data,
			       .end = in->data + in->cap_len,
			       .orig_len = in->orig_len };

	to->f = (struct combo_frame){ .time_ns = in->time_ns,
				      .orig_len = in->orig_len,
				      .linktype = in->linktype,
				      .data = to->bytes };
	to->f.kept_len = trim_frame(&parse, in->cap_len, in->linktype, b.keep_headers, SNAPLEN);
	memcpy(to->bytes, in->data, to->f.kept_len);
	b.kept_bytes += to->f.kept_len;
}

/* Returns the number of frames. */
static uint32_t each_frame(const char *path, void (*take)(const struct pcap_frame *f))
{
	struct pcap_reader reader;
	struct pcap_frame f;
	uint32_t count = 0;

	if (pcap_open(&reader, open(path, O_RDONLY | O_CLOEXEC)))
		die(path);
	for (; count < FRAMES_MAX && pcap_next(&reader, &f) == 1; count++)
		if (take)
			take(&f);
	pcap_close(&reader);
	return count;
}

/* Reads twice: small machines have no room for more than the actual number. */
static void read_frames(const char *path)
{
	b.frames = calloc(each_frame(path, NULL), sizeof(*b.frames));
	if (!b.frames)
		die(path);
	if (each_frame(path, read_frame) == 0)
		die("no frames");
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void add_unit(void)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u || b.units_len == COMBOS_MAX || combo_init(&u->combo, b.size, SNAPLEN))
		die("memory");
	combo_reset(&u->combo);
	b.units[b.units_len++] = u;
}

static void append_all(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < b.units_len; i++)
		combo_reset(&b.units[i]->combo);
	for (uint32_t i = 0; i < b.frames_len; i++) {
		const struct combo_frame *f = &b.frames[i].f;

		if (!combo_fits(&b.units[n]->combo, f->kept_len) && ++n == b.units_len)
			add_unit();
		combo_append(&b.units[n]->combo, f);
	}
}

static void close_all(void)
{
	for (unsigned int i = 0; i < b.units_len; i++)
		combo_close(&b.units[i]->combo);
}

static void wire_all(int compressed)
{
	struct compress none = { 0 };

	for (unsigned int i = 0; i < b.units_len; i++) {
		struct unit *u = b.units[i];

		combo_header_write(u->wire[compressed], 1, i, u->combo.frames, u->combo.body_len);
		u->wire_len[compressed] =
			COMBO_HEADER_LEN + compress_combo(compressed ? &b.compress : &none,
							  u->wire[compressed] + COMBO_HEADER_LEN,
							  u->combo.body, u->combo.body_len,
							  u->combo.dense_len);
	}
}

/* Seals a batch of a combo's pieces, from `at` on. Returns where the next one begins. */
static size_t seal_batch(struct shroud_tx *tx, unsigned int number, const uint8_t *wire, size_t len,
			 size_t at)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];

	for (; at < len && b.pieces.count < SESSION_SEND_MAX; at += PIECE_DATA_MAX) {
		size_t n = len - at < PIECE_DATA_MAX ? len - at : PIECE_DATA_MAX;

		piece_header_write(message, number, at, len);
		memcpy(message + PIECE_HEADER_LEN, wire + at, n);
		session_send_seal(&b.pieces, tx, message, PIECE_HEADER_LEN + n, 0);
	}
	return at;
}

/* The datagrams have no receiver: refused ones do not matter. */
static void seal_all(int compressed, bool and_send)
{
	for (unsigned int i = 0; i < b.units_len; i++) {
		const struct unit *u = b.units[i];

		for (size_t at = 0; at < u->wire_len[compressed];) {
			at = seal_batch(&b.tx, i, u->wire[compressed], u->wire_len[compressed], at);
			if (and_send)
				session_send(&b.pieces, b.sock);
			b.pieces.count = 0;
		}
	}
}

static void session_receive_batch(void)
{
	uint8_t message[SHROUD_DATAGRAM_MAX];
	uint64_t number;

	for (unsigned int k = 0; k < b.pieces.count; k++) {
		const uint8_t *in = b.pieces.datagrams[k];
		const struct table_entry *e = table_find(&b.table, load_word(in), NULL);

		if (!e || shroud_open(&b.rx, &b.table, e->low, &number, message, in,
				      b.pieces.iovecs[k].iov_len) < 0)
			die("open");
	}
	b.pieces.count = 0;
}

/* The collector's half; the datagrams' sealing is not measured. */
static uint64_t open_all(int compressed)
{
	uint64_t took = 0;

	for (unsigned int i = 0; i < b.units_len; i++) {
		const struct unit *u = b.units[i];

		for (size_t at = 0; at < u->wire_len[compressed];) {
			uint64_t before;

			at = seal_batch(&b.open_tx, i, u->wire[compressed], u->wire_len[compressed],
					at);
			before = monotonic_ns();
			session_receive_batch();
			took += monotonic_ns() - before;
		}
	}
	return took;
}

static const uint8_t *decompress_unit(const struct unit *u, struct combo_header *h)
{
	const uint8_t *body;

	if (combo_header_read(h, u->wire[1], u->wire_len[1], 1))
		die("header");
	body = decompress_combo(&b.decompress, h, u->wire[1], u->wire_len[1], b.body);
	if (!body)
		die("decompress");
	return body;
}

static void decompress_all(void)
{
	struct combo_header h;

	for (unsigned int i = 0; i < b.units_len; i++)
		decompress_unit(b.units[i], &h);
}

/* Takes frames from bodies, and puts them into pcapng blocks. */
static void split_all(void)
{
	static uint8_t block[PCAPNG_PACKET_OVERHEAD + PCAPNG_NAME_LEN + SNAPLEN];
	static struct combo_reader r;
	struct combo_frame f;

	for (unsigned int i = 0; i < b.units_len; i++) {
		const struct combo *c = &b.units[i]->combo;

		const struct combo_name name = { .run = 1, .count = i, .frames = c->frames };

		if (combo_open(&r, c->body, c->body_len, c->frames))
			die("combo");
		for (const struct combo_name *n = &name; combo_next(&r, &f) == 1; n = NULL)
			pcapng_packet(block, 0, &f, n);
	}
}

/* ---- measurement ----------------------------------------------------------------------------- */

static void do_append_close(void)
{
	append_all();
	close_all();
}

static void do_compress(void)
{
	wire_all(1);
}

static void do_seal(void)
{
	seal_all(1, false);
}

static void do_seal_send(void)
{
	seal_all(1, true);
}

static void do_seal_send_mmsg(void)
{
	bool segments = b.pieces.segments;

	b.pieces.segments = false;
	seal_all(1, true);
	b.pieces.segments = segments;
}

static void do_seal_stored(void)
{
	seal_all(0, false);
}

static void do_seal_send_stored(void)
{
	seal_all(0, true);
}

static double fastest(void (*stage)(void))
{
	uint64_t best = UINT64_MAX;

	for (int pass = 0; pass < b.passes; pass++) {
		uint64_t before = monotonic_ns(), took;

		stage();
		took = monotonic_ns() - before;
		best = took < best ? took : best;
	}
	return (double)best / b.frames_len;
}

static double fastest_open(int compressed)
{
	uint64_t best = UINT64_MAX;

	for (int pass = 0; pass < b.passes; pass++) {
		uint64_t took = open_all(compressed);

		best = took < best ? took : best;
	}
	return (double)best / b.frames_len;
}

static void prepare(void)
{
	struct shroud_keys keys;

	if (compress_init(&b.compress, b.level, b.size) || decompress_init(&b.decompress) ||
	    table_init(&b.table, WINDOW))
		die("memory");
	randombytes_buf(&keys, sizeof(keys));
	shroud_tx_init(&b.tx, &keys);
	shroud_tx_init(&b.open_tx, &keys);
	if (shroud_rx_init(&b.rx, &b.table, &keys, 1, WINDOW))
		die("memory");
	add_unit();
	append_all();
}

static double wire_bytes(int compressed)
{
	double sum = 0;

	for (unsigned int i = 0; i < b.units_len; i++)
		sum += b.units[i]->wire_len[compressed];
	return sum / b.frames_len;
}

/* With the headers of pieces, of Shroud, and of IP and UDP. */
static double sent_bytes(void)
{
	double sum = 0;

	for (unsigned int i = 0; i < b.units_len; i++) {
		size_t len = b.units[i]->wire_len[1];
		size_t pieces = (len + PIECE_DATA_MAX - 1) / PIECE_DATA_MAX;

		sum += len + pieces * (PIECE_HEADER_LEN + SHROUD_OVERHEAD + IP_UDP_LEN);
	}
	return sum / b.frames_len;
}

int main(int argc, char **argv)
{
	double append, seal, seal_stored;

	if (argc < 4 || argc > 8) {
		fprintf(stderr, "Usage: stages FILE HOST PORT [LEVEL [headers|all [COMBO-SIZE "
				"[PASSES]]]]\n");
		return 2;
	}
	b.level = argc > 4 && strcmp(argv[4], "auto") ? atol(argv[4]) : LEVEL_USUAL;
	b.keep_headers = argc < 6 || strcmp(argv[5], "all");
	b.size = argc > 6 ? atol(argv[6]) : COMBO_SIZE_DEFAULT;
	b.passes = argc > 7 ? atol(argv[7]) : PASSES_DEFAULT;
	if (sodium_init() < 0)
		die("libsodium");
	read_frames(argv[1]);
	b.sock = connect_to(argv[2], argv[3]);
	if (b.sock < 0)
		die(argv[2]);
	b.pieces.segments = sockets_can_segment(b.sock);
	prepare();
	append = fastest(append_all);
	printf("append %.1f\nclose %.1f\n", append, fastest(do_append_close) - append);
	wire_all(0);
	printf("compress %.1f\n", fastest(do_compress));
	seal = fastest(do_seal);
	printf("seal %.1f\nsend %.1f\n", seal, fastest(do_seal_send) - seal);
	printf("send_mmsg %.1f\n", fastest(do_seal_send_mmsg) - seal);
	seal_stored = fastest(do_seal_stored);
	printf("seal_stored %.1f\nsend_stored %.1f\n", seal_stored,
	       fastest(do_seal_send_stored) - seal_stored);
	printf("open %.1f\n", fastest_open(1));
	printf("decompress %.1f\n", fastest(decompress_all));
	printf("split %.1f\n", fastest(split_all));
	printf("bytes_kept %.1f\nbytes_compressed %.2f\nbytes_sent %.2f\n",
	       (double)b.kept_bytes / b.frames_len, wire_bytes(1), sent_bytes());
	printf("bytes_frames_a_combo %.1f\n", (double)b.frames_len / b.units_len);
	return 0;
}
