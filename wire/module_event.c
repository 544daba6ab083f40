// SPDX-License-Identifier: GPL-2.0
/* Module events: see module_event.h. */
#include "module_event.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "bytes.h"

size_t module_event_write(uint8_t out[MODULE_EVENT_ENCODED_MAX], const struct module_event *s)
{
	size_t name = strnlen(s->name, MODULE_EVENT_NAME_MAX);
	uint8_t *p = out;

	*p++ = s->interface;
	*p++ = s->direction;
	store_be(p, s->time_ns, 8);
	p += 8;
	p += store_varint(p, s->serial);
	*p++ = name;
	memcpy(p, s->name, name);
	memcpy(p + name, s->bytes, s->len);
	return p + name + s->len - out;
}

bool module_event_name_is_good(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	return len > 0 && len <= MODULE_EVENT_NAME_MAX;
}

static int read_name(struct module_event *s, const uint8_t *name, size_t len)
{
	if (!module_event_name_is_good((const char *)name, len))
		return -EBADMSG;
	memcpy(s->name, name, len);
	s->name[len] = 0;
	return 0;
}

int module_event_read(struct module_event *s, const uint8_t *in, size_t len)
{
	const uint8_t *p = in, *end = in + len;
	uint64_t name;

	if (len < 10)
		return -EBADMSG;
	s->interface = p[0];
	s->direction = p[1];
	s->time_ns = load_be(p + 2, 8);
	p += 10;
	if (load_varint(&p, end, &s->serial) || load_varint(&p, end, &name) ||
	    name > (size_t)(end - p) || read_name(s, p, name))
		return -EBADMSG;
	p += name;
	if (end - p > MODULE_EVENT_BYTES_MAX)
		return -EBADMSG;
	s->len = end - p;
	memcpy(s->bytes, p, s->len);
	return 0;
}
