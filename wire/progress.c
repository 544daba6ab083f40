// SPDX-License-Identifier: GPL-2.0
/* Progress codec: see progress.h. */
#include "progress.h"

#include <errno.h>

#include "bytes.h"
#include "message.h"

size_t progress_write(uint8_t out[PROGRESS_WIRE_MAX], const struct progress *p)
{
	uint8_t *at = out;

	*at++ = MESSAGE_PROGRESS;
	at += store_varint(at, p->exported);
	store_be(at, p->before_ns, 8);
	at += 8;
	at += store_varint(at, zigzag(p->ahead_ns));
	at += store_varint(at, p->round_trip_ns);
	return at - out;
}

int progress_read(struct progress *p, const uint8_t *in, size_t len)
{
	const uint8_t *at = in + 1, *end = in + len;
	uint64_t ahead;

	if (!len || load_varint(&at, end, &p->exported) || end - at < 8)
		return -EBADMSG;
	p->before_ns = load_be(at, 8);
	at += 8;
	if (load_varint(&at, end, &ahead) || load_varint(&at, end, &p->round_trip_ns))
		return -EBADMSG;
	p->ahead_ns = unzigzag(ahead);
	return 0;
}
