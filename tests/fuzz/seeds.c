// SPDX-License-Identifier: GPL-2.0
/*
 * seeds FOLDER FILE...: the seeds that depend on the combo format, for the harnesses combo,
 * decompress and datagram: FOLDER/HARNESS/seed-N, or keep-WHAT (run). They are made from frames of
 * the capture FILEs with the present code, so corpora can be remade when the format changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "common/pcap_read.h"
#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/module_event.h"

#define SENSOR_ID 1
#define FRAMES 64
#define KEPT 64
#define WHOLE 320 /* with a tail */

static const char *folder;
static struct combo_frame frames[FRAMES];
static unsigned int count;

static void fail(const char *what)
{
	fprintf(stderr, "seeds: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Numbers come before the bytes, least significant byte first, as fuzz_number takes them. */
static FILE *create(const char *harness, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", folder, harness, name);
	f = fopen(path, "w");
	if (!f)
		fail(path);
	return f;
}

static FILE *seed(const char *harness)
{
	static unsigned int number;
	char name[32];

	snprintf(name, sizeof(name), "seed-%u", number++);
	return create(harness, name);
}

static void put_number(FILE *f, uint64_t v, int bytes)
{
	for (; bytes--; v >>= 8)
		putc((uint8_t)v, f);
}

static void put(FILE *f, const void *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, f) != len || fclose(f))
		fail("write");
}

static void read_frames(const char *path)
{
	struct pcap_reader r;
	struct pcap_frame f;

	if (pcap_open(&r, open(path, O_RDONLY)))
		fail(path);
	while (count < FRAMES && pcap_next(&r, &f) == 1) {
		struct combo_frame *to = &frames[count++];
		uint8_t *bytes = malloc(WHOLE);

		to->kept_len = f.cap_len < WHOLE ? f.cap_len : WHOLE;
		memcpy(bytes, f.data, to->kept_len);
		to->data = bytes;
		to->orig_len = f.orig_len;
		to->linktype = f.linktype;
		to->time_ns = f.time_ns;
		to->direction = count % 8 == 0;
		to->interface = count % 16 == 0;
	}
	pcap_close(&r);
}

/* A combo as made by the agent, at a compression level (99: none), in every harness's format. */
static void combo_seeds(const struct combo *c, int level)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	struct compress z = { 0 };
	uint8_t *body = combo + COMBO_HEADER_LEN + COMBO_CODEC_LEN;
	size_t len;
	FILE *f;

	if (level != 99 && compress_init(&z, level, COMBO_SIZE_DEFAULT))
		fail("compress");
	len = compress_combo(&z, combo + COMBO_HEADER_LEN, c->body, c->body_len, c->dense_len);
	combo_header_write(combo, SENSOR_ID, 0, c->frames, c->body_len);
	compress_free(&z);

	f = seed("combo");
	put_number(f, 0, 1);
	put(f, combo, COMBO_HEADER_LEN + len);
	f = seed("decompress");
	put_number(f, 0, 1);
	put_number(f, c->body_len, 4);
	put(f, combo + COMBO_HEADER_LEN, len);
	f = seed("datagram"); /* no rotation; step 3: a combo of the second sensor */
	put_number(f, 0, 1);
	put_number(f, 3, 1);
	put_number(f, c->frames - 1, 2);
	put_number(f, c->body_len, 2);
	put_number(f, combo[COMBO_HEADER_LEN], 1);
	put_number(f, len - COMBO_CODEC_LEN, 2);
	put(f, body, len - COMBO_CODEC_LEN);
}

static void body_seed(const struct combo *c)
{
	FILE *f = seed("combo");

	put_number(f, 1, 1);
	put_number(f, c->frames - 1, 2);
	put(f, c->body, c->body_len);
	f = seed("decompress");
	put_number(f, 1, 1);
	put_number(f, 51, 1); /* COMPRESS_LEVEL_MIN + 51: level 1 */
	put_number(f, COMBO_SIZE_DEFAULT - COMBO_SIZE_MIN, 2);
	put(f, c->body, c->body_len);
}

