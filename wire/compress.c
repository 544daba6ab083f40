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

/* On a 32-bit machine, a hash of 4 bytes is one multiplication, and a hash of 5 bytes is six. Such
 * machines also have little memory: tables of 8 KB instead of 128 KB cost 0.2 % in bytes
 * (docs/ap70.md). */
static void set_small(ZSTD_compressionParameters *c)
{
	c->minMatch = 4;
	if (c->hashLog > SMALL_HASH_LOG)
		c->hashLog = c->chainLog = SMALL_HASH_LOG;
}

/* Sets the parameters of a level. Returns 0 or -EINVAL. */
static int level_parameters(struct compress *c, int level, ZSTD_compressionParameters *parameters)
{
	*parameters = ZSTD_getCParams(level, c->size, 0);
	if (sizeof(size_t) == 4)
		set_small(parameters);
	return set_parameters(c->parameters, parameters);
}

/* Finds the memory that a level needs, and raises the sizes to it. Returns 0 or -EINVAL. */
static int level_sizes(struct compress *c, int level, size_t *context)
{
	ZSTD_compressionParameters parameters;
	size_t size, dictionary;

	if (level_parameters(c, level, &parameters))
		return -EINVAL;
	size = ZSTD_estimateCCtxSize_usingCCtxParams(c->parameters);
	dictionary =
		ZSTD_estimateCDictSize_advanced(DICTIONARY_DOT11_LEN, parameters, ZSTD_dlm_byRef);
	if (!size || ZSTD_isError(size) || !dictionary || ZSTD_isError(dictionary))
		return -EINVAL;
	*context = size > *context ? size : *context;
	c->dictionary_size = dictionary > c->dictionary_size ? dictionary : c->dictionary_size;
	return 0;
}

int compress_init(struct compress *c, int level, size_t size)
{
	size_t context = 0;
	int err;

	memset(c, 0, sizeof(*c));
	c->size = size;
	c->level = COMPRESS_NONE;
	c->parameters = ZSTD_createCCtxParams();
	err = c->parameters ? level_sizes(c, level, &context) : -ENOMEM;
	/* All negative levels need the same memory. 0 is zstd's name for level 3. */
	for (int weaker = -1; !err && weaker < level; weaker++)
		err = weaker ? level_sizes(c, weaker, &context) : 0;
	if (!err) {
		c->memory = malloc(context);
		c->dictionary_memory = malloc(c->dictionary_size);
		err = c->memory && c->dictionary_memory ? 0 : -ENOMEM;
	}
	if (!err) {
		c->context = ZSTD_initStaticCCtx(c->memory, context);
		err = c->context ? 0 : -EINVAL;
	}
	if (err)
		compress_free(c);
	else
		compress_set_level(c, level);
	return err;
}

void compress_set_level(struct compress *c, int level)
{
	ZSTD_compressionParameters parameters;

	if (level == c->level)
		return;
	c->level = level;
	if (level == COMPRESS_NONE)
		return;
	c->dictionary = NULL;
	/* The parameters of a context with a dictionary cannot be set. */
	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_and_parameters);
	if (level_parameters(c, level, &parameters) ||
	    ZSTD_isError(ZSTD_CCtx_setParametersUsingCCtxParams(c->context, c->parameters)))
		c->level = COMPRESS_NONE;
}

/* With an attached dictionary, zstd takes the tables' sizes from the dictionary, so it is made with
 * the context's. NULL if that fails. */
static const void *level_dictionary(struct compress *c)
{
	ZSTD_compressionParameters parameters;

	if (!c->dictionary && !level_parameters(c, c->level, &parameters))
		c->dictionary = ZSTD_initStaticCDict(c->dictionary_memory, c->dictionary_size,
						     dictionary_dot11, DICTIONARY_DOT11_LEN,
						     ZSTD_dlm_byRef, ZSTD_dct_fullDict, parameters);
	return c->dictionary;
}

void compress_free(struct compress *c)
{
	free(c->dictionary_memory);
	free(c->memory);
	ZSTD_freeCCtxParams(c->parameters);
	memset(c, 0, sizeof(*c));
}

/* If zstd needs more than `room`, which is the body's length, it returns an error, and the body is
 * stored. After such an error, the context is in the middle of a frame and accepts no other
 * dictionary, so it is reset. */
static size_t compress_body(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
			    size_t room, const void *dictionary)
{
	size_t err;

	ZSTD_CCtx_reset(c->context, ZSTD_reset_session_only);
	err = ZSTD_CCtx_refCDict(c->context, dictionary);
	return ZSTD_isError(err) ? err : ZSTD_compress2(c->context, out, room, body, len);
}

/* Returns the bytes written, or 0 if the body does not get smaller. */
static size_t compress_part(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
			    size_t dense)
{
	bool has_forms = len - dense <= DICTIONARY_BODY_MAX && combo_has_forms(body, len);
	const void *dictionary = has_forms ? level_dictionary(c) : NULL;
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
	size_t n = c->context && c->level != COMPRESS_NONE ? compress_part(c, out, body, len, dense)
							   : 0;

	if (n)
		return n;
	out[0] = COMBO_STORED;
	memcpy(out + COMBO_CODEC_LEN, body, len);
	return COMBO_CODEC_LEN + len;
}
