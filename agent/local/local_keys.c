// SPDX-License-Identifier: GPL-2.0
/* Local keys: see local_keys.h. In: random numbers, the host's name. Out: three files in memory.
 * Always holds: only their owner may read them. */
#include "local_keys.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/host_name.h"
#include "common/log.h"
#include "wire/keys.h"

/* All link types are allowed, because the frames are this user's own. */
#define SENSOR_LINE "%s 1 %s linktypes=any\n"

static int file_make(const char *name, const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create(name, MFD_CLOEXEC), err;

	if (fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, text, len) == (ssize_t)len &&
	    lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

struct pair_text {
	char secret[KEY_TEXT_LEN], public[KEY_TEXT_LEN];
};

static void pair_make(struct pair_text *t)
{
	struct keypair pair;

	key_generate(pair.secret);
	key_public(pair.public, pair.secret);
	key_to_text(t->secret, pair.secret);
	key_to_text(t->public, pair.public);
	sodium_memzero(&pair, sizeof(pair));
}

int local_keys_make(struct local_keys *k)
{
	char name[HOST_NAME_LEN], text[2 * KEY_TEXT_LEN + 64];
	struct pair_text sensor, collector;
	int err;

	pair_make(&sensor);
	pair_make(&collector);
	host_name(name); /* so that merged files of several hosts still name each frame's host */
	snprintf(text, sizeof(text), "%s\n%s\n", sensor.secret, collector.public);
	k->sensor = file_make("sensor.key", text);
	snprintf(text, sizeof(text), "%s\n", collector.secret);
	k->collector = file_make("collector.key", text);
	snprintf(text, sizeof(text), SENSOR_LINE, name, sensor.public);
	k->sensors = file_make("sensors", text);
	sodium_memzero(text, sizeof(text));
	sodium_memzero(&sensor, sizeof(sensor));
	sodium_memzero(&collector, sizeof(collector));
	err = k->sensor < 0 ? k->sensor : k->collector < 0 ? k->collector : k->sensors;
	if (err >= 0)
		return 0;
	log_line("capture: cannot make files in memory for keys: %s", strerror(-err));
	return err;
}

void local_keys_close(struct local_keys *k)
{
	close(k->collector);
	close(k->sensors); /* the sensor's goes to its process, and is closed there */
}
