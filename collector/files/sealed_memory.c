// SPDX-License-Identifier: GPL-2.0
/* Sealed memory: see sealed_memory.h. */
#include "sealed_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int sealed_memory_make(const char *name, size_t len, void **map)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	*map = ftruncate(fd, len) ? MAP_FAILED
				  : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = *map == MAP_FAILED ? -errno : 0;
	if (!err && fcntl(fd, F_ADD_SEALS,
			  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		err = -errno; /* EINVAL before Linux 5.1 */
		munmap(*map, len);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}