/* Zeros of another size than stated, in a frame that states its size or not. */
static void bomb_seed(uint32_t stated, size_t real, bool says)
{
	static uint8_t zeros[1 << 20], packed[4096];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	char name[64];
	size_t n;
	FILE *f;

	ZSTD_CCtx_setParameter(z, ZSTD_c_format, ZSTD_f_zstd1_magicless);
	ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, says);
	n = ZSTD_compress2(z, packed, sizeof(packed), zeros, real);
	if (ZSTD_isError(n))
		fail("bomb");
	ZSTD_freeCCtx(z);
	snprintf(name, sizeof(name), "keep-%u-of-%zu%s", stated, real, says ? "" : "-unsaid");
	f = create("decompress", name);
	put_number(f, 0, 1);
	put_number(f, stated, 4);
	put_number(f, COMBO_ZSTD, 1);
	put(f, packed, n);
}

/* Appends a module's event; each fourth is malformed. */
static void said_append(struct combo *c, unsigned int k)
{
	struct module_event s = { .interface = k % 4, .time_ns = frames[k].time_ns, .serial = k };
	uint8_t bytes[MODULE_EVENT_ENCODED_MAX];
	size_t len;

	s.len = frames[k].kept_len < 2 * k % MODULE_EVENT_BYTES_MAX
			? 0
			: 2 * k % MODULE_EVENT_BYTES_MAX;
	memcpy(s.bytes, frames[k].data, s.len);
	snprintf(s.name, sizeof(s.name), "%s%u", k % 4 == 3 ? "." : k % 2 ? "x" : "worm-", k % 3);
	len = module_event_write(bytes, &s);
	if (combo_event_fits(c, len))
		combo_event(c, COMBO_EVENT_SAID, bytes, len);
}

/* The frames with the longest tails, each twice. */
static void tail_seeds(void)
{
	struct combo c;

	if (combo_init(&c, COMBO_SIZE_MIN, WHOLE))
		fail("combo");
	for (unsigned int k = 0; k < 2 * count && combo_fits(&c, WHOLE); k++)
		if (frames[k / 2].kept_len >= WHOLE / 2)
			combo_append(&c, &frames[k / 2]);
	if (c.frames) {
		combo_close(&c);
		body_seed(&c);
		combo_seeds(&c, 99);
		combo_seeds(&c, 1);
	}
	combo_free(&c);
}

static void file_seeds(const char *path)
{
	static const unsigned int sizes[] = { 1, 2, 3, 10, FRAMES };
	struct combo c;

	count = 0;
	read_frames(path);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (combo_init(&c, COMBO_SIZE_DEFAULT, KEPT))
			fail("combo");
		for (unsigned int k = 0; k < sizes[i] && k < count && combo_fits(&c, KEPT); k++) {
			struct combo_frame f = frames[k];

			f.kept_len = f.kept_len < KEPT ? f.kept_len : KEPT;
			combo_append(&c, &f);
			if (k % 3 == 1 && combo_event_fits(&c, 20))
				combo_event(&c, k, frames[k].data, k % 20);
			if (k % 3 == 2)
				said_append(&c, k);
		}
		c.first = 0;
		combo_close(&c);
		body_seed(&c);
		combo_seeds(&c, 99);
		combo_seeds(&c, 1);
		combo_seeds(&c, 9);
		combo_free(&c);
	}
	tail_seeds();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	folder = argv[1];
	for (int i = 2; i < argc; i++)
		file_seeds(argv[i]);
	for (int says = 0; says < 2; says++) {
		bomb_seed(100, 1000, says);
		bomb_seed(100, 1 << 20, says);
		bomb_seed(COMBO_BODY_MAX, COMBO_BODY_MAX + 1, says);
		bomb_seed(COMBO_BODY_MAX, 1 << 20, says);
		bomb_seed(COMBO_BODY_MAX + 1, COMBO_BODY_MAX + 1, says);
		bomb_seed(1 << 20, 1 << 20, says);
		bomb_seed(UINT32_MAX, 1 << 20, says);
		bomb_seed(1000, 100, says);
		bomb_seed(COMBO_BODY_MAX, COMBO_BODY_MAX - 1, says);
	}
	return 0;
}
