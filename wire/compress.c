// SPDX-License-Identifier: GPL-2.0
/* Compress: see compress.h. The static interface of zstd is used, hence linked statically. */
#define ZSTD_STATIC_LINKING_ONLY
#include "compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "bytes.h"
#include "combo.h"
#include "dictionary.h"

/* The dictionary was measured with captures that it was not made from. It makes combos below 2 KB
 * 15 to 40 % smaller, and those below 8 KB 5 to 10 % smaller. It also halves zstd's time, because
 * zstd need not make tables. Larger bodies gain at most 2 %. As zstd's fast levels always use a
 * dictionary's tables, they may even become 19 % larger. */
#define DICTIONARY_BODY_MAX 8192

#define SMALL_HASH_LOG 11

/* A level's own parameters suit megabytes. For 14 KB, a smaller window and hash table compress as
 * well, and clearing the tables is a large part of a combo's cost. */
static int set_parameters(ZSTD_CCtx_params *p, const ZSTD_compressionParameters *c)
{
	/* The frame has no size, dictionary id or checksum: the combo's header has the first two,
	 * and the seal authenticates. */
	const ZSTD_parameters all = { .cParams = *c, .fParams = { .noDictIDFlag = 1 } };

	/* The dictionary is attached, because copying its tables would cost more than a combo. */
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

/* With an attached dictionary, zstd takes the tables' sizes from the dictionary, so it is made with
 * the context's. */
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

/* On a 32-bit machine, a hash of 4 bytes is one multiplication, and a hash of 5 bytes is six. Such
 * machines also have little memory: tables of 8 KB instead of 128 KB cost 0.2 % in bytes
 * (docs/ap70.md). */
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

/* If zstd needs more than `room`, which is the body's length, it returns an error, and the body is
 * stored. After such an error, the context is in the middle of a frame and accepts no other
 * dictionary, so it is reset. */
static size_t compress_body(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
			    size_t room, bool dictionary)
{
	size_t err;

	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
	err = ZSTD_CCtx_refCDict(c->context, dictionary ? c->dictionary : NULL);
	return ZSTD_isError(err) ? err : ZSTD_compress2(c->context, out, room, body, len);
}

/* Returns the bytes written, or 0 if the body does not get smaller. */
static size_t compress_part(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
			    size_t dense)
{
	bool dictionary = len <= DICTIONARY_BODY_MAX && combo_has_forms(body, len);
	uint8_t *p = out + COMBO_CODEC_LEN;
	size_t n = len - dense;

	out[0] = dictionary ? COMBO_ZSTD_DOT11 : COMBO_ZSTD;
	if (dense) {
		out[0] |= COMBO_DENSE;
		store_be(p, dense, COMBO_DENSE_LEN);
		p += COMBO_DENSE_LEN;
	}
	if (n <= (size_t)(p - out))
		return 0;
	n = compress_body(c, p, body, n, n - (p - out) + COMBO_CODEC_LEN, dictionary);
	if (ZSTD_isError(n))
		return 0;
	memcpy(p + n, body + len - dense, dense);
	return p + n + dense - out;
}

size_t compress_combo(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
		      size_t dense)
{
	size_t n = c->context ? compress_part(c, out, body, len, dense) : 0;

	if (n)
		return n;
	out[0] = COMBO_STORED;
	memcpy(out + COMBO_CODEC_LEN, body, len);
	return COMBO_CODEC_LEN + len;
}
