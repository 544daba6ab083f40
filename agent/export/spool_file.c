// SPDX-License-Identifier: GPL-2.0
/*
 * Spool file: see spool_file.h. In: records of this process, and a file from a killed process,
 * perhaps altered by others. Out: complete records. Always holds: a record is read only inside its
 * segment, and keeps its writer's count.
 */
#include "spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wire/bytes.h"

#define FILE_MAGIC "saluki spool 3\n"
#define MAGIC_LEN 16
#define FILE_KIND_LEN 13 /* up to the version */
#define FILE_HEAD 24
#define SEGMENT_MAGIC 0x73707365676d3031ULL
#define EPHEMERAL_AT (4 * 8)
#define PEERS_AT (EPHEMERAL_AT + KEY_LEN)
#define HEAD_CHECK_AT (PEERS_AT + KEYS_PEERS_MAX * (SPOOL_MARK_LEN + SPOOL_WRAPPED_LEN))
#define CHECK_LEN 8
/* No process gets there, so numbers after the last one read do not wrap. */
#define ORDER_MAX (UINT64_MAX / 2)
#define LOCK_MS 20
#define LOCK_TRIES 250
#define RECORD_CHECK_AT (SPOOL_RECORD_HEAD - CHECK_LEN)

_Static_assert(sizeof(FILE_MAGIC) == MAGIC_LEN, "of the file's beginning");
_Static_assert(HEAD_CHECK_AT + CHECK_LEN <= SPOOL_SEGMENT_HEAD, "a segment's head");
_Static_assert(SPOOL_SEGMENT_HEAD + 2 * SPOOL_RECORD_HEAD + INFO_LASTING_MAX + SPOOL_RECORD_MAX <=
		       SPOOL_SEGMENT_MIN,
	       "any combo fits into a segment");

/* ---- the file -------------------------------------------------------------------------------- */

/* A killed process may still be ending. Returns 0 or -1. */
static int lock(int fd)
{
	const struct timespec moment = { .tv_nsec = LOCK_MS * 1000000 };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&moment, NULL);
	}
	return -1;
}

