// SPDX-License-Identifier: GPL-2.0
/*
 * Session keys: the public keys that a sensor trusts. A collector has up to two, so that it can
 * change its key. In: the key file, the collectors' orders. Out: the collectors' keys, and the file
 * of --collector-keys.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

_Static_assert(SESSION_KEYS == WIRE_ORDER_KEYS_MAX, "all that an order may name");

#define LINE_LEN                                                                                   \
	(sizeof(((struct sockets_address *)0)->name) + (1 + SESSION_KEYS) * KEY_TEXT_LEN + 2)

/* ---- a collector's keys ---------------------------------------------------------------------- */

static int find(const struct session_key *keys, unsigned int count, const uint8_t key[KEY_LEN])
{
	for (unsigned int i = 0; i < count; i++)
		if (!memcmp(keys[i].public, key, KEY_LEN))
			return i;
	return -1;
}

int session_keys_set(struct session *s, unsigned int peer, const struct order_keys *k)
{
	struct session_peer *p = &s->peers[peer];
	bool preshared = !sodium_is_zero(p->preshared, KEY_LEN);
	struct session_key keys[SESSION_KEYS] = { 0 };
	unsigned int used = 0;
	int err = 0;

	for (unsigned int i = 0; i < k->count && !err; i++) {
		int was = find(p->keys, p->key_count, k->key[i]);

		if (was >= 0)
			keys[i] = p->keys[was];
		if (was >= 0 && was == (int)p->key)
			used = i;
		memcpy(keys[i].public, k->key[i], KEY_LEN);
		err = tryst_pair(keys[i].pair, &s->own, keys[i].public, true,
				 preshared ? p->preshared : NULL);
	}
	if (!err) {
		memcpy(p->keys, keys, sizeof(keys));
		p->key_count = k->count;
		p->key = used;
	}
	sodium_memzero(keys, sizeof(keys));
	return err;
}

uint64_t session_key_begin(struct session *s)
{
	return load_word(session_peer_key(&s->peers[s->present->peer])->public);
}

void session_keys_tell(const struct session_peer *p, char trusts[KEY_SHORT_LEN])
{
	*trusts = 0;
	if (p->key_count > 1)
		key_to_short(trusts, p->keys[1 - p->key].public);
}

void session_keys_turn(struct session_peer *p)
{
	if (p->in_vain)
		p->key = (p->key + 1) % p->key_count;
	p->in_vain = true;
}

/* ---- the file -------------------------------------------------------------------------------- */

int session_keys_open(struct session_keys_file *f, const char *path)
{
	struct stat st;

	f->path = path;
	f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (f->fd >= 0 && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	log_line("--collector-keys %s: %s", path,
		 f->fd < 0 ? strerror(errno) : "is not a regular file");
	return -EINVAL;
}

/* Reads "HOST:PORT FIRST KEY [KEY]". Returns whether the line is about this collector. */
static bool read_line(struct order_keys *k, const struct session_peer *p, char *line)
{
	char *save, *word = strtok_r(line, " ", &save);
	uint8_t first[KEY_LEN];

	k->count = 0;
	if (!word || strcmp(word, p->address.name))
		return false;
	word = strtok_r(NULL, " ", &save);
	if (!word || key_from_text(first, word) || memcmp(first, p->first, KEY_LEN))
		return false;
	while ((word = strtok_r(NULL, " ", &save))) {
		if (k->count == SESSION_KEYS || key_from_text(k->key[k->count++], word))
			return false;
	}
	return k->count;
}

/* The key file may have got another next key meanwhile. */
static void load_line(struct session *s, unsigned int peer, struct order_keys *k)
{
	const struct session_peer *p = &s->peers[peer];

	if (k->count < SESSION_KEYS && !sodium_is_zero(p->next, KEY_LEN) &&
	    memcmp(p->next, k->key[0], KEY_LEN))
		memcpy(k->key[k->count++], p->next, KEY_LEN);
	if (session_keys_set(s, peer, k))
		log_line("--collector-keys %s: has a key of collector %s that is none",
			 s->keys_file.path, p->address.name);
}

void session_keys_load(struct session *s)
{
	static char text[SESSION_KEYS_FILE_MAX + LINE_LEN];
	ssize_t len = pread(s->keys_file.fd, text, sizeof(text) - 1, 0);
	char *line = text, *end;

	text[len < 0 ? 0 : len] = 0;
	/* A line without its end was not written to the end. */
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		for (unsigned int i = 0; i < s->peer_count && end - line < (long)LINE_LEN; i++) {
			char copy[LINE_LEN];
			struct order_keys k;

			memcpy(copy, line, end - line + 1);
			if (read_line(&k, &s->peers[i], copy))
				load_line(s, i, &k);
		}
	}
}

