// SPDX-License-Identifier: GPL-2.0
/* Unpack: see unpack.h. */
#include "unpack.h"

bool unpack_combo(struct unpacked *u, struct decompress *d, const uint8_t *combo, size_t len,
		  uint16_t id, uint64_t count)
{
	struct combo_header h;
	const uint8_t *body;

	u->combo = combo;
	u->len = len;
	if (combo_header_read(&h, combo, len, id) || h.seqn != (uint16_t)count)
		return false;
	body = decompress_combo(d, &h, combo, len, u->body);
	return body && !combo_open_version(&u->reader, body, h.body_len, h.frames, h.version);
}
