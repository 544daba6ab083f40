// SPDX-License-Identifier: GPL-2.0
/* links: keep/pack/walk.o keep/model/sections.o keep/folder/origin.o keep/folder/form.o
 * keep/columns/columns.o keep/columns/dwells.o keep/columns/event_line.o keep/columns/events.o
 * keep/columns/frame_columns.o keep/columns/frames.o keep/columns/table.o keep/columns/texts.o
 * keep/columns/transmissions.o keep/parquet/column.o keep/parquet/encode.o keep/parquet/footer.o
 * keep/parquet/writer.o keep/place/day_name.o keep/place/place.o archive/index_build.o
 * archive/index_hash.o archive/index_lay.o archive/index_read.o archive/index_cursor.o
 * pcapng/block.o pcapng/blocks.o pcapng/combo_name.o pcapng/receptions.o dissect/airtime.o
 * dissect/dot11_body.o dissect/dissect.o dissect/dot11.o dissect/network.o dissect/ppi.o
 * dissect/prism.o dissect/radio.o dissect/radiotap.o wire/channel.o common/stop.o common/buffer.o
 * common/space.o
 */
/*
 * The walk through a capture file. Input: the file. Always holds: the index can be read, its chunks
 * begin where blocks do, and it counts each frame. With tables (the first byte is 1 modulo 16),
 * rows are written to files that the end removes.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>

#include "fuzz.h"

#include "archive/index_read.h"
#include "keep/pack/walk.h"

struct source {
	const uint8_t *data;
	size_t len;
};

static ssize_t read_bytes(void *source, uint8_t *to, size_t len, uint64_t at)
{
	struct source *s = source;
	size_t left = at < s->len ? s->len - at : 0;

	if (len > left)
		len = left;
	if (len)
		memcpy(to, s->data + at, len);
	return len;
}

static void check_index(struct walk *w, uint64_t bytes)
{
	const struct index_head head = { .pcapng_bytes = bytes, .is_merged = w->is_merged };
	struct index x;
	uint8_t *laid;
	size_t len;

	CHECK(!index_finish(w->index, &head, &laid, &len));
	CHECK(!index_take(&x, laid, len));
	CHECK(x.head.frames == index_frames(w->index) && x.head.pcapng_bytes == bytes);
	CHECK(x.head.is_merged == w->is_merged);
	index_close(&x);
}

static char name[64];

static int folder_of_tables(void)
{
	int folder;

	strcpy(name, "/tmp/saluki-fuzz-walk-XXXXXX");
	CHECK(mkdtemp(name));
	folder = open(name, O_RDONLY | O_DIRECTORY);
	CHECK(folder >= 0);
	return folder;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source s = { .data = data + (size ? 1 : 0), .len = size ? size - 1 : 0 };
	const struct stat st = { .st_mode = S_IFREG | 0600 };
	int folder = size && data[0] % 16 == 1 ? folder_of_tables() : -1;
	struct blocks blocks;
	struct walk w;
	int err;

	CHECK(!walk_init(&w));
	columns_begin(&w.columns, folder, "fuzz", &st);
	CHECK(!blocks_open_from(&blocks, read_bytes, &s, s.len));
	err = walk_blocks(&w, &blocks);
	CHECK(!err || err == -EBADMSG || err == -ENODATA);
	if (!err) {
		CHECK(!columns_finish(&w.columns, &st));
		check_index(&w, blocks.at);
	}
	columns_end(&w.columns);
	blocks_close(&blocks);
	walk_free(&w);
	if (folder >= 0) {
		close(folder);
		CHECK(!nftw(name, remove_one, 8, FTW_DEPTH | FTW_PHYS));
	}
	return 0;
}
