// SPDX-License-Identifier: GPL-2.0
/* Changes to the sensors file: see sensors_edit.h. */
#include "sensors_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/log.h"
#include "common/suggest.h"

#define ID_MAX 65535
#define BYTES_MAX (256 * 1024 * 1024) /* longest lines, for all ids */

/* ---- reading --------------------------------------------------------------------------------- */

/* A program that is stopped amid the change must not leave half of it. */
static void hold_signals(struct sensors_edit *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &e->signals);
}

/* The file itself is replaced, so the lock is its folder's. */
static int lock_folder(struct sensors_edit *e)
{
	char *copy = strdup(e->path);

	if (!copy)
		return -ENOMEM;
	e->folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (e->folder < 0)
		return -errno;
	if (flock(e->folder, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		log_line("--sensors %s: another program has locked its folder; waiting", e->path);
	return flock(e->folder, LOCK_EX) ? -errno : 0;
}

static int read_text(struct sensors_edit *e, int fd)
{
	ssize_t n;

	if (fstat(fd, &e->st))
		return -errno;
	if (!S_ISREG(e->st.st_mode))
		return -EINVAL;
	if (e->st.st_size > BYTES_MAX)
		return -EFBIG;
	e->text = malloc(e->st.st_size + 1);
	if (!e->text)
		return -ENOMEM;
	while ((n = read(fd, e->text + e->len, e->st.st_size - e->len)) > 0)
		e->len += n;
	e->text[e->len] = 0;
	return n < 0 || lseek(fd, 0, SEEK_SET) ? -errno : 0;
}

static int read_file(struct sensors_edit *e)
{
	int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	err = read_text(e, fd);
	if (err) {
		close(fd);
		return err;
	}
	return sensors_file_read_any(&e->file, fd, e->path) ? -EBADMSG : 0; /* logged */
}

int sensors_edit_open(struct sensors_edit *e, const char *path)
{
	int err;

	*e = (struct sensors_edit){ .folder = -1, .path = realpath(path, NULL) };
	if (!e->path && errno == ENOENT)
		e->path = strdup(path);
	sigprocmask(SIG_BLOCK, NULL, &e->signals);
	err = !e->path ? -errno : lock_folder(e);
	hold_signals(e);
	err = err ?: read_file(e);
	if (err && err != -EBADMSG)
		log_line("--sensors %s: %s", path,
			 err == -EINVAL ? "is not a regular file" : strerror(-err));
	if (err)
		sensors_edit_close(e);
	return err;
}

void sensors_edit_close(struct sensors_edit *e)
{
	if (e->text)
		sodium_memzero(e->text, e->len);
	free(e->text);
	free(e->path);
	if (e->folder >= 0)
		close(e->folder);
	sensors_file_free(&e->file);
	sigprocmask(SIG_SETMASK, &e->signals, NULL);
	*e = (struct sensors_edit){ .folder = -1, .signals = e->signals };
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const struct sensors_line *find_name(const struct sensors_edit *e, const char *name)
{
	for (unsigned int i = 0; i < e->file.count; i++)
		if (!strcmp(e->file.lines[i].name, name))
			return &e->file.lines[i];
	return NULL;
}

static const struct sensors_line *find_key(const struct sensors_edit *e, const char *text)
{
	uint8_t public[KEY_LEN];

	if (key_from_text(public, text))
		return NULL;
	for (unsigned int i = 0; i < e->file.count; i++)
		if (!memcmp(e->file.lines[i].public, public, KEY_LEN))
			return &e->file.lines[i];
	return NULL;
}

static bool is_twice(const struct sensors_edit_line *lines, int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(lines[k].name, lines[i].name))
			return true;
	return false;
}

/* Logs a line if the new line is refused. */
static int check_line(const struct sensors_edit *e, const struct sensors_edit_line *l, bool twice)
{
	const struct sensors_line *name = find_name(e, l->name), *key = find_key(e, l->public);

	if (!*l->name || !sensors_file_name_valid(l->name) || groups_file_has(l->name))
		log_line("%s: a name is at most 31 letters, digits, dots, dashes and underscores, "
			 "and not 'group' or 'refocus'",
			 l->name);
	else if (twice)
		log_line("%s: is given twice", l->name);
	else if (name)
		log_line("%s: this name is taken, by line %u of %s", l->name, name->number,
			 e->path);
	else if (key)
		log_line("%s: this public key is %s's, in line %u of %s", l->name, key->name,
			 key->number, e->path);
	else if (l->group && !groups_file_find(&e->file.groups, l->group))
		log_line("--group %s: there is no such group; add a line 'group %s' to %s",
			 l->group, l->group, e->path);
	else
		return 0;
	return -EEXIST;
}

/* The id after the highest one; after the last number, the lowest free one. */
static uint16_t next_id(const uint8_t *taken, uint16_t *highest)
{
	uint16_t id = *highest == ID_MAX ? 1 : *highest + 1;

	while (taken[id])
		id++;
	if (*highest < ID_MAX)
		*highest = id;
	return id;
}

static int choose_ids(const struct sensors_edit *e, struct sensors_edit_line *lines, int count)
{
	uint8_t *taken = calloc(ID_MAX + 1, 1);
	uint16_t highest = 0;

	if (!taken)
		return -ENOMEM;
	for (unsigned int i = 0; i < e->file.count; i++) {
		taken[e->file.lines[i].id] = 1;
		if (e->file.lines[i].id > highest)
			highest = e->file.lines[i].id;
	}
	for (int i = 0; i < count; i++) {
		lines[i].id = next_id(taken, &highest);
		taken[lines[i].id] = 1;
	}
	free(taken);
	return 0;
}

int sensors_edit_check(const struct sensors_edit *e, struct sensors_edit_line *lines, int count)
{
	if ((unsigned int)count > ID_MAX - e->file.count) {
		log_line("--sensors %s: has room for %u more sensors", e->path,
			 ID_MAX - e->file.count);
		return -ENOSPC;
	}
	for (int i = 0; i < count; i++) {
		int err = check_line(e, &lines[i], is_twice(lines, i));

		if (err)
			return err;
	}
	return choose_ids(e, lines, count);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0)
			return -errno;
		text += n;
		len -= n;
	}
	return fsync(fd) ? -errno : 0;
}