static int read_all(const struct spool_file *f, uint64_t at, uint8_t *out, size_t len)
{
	ssize_t n;

	do
		n = pread(f->fd, out, len, at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (size_t)n == len ? 0 : -EBADMSG;
}

/* On a full disk a part may be written. It is invalid without its check. A quota or a limit of the
 * kernel is a full disk too: the spool's own EDQUOT and EFBIG have another meaning. */
static int write_all(const struct spool_file *f, uint64_t at, const uint8_t *in, size_t len)
{
	while (len) {
		ssize_t n = pwrite(f->fd, in, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != EDQUOT && errno != EFBIG ? -errno : -ENOSPC;
		in += n;
		at += n;
		len -= n;
	}
	return 0;
}

static int magic_check(const uint8_t *head, size_t len)
{
	if (!memcmp(head, FILE_MAGIC, len))
		return 0;
	return len < MAGIC_LEN || memcmp(head, FILE_MAGIC, FILE_KIND_LEN) ? -EBADMSG
									  : -EPROTONOSUPPORT;
}

int spool_file_begin(struct spool_file *f, int fd, uint64_t bytes)
{
	uint8_t head[FILE_HEAD] = { 0 };
	struct stat st;
	size_t len;
	int err;

	f->fd = fd;
	f->segment_bytes = bytes / SPOOL_SEGMENTS / SPOOL_FIRST * SPOOL_FIRST;
	if (f->segment_bytes < SPOOL_SEGMENT_MIN)
		f->segment_bytes = SPOOL_SEGMENT_MIN;
	if (fstat(fd, &st))
		return -errno;
	/* A kill may have left a part of it. */
	len = st.st_size < FILE_HEAD ? (size_t)st.st_size : FILE_HEAD;
	err = read_all(f, 0, head, len) ?: magic_check(head, len < MAGIC_LEN ? len : MAGIC_LEN);
	if (err || len < FILE_HEAD)
		return err;
	f->segment_bytes = load_be(head + MAGIC_LEN, 8);
	return f->segment_bytes < SPOOL_SEGMENT_MIN || f->segment_bytes > 1ULL << 40 ? -EBADMSG : 0;
}

const char *spool_file_open(struct spool_file *f, const char *path, uint64_t bytes)
{
	struct stat st;
	int err;

	f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (f->fd < 0 || fstat(f->fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "is no file";
	if (lock(f->fd))
		return "another saluki has it";
	err = spool_file_begin(f, f->fd, bytes);
	if (err == -EBADMSG)
		return "is something else, and stays as it is";
	if (err == -EPROTONOSUPPORT)
		return "another version of saluki has made it; it stays as it is";
	return err ? strerror(-err) : NULL;
}

/* An empty file lacks it. */
static int file_head_write(const struct spool_file *f)
{
	uint8_t head[FILE_HEAD] = FILE_MAGIC;

	store_be(head + MAGIC_LEN, f->segment_bytes, 8);
	return write_all(f, 0, head, sizeof(head));
}

static uint64_t segment_at(const struct spool_file *f, unsigned int segment)
{
	return SPOOL_FIRST + segment * f->segment_bytes;
}

/* ---- segments -------------------------------------------------------------------------------- */

void spool_mark(uint8_t mark[SPOOL_MARK_LEN], const uint8_t peer[KEY_LEN],
		const uint8_t ephemeral[KEY_LEN])
{
	uint8_t hash[KEY_LEN];

	derive(hash, peer, "spool mark", ephemeral, KEY_LEN, NULL, 0);
	memcpy(mark, hash, SPOOL_MARK_LEN);
}

int spool_head_read(struct spool_file *f, unsigned int segment, struct spool_head *h)
{
	uint8_t head[SPOOL_SEGMENT_HEAD], hash[KEY_LEN];
	int err = read_all(f, segment_at(f, segment), head, sizeof(head));

	if (err)
		return err;
	derive_hash(hash, head, HEAD_CHECK_AT);
	h->order = load_be(head + 8, 8);
	if (load_be(head, 8) != SEGMENT_MAGIC || memcmp(hash, head + HEAD_CHECK_AT, CHECK_LEN) ||
	    h->order > ORDER_MAX)
		return -EBADMSG;
	h->segment = segment;
	h->run = load_be(head + 16, 8);
	h->stamp = load_be(head + 24, 8);
	memcpy(h->ephemeral, head + EPHEMERAL_AT, sizeof(h->ephemeral));
	memcpy(h->peers, head + PEERS_AT, sizeof(h->peers));
	return 0;
}

int spool_head_write(struct spool_file *f, const struct spool_head *h)
{
	uint8_t head[SPOOL_SEGMENT_HEAD] = { 0 }, hash[KEY_LEN];

	store_be(head, SEGMENT_MAGIC, 8);
	store_be(head + 8, h->order, 8);
	store_be(head + 16, h->run, 8);
	store_be(head + 24, h->stamp, 8);
	memcpy(head + EPHEMERAL_AT, h->ephemeral, sizeof(h->ephemeral));
	memcpy(head + PEERS_AT, h->peers, sizeof(h->peers));
	derive_hash(hash, head, HEAD_CHECK_AT);
	memcpy(head + HEAD_CHECK_AT, hash, CHECK_LEN);
	return file_head_write(f) ?: write_all(f, segment_at(f, h->segment), head, sizeof(head));
}

void spool_head_erase(struct spool_file *f, unsigned int segment)
{
	uint8_t zeros[SPOOL_SEGMENT_HEAD] = { 0 };

	write_all(f, segment_at(f, segment), zeros, sizeof(zeros));
	/* Not every file system supports it. The space is reused in any case. */
	fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, segment_at(f, segment),
		  f->segment_bytes);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Includes the segment's stamp, so that records of the segment's earlier use are invalid. */
static void record_check(uint8_t check[CHECK_LEN], const struct spool_head *h, const uint8_t *head,
			 const uint8_t *data, size_t len)
{
	uint8_t hash[KEY_LEN], stamped[8 + RECORD_CHECK_AT];

	store_be(stamped, h->stamp, 8);
	memcpy(stamped + 8, head, RECORD_CHECK_AT);
	derive(hash, h->ephemeral, "spool record", stamped, sizeof(stamped), data, len);
	memcpy(check, hash, CHECK_LEN);
}

static bool fits(const struct spool_file *f, uint64_t at, uint64_t len)
{
	return at <= f->segment_bytes && len <= f->segment_bytes - at;
}

int spool_record_read(struct spool_file *f, const struct spool_head *h, uint64_t *at,
		      struct spool_record *r, uint8_t data[SPOOL_RECORD_MAX])
{
	uint64_t from = segment_at(f, h->segment) + *at;
	uint8_t head[SPOOL_RECORD_HEAD], check[CHECK_LEN];
	int err = fits(f, *at, sizeof(head)) ? read_all(f, from, head, sizeof(head)) : -EBADMSG;

	if (err)
		return err;
	*r = (struct spool_record){ .len = load_be(head, 4),
				    .kind = head[4],
				    .count = load_be(head + 5, 8),
				    .first = load_be(head + 13, 8),
				    .frames = load_be(head + 21, 4),
				    .data = data };
	if (!r->len || r->len > SPOOL_RECORD_MAX || !fits(f, *at, sizeof(head) + r->len))
		return -EBADMSG;
	err = read_all(f, from + sizeof(head), data, r->len);
	if (err)
		return err;
	record_check(check, h, head, data, r->len);
	if (memcmp(check, head + RECORD_CHECK_AT, CHECK_LEN))
		return -EBADMSG;
	*at += sizeof(head) + r->len;
	return 0;
}

int spool_record_write(struct spool_file *f, const struct spool_head *h, uint64_t *at,
		       const struct spool_record *r)
{
	uint64_t to = segment_at(f, h->segment) + *at;
	uint8_t head[SPOOL_RECORD_HEAD];
	int err;

	if (!fits(f, *at, sizeof(head) + r->len))
		return -EFBIG;
	store_be(head, r->len, 4);
	head[4] = r->kind;
	store_be(head + 5, r->count, 8);
	store_be(head + 13, r->first, 8);
	store_be(head + 21, r->frames, 4);
	record_check(head + RECORD_CHECK_AT, h, head, r->data, r->len);
	/* The head last: a record whose head can be read is whole, also if the process is killed.
	 */
	err = write_all(f, to + sizeof(head), r->data, r->len)
		      ?: write_all(f, to, head, sizeof(head));
	if (!err)
		*at += sizeof(head) + r->len;
	return err;
}
