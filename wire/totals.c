// SPDX-License-Identifier: GPL-2.0
/* Totals codec: see totals.h for the format. */
#include "totals.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "message.h"

#define TOTALS_COUNT (offsetof(struct totals, interface_count) / sizeof(uint64_t))
#define INTERFACE_COUNT (sizeof(struct totals_interface) / sizeof(uint64_t))

static uint8_t *fields_write(uint8_t *p, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t v;

		memcpy(&v, (const uint8_t *)from + i * sizeof(v), sizeof(v));
		p += store_varint(p, v);
	}
	return p;
}

size_t totals_write(uint8_t *out, const struct totals *t)
{
	uint8_t *p = out, interfaces = t->interface_count < TOTALS_INTERFACES_MAX
					       ? t->interface_count
					       : TOTALS_INTERFACES_MAX;

	*p++ = MESSAGE_TOTALS;
	*p++ = TOTALS_COUNT;
	p = fields_write(p, t, TOTALS_COUNT);
	if (!interfaces)
		return p - out;
	*p++ = interfaces;
	*p++ = INTERFACE_COUNT;
	p = fields_write(p, t->interfaces, interfaces * INTERFACE_COUNT);
	return p - out;
}

/* Reads `count` fields, and stores the first `known` of them unless `to` is NULL. Returns 0 or
 * -EBADMSG. */
static int fields_read(void *to, size_t known, const uint8_t **p, const uint8_t *end, size_t count)
{
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		if (load_varint(p, end, &value))
			return -EBADMSG;
		if (to && i < known)
			memcpy((uint8_t *)to + i * sizeof(value), &value, sizeof(value));
	}
	return 0;
}

int totals_read(struct totals *t, const uint8_t *in, size_t len)
{
	const uint8_t *p = in + 2, *end = in + len;
	struct totals got = { 0 };
	unsigned int interfaces, fields;

	if (len < 2 || fields_read(&got, TOTALS_COUNT, &p, end, in[1]))
		return -EBADMSG;
	if (p < end) {
		if (end - p < 2)
			return -EBADMSG;
		interfaces = *p++;
		fields = *p++;
		for (unsigned int i = 0; i < interfaces; i++)
			if (fields_read(i < TOTALS_INTERFACES_MAX ? &got.interfaces[i] : NULL,
					INTERFACE_COUNT, &p, end, fields))
				return -EBADMSG;
		got.interface_count = interfaces < TOTALS_INTERFACES_MAX ? interfaces
									 : TOTALS_INTERFACES_MAX;
	}
	if (p != end)
		return -EBADMSG;
	*t = got;
	return 0;
}
