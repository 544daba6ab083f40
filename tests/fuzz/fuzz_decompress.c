// SPDX-License-Identifier: GPL-2.0
/* links: wire/compress.o collector/combo/decompress.o wire/combo.o wire/columns.o
 * wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o wire/tails.o
 * wire/wired_next.o wire/fields.o wire/combo_open.o wire/dictionary.o */
/*
 * Decompression. First byte even: the size and codec of a combo's header, then compressed bytes.
 * Odd: a level, and bodies to compress one after the other. Always holds: only the stated size
 * comes out, no more is written, and a compressed body comes back.
 */
#include "collector/combo/decompress.h"
#include "fuzz.h"
#include "wire/compress.h"

#define PREFIX (COMBO_HEADER_LEN + COMBO_CODEC_LEN)

#define UNTOUCHED 0x55

/* zstd is not instrumented, so only this shows a write beyond the body. */
static struct {
	struct decompress d;
	uint8_t body[COMBO_BODY_MAX], behind[2 << 20];
} * room;
static struct decompress *d;

/* Checks that byte `from` of the body and all later bytes are unchanged. */
static void check_untouched(size_t from)
{
	for (size_t i = from; i < sizeof(room->body); i++)
		CHECK(room->body[i] == UNTOUCHED);
	for (size_t i = 0; i < 64; i++) /* a longer write begins here */
		CHECK(room->behind[i] == UNTOUCHED);
}

static const uint8_t *open_combo(const uint8_t *combo, size_t len, uint32_t *body_len)
{
	struct combo_header h;
	const uint8_t *body;

	if (combo_header_read(&h, combo, len, 1))
		return NULL;
	body = decompress_combo(d, &h, combo, len, room->body);
	*body_len = h.body_len;
	if (body)
		fuzz_touch(body, h.body_len);
	return body;
}

static void hostile(struct fuzz_input *in)
{
	static uint8_t before[COMBO_BODY_MAX];
	uint32_t stated = fuzz_number(in, 4), body_len;
	uint8_t codec = fuzz_number(in, 1);
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, COMBO_WIRE_MAX - PREFIX, &len);
	const uint8_t *body, *again;
	uint8_t *combo = malloc(PREFIX + len);

	combo_header_write(combo, 1, 0, 1, stated);
	combo[COMBO_HEADER_LEN] = codec;
	memcpy(combo + PREFIX, bytes, len);
	memset(room->body, UNTOUCHED, sizeof(room->body));
	body = open_combo(combo, PREFIX + len, &body_len);
	check_untouched(stated < sizeof(room->body) ? stated : sizeof(room->body));
	if (body) {
		CHECK(body_len == stated && stated <= COMBO_BODY_MAX);
		memcpy(before, body, body_len);
	}
	/* The output depends on the input only: no earlier content shows. */
	memset(room->body, 0xaa, sizeof(room->body));
	again = open_combo(combo, PREFIX + len, &body_len);
	CHECK(!again == !body);
	if (again)
		CHECK(!memcmp(again, before, body_len));
	free(combo);
}

/* Makes a body one with forms, which uses the dictionary: a preamble (combo.h) whose column of
 * forms is not empty. */
static const uint8_t preamble[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1 << COMBO_FORMS, 1 };

static void there_and_back(struct compress *c, const uint8_t *body, size_t len, size_t dense)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	size_t n = compress_combo(c, combo + COMBO_HEADER_LEN, body, len, dense);
	const uint8_t *back;
	uint32_t body_len;

	CHECK(n <= COMBO_CODEC_LEN + len);
	combo_header_write(combo, 1, 0, 1, len);
	back = open_combo(combo, COMBO_HEADER_LEN + n, &body_len);
	CHECK(back && body_len == len && !memcmp(back, body, len));
}

/* One body after the other through one context, as in a run. Each is filled with the input,
 * repeated, or with random bytes. */
static void honest(struct fuzz_input *in)
{
	static uint8_t body[COMBO_BODY_MAX];
	const int levels = COMPRESS_LEVEL_MAX - COMPRESS_LEVEL_MIN + 1;
	int level = COMPRESS_LEVEL_MIN + (int)fuzz_number(in, 1) % levels;
	size_t size = COMBO_SIZE_MIN + fuzz_number(in, 2) % COMBO_SIZE_MAX;
	struct compress c;

	CHECK(compress_init(&c, level, size) == 0);
	do {
		uint8_t what = fuzz_number(in, 1);
		size_t len = fuzz_number(in, 2) % (COMBO_BODY_MAX + 1), n;
		const uint8_t *bytes = fuzz_bytes(in, what & 1 ? 255 : 16, &n);
		uint32_t noise = len * 2654435761u + 1;

		for (size_t i = 0; i < len; i++) {
			noise = noise * 1664525 + 1013904223;
			body[i] = what & 2 ? noise >> 24 : n ? bytes[i % n] : 0;
		}
		if (what & 4 && len >= sizeof(preamble))
			memcpy(body, preamble, sizeof(preamble));
		there_and_back(&c, body, len, what & 8 ? noise % (len + 1) : 0);
	} while (in->p < in->end);
	compress_free(&c);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	room = malloc(sizeof(*room));
	CHECK(room);
	memset(room, UNTOUCHED, sizeof(*room));
	d = &room->d;
	CHECK(decompress_init(d) == 0);
	return 0;
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
