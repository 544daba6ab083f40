// SPDX-License-Identifier: GPL-2.0
/* The short line: see line.h. */
#include "line.h"

#include <saluki/linktype.h>

#include "bpf/parse_frame.h"
#include "line_dot11.h"
#include "line_network.h"

unsigned int line_make(struct text *t, struct stamp *s, const struct pcap_frame *f,
		       const char *interface, const struct print_options *o)
{
	struct frame frame = { .data = f->data,
			       .end = f->data + f->cap_len,
			       .orig_len = f->orig_len };
	unsigned int behind = 0;

	t->len = 0;
	t->bytes[0] = '\0';
	stamp_add(s, t, f->time_ns);
	if (interface) {
		text_word(t, interface);
		text_add(t, " ");
	}
	if (f->linktype == LINKTYPE_ETHERNET)
		behind = line_ethernet(t, &frame, o->link);
	else if (linktype_is_80211(f->linktype))
		behind = line_dot11(t, &frame, f->linktype);
	else
		text_add(t, "link type %u, length %u", f->linktype, f->orig_len);
	return behind < f->cap_len ? behind : f->cap_len;
}
