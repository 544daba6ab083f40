// SPDX-License-Identifier: GPL-2.0
/* The key file of --pseudonyms: see pseudonym_key.h. Wipes all copies of the key. */
#include "pseudonym_key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "wire/keys.h"

_Static_assert(KEY_LEN == PSEUDONYM_KEY_LEN, "genpsk makes such keys");

/* Returns 0, or -errno; -EINVAL: the file has something else. */
static int read_key(uint8_t key[KEY_LEN], int fd)
{
	char text[256] = "";
	size_t len = 0;
	ssize_t n = 1;
	int err;

	while (n > 0 && len < sizeof(text) - 1) {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n < 0)
			err = -errno;
		else
			len += n;
	}
	if (n >= 0)
		err = strlen(text) != len || key_from_text(key, text) ||
				      sodium_is_zero(key, KEY_LEN)
			      ? -EINVAL
			      : 0;
	sodium_memzero(text, sizeof(text));
	return err;
}

int pseudonym_key_read(struct pseudonyms *p, const char *path)
{
	uint8_t key[KEY_LEN];
	int fd, err;

	if (key_is_text(path)) {
		log_line("--pseudonyms: is a key itself, not a file's name");
		return -EINVAL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		log_line("--pseudonyms %s: %s", path, strerror(errno));
		return err;
	}
	if (!keys_private(fd))
		log_line("warning: --pseudonyms %s: others can read it; chmod 600 %s", path, path);
	err = keys_init() ?: read_key(key, fd);
	close(fd);
	if (err)
		log_line("--pseudonyms %s: %s", path,
			 err == -EINVAL ? "is not a key; 'saluki genpsk' makes one"
					: strerror(-err));
	else
		pseudonyms_init(p, key);
	sodium_memzero(key, sizeof(key));
	keys_lock(p, sizeof(*p));
	return err;
}
