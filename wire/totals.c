// SPDX-License-Identifier: GPL-2.0
/* Totals codec: see totals.h for the format. */
#include "totals.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "piece.h"

#define TOTALS_COUNT (sizeof(struct totals) / sizeof(uint64_t))

size_t totals_write(uint8_t *out, const struct totals *t)
{
	uint64_t fields[TOTALS_COUNT];
	uint8_t *p = out;

	memcpy(fields, t, sizeof(fields));
	*p++ = PIECE_TOTALS;
	*p++ = TOTALS_COUNT;
	for (size_t i = 0; i < TOTALS_COUNT; i++)
		p += store_varint(p, fields[i]);
	return p - out;
}

int totals_read(struct totals *t, const uint8_t *in, size_t len)
{
	const uint8_t *p = in + 2, *end = in + len;
	uint64_t fields[TOTALS_COUNT] = { 0 }, value;

	if (len < 2)
		return -EBADMSG;
	for (size_t i = 0; i < in[1]; i++) {
		if (load_varint(&p, end, &value))
			return -EBADMSG;
		if (i < TOTALS_COUNT)
			fields[i] = value;
	}
	if (p != end)
		return -EBADMSG;
	memcpy(t, fields, sizeof(fields));
	return 0;
}
