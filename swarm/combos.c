// SPDX-License-Identifier: GPL-2.0
/*
 * The combos of a swarm: see swarm.h. In: the frames of a capture file, repeated without end. Out:
 * combos, each compressed once for all sensors. Always holds: the list has the combos from `from`
 * to `until`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/pcap_read.h"
#include "swarm.h"
#include "wire/bytes.h"

#define FRAMES_MAX 65536
#define BYTES_MAX (32 * 1024 * 1024)
#define SNAPLEN 1024
#define MADE_FRAMES 1000
#define MADE_LEN 200
#define LINKTYPE_ETHERNET 1

static void add_frame(struct swarm_combos *c, const struct combo_frame *f, size_t *used)
{
	struct combo_frame *to = &c->frames[c->frames_len++];

	*to = *f;
	to->interface = to->direction = 0;
	to->kept_len = f->kept_len < SNAPLEN ? f->kept_len : SNAPLEN;
	memcpy(c->bytes + *used, f->data, to->kept_len);
	to->data = c->bytes + *used;
	*used += to->kept_len;
}

/* Makes broadcasts of as many stations. Their payload is text, and compresses like text. */
static void make_frames(struct swarm_combos *c)
{
	size_t used = 0;

	for (unsigned int i = 0; i < MADE_FRAMES; i++) {
		uint8_t bytes[MADE_LEN] = { 255, 255, 255, 255, 255, 255, 2, 0, 0, 0 };
		struct combo_frame f = { .time_ns = clock_ns(CLOCK_REALTIME) + i * 1000000ULL,
					 .orig_len = MADE_LEN,
					 .kept_len = MADE_LEN,
					 .linktype = LINKTYPE_ETHERNET,
					 .data = bytes };

		store_be(bytes + 10, i, 2);
		store_be(bytes + 12, 0x88b5, 2); /* IEEE 802: for local experiments */
		for (size_t n = 14; n < MADE_LEN; n++)
			bytes[n] = 'a' + (uint8_t)((n * 7 + i * i * (n % 13)) % 26);
		add_frame(c, &f, &used);
	}
}

static int read_frames(struct swarm_combos *c, const char *file)
{
	struct pcap_reader reader;
	struct pcap_frame f;
	size_t used = 0;
	int fd = open(file, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0) {
		log_line("-r %s: %s", file, strerror(errno));
		return -errno;
	}
	err = pcap_open(&reader, fd);
	while (!err && c->frames_len < FRAMES_MAX && used + SNAPLEN <= BYTES_MAX &&
	       (err = pcap_next(&reader, &f)) == 1) {
		struct combo_frame frame = { .time_ns = f.time_ns,
					     .orig_len = f.orig_len,
					     .kept_len = f.cap_len,
					     .linktype = f.linktype,
					     .data = f.data };

		err = 0;
		if (f.cap_len)
			add_frame(c, &frame, &used);
	}
	if (err < 0)
		log_line("-r %s: %s", file, reader.why ? reader.why : strerror(-err));
	else if (!c->frames_len)
		log_line("-r %s: there are no frames in it", file);
	pcap_close(&reader);
	return err < 0 ? err : c->frames_len ? 0 : -ENODATA;
}

int swarm_combos_init(struct swarm_combos *c, const char *file)
{
	memset(c, 0, sizeof(*c));
	c->frames = calloc(FRAMES_MAX, sizeof(*c->frames));
	c->bytes = malloc(BYTES_MAX);
	if (!c->frames || !c->bytes || combo_init(&c->combo, COMBO_SIZE_DEFAULT, SNAPLEN) ||
	    compress_init(&c->compress, 1, COMBO_SIZE_DEFAULT)) {
		log_line("out of memory");
		return -ENOMEM;
	}
	if (file)
		return read_frames(c, file);
	make_frames(c);
	return 0;
}

void swarm_combos_free(struct swarm_combos *c)
{
	swarm_combos_release(c, c->until);
	compress_free(&c->compress);
	combo_free(&c->combo);
	free(c->bytes);
	free(c->frames);
}

/* Fills the next combo with the next frames. */
static void fill(struct swarm_combos *c)
{
	combo_reset(&c->combo);
	c->combo.first = c->first;
	for (;;) {
		const struct combo_frame *f = &c->frames[c->frame];

		if (!combo_fits(&c->combo, f->kept_len))
			break;
		combo_append(&c->combo, f);
		c->frame = (c->frame + 1) % c->frames_len;
	}
	combo_close(&c->combo);
}

static int make_next(struct swarm_combos *c)
{
	uint8_t body[COMBO_CODEC_LEN + COMBO_BODY_MAX];
	struct swarm_combo *made;
	size_t len;

	fill(c);
	len = compress_combo(&c->compress, body, c->combo.body, c->combo.body_len,
			     c->combo.dense_len);
	made = malloc(sizeof(*made) + COMBO_HEADER_LEN + len);
	if (!made)
		return -ENOMEM;
	made->first = c->first;
	made->frames = c->combo.frames;
	made->len = COMBO_HEADER_LEN + len;
	made->body_len = c->combo.body_len;
	combo_header_write(made->wire, 0, (uint16_t)c->until, made->frames, made->body_len);
	memcpy(made->wire + COMBO_HEADER_LEN, body, len);
	c->first += made->frames;
	c->list[c->until++ % SWARM_COMBOS] = made;
	return 0;
}

const struct swarm_combo *swarm_combos_get(struct swarm_combos *c, uint64_t count)
{
	while (c->until <= count)
		if (c->until - c->from == SWARM_COMBOS || make_next(c))
			return NULL;
	return count < c->from ? NULL : c->list[count % SWARM_COMBOS];
}

void swarm_combos_release(struct swarm_combos *c, uint64_t below)
{
	for (; c->from < below; c->from++)
		free(c->list[c->from % SWARM_COMBOS]);
}
