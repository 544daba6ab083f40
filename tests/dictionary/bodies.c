// SPDX-License-Identifier: GPL-2.0
/*
 * bodies FILE: the bodies that a sensor capturing this file would compress: its combos', truncated
 * and closed as by default (--keep headers, 192 bytes, 14 KB, 1 s by the capture's time stamps),
 * each after its number of frames and its length (4 bytes each, big endian), on standard output.
 * train.py and wire/test_second.py read them.
 */
#include <fcntl.h>
#include <stdio.h>

#include "bpf/trim.h"
#include "common/pcap_read.h"
#include "wire/bytes.h"
#include "wire/combo.h"

#define SNAPLEN 192
#define AGE_NS 1000000000ULL

static struct combo combo;

static void end_combo(void)
{
	uint8_t head[8];

	if (!combo.frames)
		return;
	combo_close(&combo);
	store_be(head, combo.frames, 4);
	store_be(head + 4, combo.body_len, 4);
	fwrite(head, sizeof(head), 1, stdout);
	fwrite(combo.body, combo.body_len, 1, stdout);
	combo_reset(&combo);
}

static void take_frame(const struct pcap_frame *p)
{
	struct frame cut = { .data = p->data,
			     .end = p->data + p->cap_len,
			     .orig_len = p->orig_len };
	struct combo_frame f = {
		.time_ns = p->time_ns,
		.orig_len = p->orig_len,
		.linktype = p->linktype,
		.data = p->data,
	};

	f.kept_len =
		trim_frame(&cut, p->cap_len, p->linktype, linktype_has_trim(p->linktype), SNAPLEN);
	if (!combo_fits(&combo, f.kept_len) || p->time_ns - combo.base_ns >= AGE_NS)
		end_combo();
	combo_append(&combo, &f);
}

int main(int argc, char **argv)
{
	static struct pcap_reader reader;
	struct pcap_frame p;
	int got;

	if (argc != 2 || combo_init(&combo, COMBO_SIZE_DEFAULT, SNAPLEN)) {
		fprintf(stderr, "usage: bodies FILE\n");
		return 2;
	}
	if (pcap_open(&reader, open(argv[1], O_RDONLY))) {
		fprintf(stderr, "%s: %s\n", argv[1], reader.why);
		return 1;
	}
	while ((got = pcap_next(&reader, &p)) == 1)
		take_frame(&p);
	end_combo();
	return got ? 1 : 0;
}
