// SPDX-License-Identifier: GPL-2.0
/* Fill: see fill.h. */
#include "fill.h"

#include <stddef.h>
#include <string.h>

#include <saluki/record.h>

#include "wire/module_event.h"

/* Whether modules may send events between the frames. */
#ifdef WITHOUT_BPF
#define MODULES false
#else
#define MODULES true
#endif

bool fill_is_event(const struct combo_frame *f)
{
	return MODULES && f->linktype == SALUKI_LINKTYPE_EVENT;
}

bool fill_event_is_valid(const struct combo_frame *f)
{
	return f->kept_len >= offsetof(struct saluki_event, bytes) &&
	       f->kept_len <= sizeof(struct saluki_event);
}

static __attribute__((cold)) bool fill_event(struct combo *c, const struct combo_frame *f)
{
	const struct saluki_event *e = (const void *)f->data;
	struct module_event s = { .interface = f->interface,
				  .direction = f->direction,
				  .time_ns = f->time_ns };
	uint8_t bytes[MODULE_EVENT_ENCODED_MAX];
	size_t len;

	s.serial = e->serial;
	s.len = f->kept_len - offsetof(struct saluki_event, bytes);
	memcpy(s.name, e->name, sizeof(s.name) - 1);
	memcpy(s.bytes, e->bytes, s.len);
	len = module_event_write(bytes, &s);
	if (!combo_event_fits(c, len))
		return false;
	combo_event(c, COMBO_EVENT_SAID, bytes, len);
	return true;
}

bool fill(struct combo *c, const struct combo_frame *f)
{
	if (fill_is_event(f))
		return fill_event(c, f);
	if (!combo_fits(c, f->kept_len) && !combo_is_empty(c))
		return false;
	combo_append(c, f);
	return true;
}