static size_t write_line(char out[LINE_LEN], const struct session_peer *p,
			 const struct order_keys *k)
{
	char key[KEY_TEXT_LEN];
	size_t len;

	key_to_text(key, p->first);
	len = snprintf(out, LINE_LEN, "%s %s", p->address.name, key);
	for (unsigned int i = 0; i < k->count; i++) {
		key_to_text(key, k->key[i]);
		len += snprintf(out + len, LINE_LEN - len, " %s", key);
	}
	out[len++] = '\n';
	return len;
}

/* The lines of the other collectors, when the file is begun anew. */
static size_t write_others(char *out, const struct session *s, unsigned int except)
{
	size_t len = 0;

	for (unsigned int i = 0; i < s->peer_count; i++) {
		const struct session_peer *p = &s->peers[i];
		struct order_keys k = { .count = p->key_count };

		for (unsigned int n = 0; n < p->key_count; n++)
			memcpy(k.key[n], p->keys[n].public, KEY_LEN);
		if (i != except)
			len += write_line(out + len, p, &k);
	}
	return len;
}

/* Returns 0 or -errno. Then the file is as before; a file that was begun anew may be empty. */
static int save(const struct session *s, unsigned int peer, const struct order_keys *k)
{
	char text[1 + SOCKETS_PEERS * LINE_LEN] = "\n"; /* ends a line that was cut off */
	const struct session_keys_file *f = &s->keys_file;
	size_t len = 1;
	struct stat st;
	ssize_t n;

	if (fstat(f->fd, &st))
		return -errno;
	if (st.st_size > SESSION_KEYS_FILE_MAX) {
		if (ftruncate(f->fd, 0))
			return -errno;
		st.st_size = 0;
		len += write_others(text + len, s, peer);
	}
	len += write_line(text + len, &s->peers[peer], k);
	n = pwrite(f->fd, text, len, st.st_size);
	if (n == (ssize_t)len && fdatasync(f->fd) == 0)
		return 0;
	n = n < 0 || n == (ssize_t)len ? -errno : -ENOSPC;
	return ftruncate(f->fd, st.st_size) ? -errno : (int)n;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Returns why the order cannot be executed, or NULL. The key of this session must stay: only a
 * collector that has it is known to be the right one. */
static const char *wrong(const struct session *s, const struct session_peer *p,
			 const struct order_keys *k)
{
	bool has_present = false;

	for (unsigned int i = 0; i < k->count; i++) {
		uint8_t pair[KEY_LEN];
		bool valid = !tryst_pair(pair, &s->own, k->key[i], true, NULL);

		sodium_memzero(pair, sizeof(pair));
		if (!valid)
			return "one of them is no public key";
		if (!memcmp(k->key[i], s->own.public, KEY_LEN))
			return "one of them is this sensor's own key";
		has_present = has_present || !memcmp(k->key[i], p->keys[p->key].public, KEY_LEN);
	}
	return has_present ? NULL : "the key of this session must be among them";
}

static bool is_same(const struct session_peer *p, const struct order_keys *k)
{
	bool same = p->key_count == k->count;

	for (unsigned int i = 0; i < k->count && same; i++)
		same = !memcmp(p->keys[i].public, k->key[i], KEY_LEN);
	return same;
}

int session_keys_order(struct session *s, const struct order_keys *k, char *said, size_t size)
{
	unsigned int peer = s->present->peer;
	const char *why = wrong(s, &s->peers[peer], k);
	int err;

	snprintf(said, size, "keys: %s",
		 why
			 ?: k->count > 1 ? "trusts both"
					 : "trusts only this one");
	if (why)
		return -EINVAL;
	if (is_same(&s->peers[peer], k))
		return 0;
	err = save(s, peer, k);
	if (err)
		snprintf(said, size, "keys: --collector-keys: cannot write: %s", strerror(-err));
	err = err ?: session_keys_set(s, peer, k);
	if (err)
		return err;
	s->peers[peer].in_vain = s->peers[peer].key != 0; /* the first one is preferred */
	if (s->keys_changed)
		s->keys_changed(s->keys_changed_arg);
	return 0;
}
