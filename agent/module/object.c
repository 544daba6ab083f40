// SPDX-License-Identifier: GPL-2.0
/* Object: see object.h. */
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

static int read_all(int fd, uint8_t *data, size_t max, size_t *len)
{
	ssize_t n;

	*len = 0;
	do {
		n = read(fd, data + *len, max - *len);
		*len += n > 0 ? n : 0;
	} while ((n > 0 && *len < max) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

int file_read(int fd, const char *path, size_t max, uint8_t **data, size_t *len)
{
	struct stat st;
	int err = fstat(fd, &st) ? -errno : 0;

	*data = NULL;
	if (!err && !S_ISREG(st.st_mode)) {
		log_line("%s: is no regular file", path);
		return -EINVAL;
	}
	/* The limit is checked on the bytes read, not by stat(), as the file may grow. */
	*data = malloc(max + 1);
	err = err ?: *data ? read_all(fd, *data, max + 1, len) : -ENOMEM;
	if (!err && (*len == 0 || *len > max)) {
		log_line(*len ? "%s: has more than %zu bytes" : "%s: is empty", path, max);
		err = -EINVAL;
	} else if (err) {
		log_line("%s: %s", path, strerror(-err));
	} else {
		(*data)[*len] = 0;
		return 0;
	}
	free(*data);
	*data = NULL;
	return err;
}

int file_open_read(const char *path, size_t max, uint8_t **data, size_t *len)
{
	/* Never waits: the path may name a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	*data = NULL;
	if (fd < 0) {
		err = -errno;
		log_line("%s: %s", path, strerror(-err));
		return err;
	}
	err = file_read(fd, path, max, data, len);
	close(fd);
	return err;
}

int object_read(struct module_object *o, const char *path)
{
	int err = file_open_read(path, OBJECT_MAX, &o->data, &o->len);

	return err ?: crypto_generichash(o->hash, OBJECT_HASH_LEN, o->data, o->len, NULL, 0);
}

void object_free(struct module_object *o)
{
	free(o->data);
	memset(o, 0, sizeof(*o));
}
