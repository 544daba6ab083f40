// SPDX-License-Identifier: GPL-2.0
/*
 * Decompress: see decompress.h. Always holds: combo_header_read has checked the header's body
 * length against COMBO_BODY_MAX, and zstd writes at most this length.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "decompress.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "wire/bytes.h"
#include "wire/dictionary.h"

int decompress_init(struct decompress *d)
{
	d->context = ZSTD_createDCtx();
	d->dictionary = ZSTD_createDDict_byReference(dictionary_dot11, DICTIONARY_DOT11_LEN);
	if (!d->context || !d->dictionary) {
		decompress_free(d);
		return -ENOMEM;
	}
	ZSTD_DCtx_setParameter(d->context, ZSTD_d_format, ZSTD_f_zstd1_magicless);
	return 0;
}

void decompress_free(struct decompress *d)
{
	ZSTD_freeDDict(d->dictionary);
	ZSTD_freeDCtx(d->context);
	d->context = d->dictionary = NULL;
}

const uint8_t *decompress_combo(struct decompress *d, const struct combo_header *h,
				const uint8_t *combo, size_t len, uint8_t room[COMBO_BODY_MAX])
{
	const uint8_t *in = combo + COMBO_HEADER_LEN + COMBO_CODEC_LEN;
	size_t left = len - COMBO_HEADER_LEN - COMBO_CODEC_LEN, dense = 0, n;

	if (h->codec == COMBO_STORED)
		return in;
	if (h->codec & COMBO_DENSE) {
		if (left < COMBO_DENSE_LEN)
			return NULL;
		dense = load_be(in, COMBO_DENSE_LEN);
		in += COMBO_DENSE_LEN;
		left -= COMBO_DENSE_LEN;
		if (dense >= left || dense > h->body_len)
			return NULL;
	}
	n = ZSTD_decompress_usingDDict(d->context, room, h->body_len - dense, in, left - dense,
				       (h->codec & ~COMBO_DENSE) == COMBO_ZSTD_DOT11 ? d->dictionary
										     : NULL);
	if (ZSTD_isError(n) || n != h->body_len - dense)
		return NULL;
	memcpy(room + n, in + left - dense, dense);
	return room;
}
