// SPDX-License-Identifier: GPL-2.0
/* Compress: see compress.h. The static interface of zstd is used, hence linked statically. */
#define ZSTD_STATIC_LINKING_ONLY
#include "compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "wire/combo.h"

static int set_parameters(ZSTD_CCtx_params *p, int level, size_t size)
{
	/* The level's own tables are made for megabytes; for 14 KB a smaller window and hash do
	 * as well, and clearing them is a good part of a combo's cost. */
	ZSTD_compressionParameters c = ZSTD_getCParams(level, size, 0);
	const struct {
		ZSTD_cParameter name;
		int value;
	} set[] = {
		{ ZSTD_c_windowLog, c.windowLog },
		{ ZSTD_c_hashLog, c.hashLog },
		{ ZSTD_c_chainLog, c.chainLog },
		{ ZSTD_c_searchLog, c.searchLog },
		{ ZSTD_c_minMatch, c.minMatch },
		{ ZSTD_c_targetLength, c.targetLength },
		{ ZSTD_c_strategy, c.strategy },
		/* The combo's header has the size, the seal authenticates: none of it twice. */
		{ ZSTD_c_format, ZSTD_f_zstd1_magicless },
		{ ZSTD_c_contentSizeFlag, 0 },
		{ ZSTD_c_checksumFlag, 0 },
	};

	ZSTD_CCtxParams_init(p, level);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		if (ZSTD_isError(ZSTD_CCtxParams_setParameter(p, set[i].name, set[i].value)))
			return -EINVAL;
	return 0;
}

int compress_init(struct compress *c, int level, size_t size)
{
	ZSTD_CCtx_params *p = ZSTD_createCCtxParams();
	size_t memory;
	int err;

	memset(c, 0, sizeof(*c));
	if (!p)
		return -ENOMEM;
	err = set_parameters(p, level, size);
	memory = ZSTD_estimateCCtxSize_usingCCtxParams(p);
	if (!err && !(c->memory = malloc(memory)))
		err = -ENOMEM;
	if (!err) {
		c->context = ZSTD_initStaticCCtx(c->memory, memory);
		if (!c->context ||
		    ZSTD_isError(ZSTD_CCtx_setParametersUsingCCtxParams(c->context, p)))
			err = -EINVAL;
	}
	ZSTD_freeCCtxParams(p);
	if (err)
		compress_free(c);
	return err;
}

void compress_free(struct compress *c)
{
	free(c->memory);
	memset(c, 0, sizeof(*c));
}

size_t compress_combo(struct compress *c, uint8_t *out, const uint8_t *body, size_t len)
{
	size_t n;

	if (c->context) {
		/* No room for more than the body itself: then it is stored. */
		n = ZSTD_compress2(c->context, out + COMBO_CODEC_LEN, len, body, len);
		if (!ZSTD_isError(n)) {
			out[0] = COMBO_ZSTD;
			return COMBO_CODEC_LEN + n;
		}
	}
	out[0] = COMBO_STORED;
	memcpy(out + COMBO_CODEC_LEN, body, len);
	return COMBO_CODEC_LEN + len;
}