/* The old file's owner and mode. With preshared keys, only the owner may read it. */
static int set_mode(const struct sensors_edit *e, int fd, bool secret)
{
	mode_t mode = e->st.st_mode ? e->st.st_mode & 07777 : 0600;

	if (e->st.st_mode && fchown(fd, e->st.st_uid, e->st.st_gid))
		return -errno;
	return fchmod(fd, secret ? mode & 0700 : mode) ? -errno : 0;
}

/* The collector must be able to read it. */
static int check_text(const struct sensors_edit *e, int fd, unsigned int count)
{
	struct sensors_file f;
	int copy = lseek(fd, 0, SEEK_SET) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0), err;

	if (copy < 0)
		return -errno;
	if (sensors_file_read_any(&f, copy, e->path))
		return -EBADMSG;
	err = f.count == count ? 0 : -EINVAL;
	sensors_file_free(&f);
	return err;
}

static int replace(struct sensors_edit *e, const char *text, size_t len, unsigned int count,
		   bool secret)
{
	char *temporary = NULL;
	int fd = -1, err;

	if (asprintf(&temporary, "%s.XXXXXX", e->path) < 0)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	err = fd < 0 ? -errno
		     : set_mode(e, fd, secret)
			       ?: write_all(fd, text, len) ?: check_text(e, fd, count);
	if (!err && rename(temporary, e->path))
		err = -errno;
	if (!err)
		fsync(e->folder);
	else if (fd >= 0)
		unlink(temporary);
	if (err && err != -EBADMSG)
		log_line("--sensors %s: %s", e->path, strerror(-err));
	if (fd >= 0)
		close(fd);
	free(temporary);
	return err;
}

static int replace_wiped(struct sensors_edit *e, char *text, size_t len, unsigned int count,
			 bool secret)
{
	int err = text ? replace(e, text, len, count, secret) : -ENOMEM;

	if (text)
		sodium_memzero(text, len);
	free(text);
	return err;
}

int sensors_edit_add(struct sensors_edit *e, const struct sensors_edit_line *lines, int count)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool secret = false;

	if (!out)
		return -ENOMEM;
	fwrite(e->text, 1, e->len, out);
	if (e->len && e->text[e->len - 1] != '\n')
		putc('\n', out);
	for (int i = 0; i < count; i++) {
		const struct sensors_edit_line *l = &lines[i];

		fprintf(out, "%s %u %s%s%s%s%s\n", l->name, l->id, l->public,
			*l->preshared ? " " : "", l->preshared, l->group ? " group=" : "",
			l->group ?: "");
		secret = secret || *l->preshared;
	}
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	return replace_wiped(e, text, len, e->file.count + count, secret);
}

static void log_unknown(const struct sensors_edit *e, const char *name)
{
	struct suggest s;

	suggest_begin(&s, name, strlen(name));
	for (unsigned int i = 0; i < e->file.count; i++)
		suggest_offer(&s, e->file.lines[i].name);
	log_line("%s: %s has no such sensor%s%s%s", name, e->path, s.word ? "; did you mean " : "",
		 s.word ?: "", s.word ? "?" : "");
}

/* Marks the lines of all names. Returns their number, or -ENOENT after a line. */
static int mark_lines(const struct sensors_edit *e, bool *gone, char *const *names, int count)
{
	int marked = 0;

	for (int i = 0; i < count; i++) {
		const struct sensors_line *l = find_name(e, names[i]);

		if (!l) {
			log_unknown(e, names[i]);
			return -ENOENT;
		}
		marked += !gone[l->number];
		gone[l->number] = true;
	}
	return marked;
}

int sensors_edit_remove(struct sensors_edit *e, char *const *names, int count)
{
	bool *gone = calloc(e->len + 2, sizeof(*gone)); /* by the lines' numbers */
	char *text = malloc(e->len + 1);
	unsigned int number = 1;
	size_t len = 0;
	int marked = gone && text ? mark_lines(e, gone, names, count) : -ENOMEM;

	for (size_t i = 0; marked > 0 && i < e->len; i++) {
		if (!gone[number])
			text[len++] = e->text[i];
		number += e->text[i] == '\n';
	}
	free(gone);
	if (marked >= 0 && (unsigned int)marked == e->file.count) {
		log_line("%s: a collector needs at least one sensor; add another one first",
			 e->path);
		marked = -EINVAL;
	}
	if (marked < 0) {
		free(text);
		return marked;
	}
	return replace_wiped(e, text, len, e->file.count - marked, false);
}
