// SPDX-License-Identifier: GPL-2.0
/* Instance: see instance.h. */
#include "instance.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "wire/derive.h"

#define ID_MAX 64

/* Returns the bytes read of the file, or 0. */
static size_t read_id(uint8_t id[ID_MAX], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, id, ID_MAX);

	if (fd >= 0)
		close(fd);
	return n > 0 ? n : 0;
}

void instance_make(uint8_t out[TRYST_INSTANCE_LEN], const uint8_t secret[KEY_LEN])
{
	uint8_t boot[ID_MAX], machine[ID_MAX], full[KEY_LEN];
	size_t boot_len = read_id(boot, "/proc/sys/kernel/random/boot_id"); /* random(4) */
	size_t machine_len = read_id(machine, "/etc/machine-id");	    /* machine-id(5) */

	derive(full, secret, "instance", boot, boot_len, machine, machine_len);
	memcpy(out, full, TRYST_INSTANCE_LEN);
	sodium_memzero(full, sizeof(full));
}
