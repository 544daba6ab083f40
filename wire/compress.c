// SPDX-License-Identifier: GPL-2.0
/* Compress: see compress.h. The static interface of zstd is used, hence linked statically. */
#define ZSTD_STATIC_LINKING_ONLY
#include "compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "combo.h"
#include "dictionary.h"

/* Below 2 KB the dictionary takes 15 to 40 % off combos of captures it was not made from, below 8
 * KB some 5 to 10 %, and its tables save zstd making some, half of its time. Larger bodies have
 * enough of their own: it takes off 2 % or, as zstd's fast levels insist on a dictionary's tables,
 * adds up to 19 %. */
#define DICTIONARY_BODY_MAX 8192

#define SMALL_HASH_LOG 11

/* The level's own tables are made for megabytes; for 14 KB a smaller window and hash do as well,
 * and clearing them is a good part of a combo's cost. */
static int set_parameters(ZSTD_CCtx_params *p, const ZSTD_compressionParameters *c)
{
	/* The combo's header has the size and names the dictionary, the seal authenticates: none of
	 * it twice. */
	const ZSTD_parameters all = { .cParams = *c, .fParams = { .noDictIDFlag = 1 } };

	/* Copying the dictionary's tables for each combo would cost more than the combo. */
	if (ZSTD_isError(ZSTD_CCtxParams_init_advanced(p, all)) ||
	    ZSTD_isError(ZSTD_CCtxParams_setParameter(p, ZSTD_c_forceAttachDict,
						      ZSTD_dictForceAttach)) ||
	    ZSTD_isError(ZSTD_CCtxParams_setParameter(p, ZSTD_c_format, ZSTD_f_zstd1_magicless)))
		return -EINVAL;
	return 0;
}

static int init_context(struct compress *c, const ZSTD_CCtx_params *p)
{
	size_t size = ZSTD_estimateCCtxSize_usingCCtxParams(p);

	c->memory = malloc(size);
	if (!c->memory)
		return -ENOMEM;
	c->context = ZSTD_initStaticCCtx(c->memory, size);
	if (!c->context || ZSTD_isError(ZSTD_CCtx_setParametersUsingCCtxParams(c->context, p)))
		return -EINVAL;
	return 0;
}

/* With an attached dictionary zstd takes the tables' sizes from it: they are the context's. */
static int init_dictionary(struct compress *c, ZSTD_compressionParameters parameters)
{
	size_t size =
		ZSTD_estimateCDictSize_advanced(DICTIONARY_DOT11_LEN, parameters, ZSTD_dlm_byRef);

	c->dictionary_memory = malloc(size);
	if (!c->dictionary_memory)
		return -ENOMEM;
	c->dictionary = ZSTD_initStaticCDict(c->dictionary_memory, size, dictionary_dot11,
					     DICTIONARY_DOT11_LEN, ZSTD_dlm_byRef,
					     ZSTD_dct_fullDict, parameters);
	return c->dictionary ? 0 : -EINVAL;
}

/* Where a word has 32 bits a hash of 4 bytes is one multiplication, one of 5 is six; and memory is
 * short there: tables of 8 KB in place of 128 cost 0.2 % in bytes (docs/ap70.md). */
static void set_small(ZSTD_compressionParameters *c)
{
	c->minMatch = 4;
	if (c->hashLog > SMALL_HASH_LOG)
		c->hashLog = c->chainLog = SMALL_HASH_LOG;
}

int compress_init(struct compress *c, int level, size_t size)
{
	ZSTD_compressionParameters parameters = ZSTD_getCParams(level, size, 0);
	ZSTD_CCtx_params *p = ZSTD_createCCtxParams();
	int err;

	memset(c, 0, sizeof(*c));
	if (sizeof(size_t) == 4)
		set_small(&parameters);
	if (!p)
		return -ENOMEM;
	err = set_parameters(p, &parameters);
	if (!err)
		err = init_context(c, p);
	if (!err)
		err = init_dictionary(c, parameters);
	ZSTD_freeCCtxParams(p);
	if (err)
		compress_free(c);
	return err;
}

void compress_free(struct compress *c)
{
	free(c->dictionary_memory);
	free(c->memory);
	memset(c, 0, sizeof(*c));
}

/* There is no room for more than the body itself: then it is an error, and the body is stored. Such
 * an error leaves the context in the middle of a frame, where it takes no other dictionary, hence
 * the reset. */
static size_t compress_body(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
			    bool dictionary)
{
	size_t err;

	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
	err = ZSTD_CCtx_refCDict(c->context, dictionary ? c->dictionary : NULL);
	return ZSTD_isError(err) ? err : ZSTD_compress2(c->context, out, len, body, len);
}

size_t compress_combo(struct compress *c, uint8_t *out, const uint8_t *body, size_t len)
{
	size_t n;

	if (c->context) {
		bool dictionary = len <= DICTIONARY_BODY_MAX && combo_has_forms(body, len);

		out[0] = dictionary ? COMBO_ZSTD_DOT11 : COMBO_ZSTD;
		n = compress_body(c, out + COMBO_CODEC_LEN, body, len, dictionary);
		if (!ZSTD_isError(n))
			return COMBO_CODEC_LEN + n;
	}
	out[0] = COMBO_STORED;
	memcpy(out + COMBO_CODEC_LEN, body, len);
	return COMBO_CODEC_LEN + len;
}
