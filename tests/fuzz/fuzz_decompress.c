// SPDX-License-Identifier: GPL-2.0
/* links: agent/compress.o collector/decompress.o wire/combo.o wire/forms.o wire/fields.o
 * wire/combo_open.o wire/dictionary.o */
/*
 * Decompression. First byte even: size and codec a combo's header states, then bytes that say to
 * be compressed; odd: a level, and bytes to be compressed. Always holds: nothing but the stated
 * size comes out, no more than that is written, and what was compressed comes back.
 */
#include "agent/compress.h"
#include "collector/decompress.h"
#include "fuzz.h"

#define PREFIX (COMBO_HEADER_LEN + COMBO_CODEC_LEN)

/* A block of its own, so that a byte written behind the body is found. */
static struct decompress *d;

static const uint8_t *open_combo(const uint8_t *combo, size_t len, uint32_t *body_len)
{
	struct combo_header h;
	const uint8_t *body;

	if (combo_header_read(&h, combo, len, 1))
		return NULL;
	body = decompress_combo(d, &h, combo, len);
	*body_len = h.body_len;
	if (body)
		fuzz_touch(body, h.body_len);
	return body;
}

static void hostile(struct fuzz_input *in)
{
	uint32_t stated = fuzz_number(in, 4), body_len;
	uint8_t codec = fuzz_number(in, 1);
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, COMBO_WIRE_MAX - PREFIX, &len);
	uint8_t *combo = malloc(PREFIX + len);

	combo_header_write(combo, 1, 0, 1, stated);
	combo[COMBO_HEADER_LEN] = codec;
	memcpy(combo + PREFIX, bytes, len);
	if (open_combo(combo, PREFIX + len, &body_len))
		CHECK(body_len == stated && stated <= COMBO_BODY_MAX);
	free(combo);
}

static void honest(struct fuzz_input *in)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	const int levels = COMPRESS_LEVEL_MAX - COMPRESS_LEVEL_MIN + 1;
	int level = COMPRESS_LEVEL_MIN + (int)fuzz_number(in, 1) % levels;
	size_t len, size = COMBO_SIZE_MIN + fuzz_number(in, 2) % COMBO_SIZE_MAX, n;
	const uint8_t *bytes = fuzz_bytes(in, COMBO_BODY_MAX, &len), *body;
	struct compress c;
	uint32_t body_len;

	CHECK(compress_init(&c, level, size) == 0);
	n = compress_combo(&c, combo + COMBO_HEADER_LEN, bytes, len);
	CHECK(n <= COMBO_CODEC_LEN + len);
	combo_header_write(combo, 1, 0, 1, len);
	body = open_combo(combo, COMBO_HEADER_LEN + n, &body_len);
	CHECK(body && body_len == len && !memcmp(body, bytes, len));
	compress_free(&c);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	d = malloc(sizeof(*d));
	CHECK(d && decompress_init(d) == 0);
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
