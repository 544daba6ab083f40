// SPDX-License-Identifier: GPL-2.0
/* Board, the privileged process: see board.h. In: connections. Out: the memory's descriptor. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "board.h"
#include "collector/files/sealed_memory.h"
#include "common/log.h"

int board_make(struct handout *out, struct board **map)
{
	void *memory = NULL;
	int fd = sealed_memory_make("saluki-board", BOARD_BYTES, &memory);

	out->fds[0] = fd < 0 ? -1 : fd;
	if (fd < 0) {
		memory = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return -errno;
	}
	*map = memory;
	**map = (struct board){ .magic = BOARD_MAGIC, .version = BOARD_VERSION };
	return 0;
}

int board_listen(struct handout *out, const char *path)
{
	const char *why = "this process cannot make memory of its size that others can only read";
	int err = out->fds[0] < 0 ? -ENOTSUP : 0;

	err = err ?: handout_listen(out, path, !strcmp(path, BOARD_PATH), &why);

	if (err)
		log_line("--board %s: %s", path, why);
	else
		handout_permit("--board", path, BOARD_GROUP);
	return err;
}

void board_unmap(struct board **map)
{
	if (*map)
		munmap(*map, BOARD_BYTES);
	*map = NULL;
}

void board_hand_out(struct handout *out, uint64_t now_ns)
{
	const struct board_hello hello = { BOARD_MAGIC, BOARD_VERSION };

	handout_give(out, &hello, sizeof(hello), now_ns);
}
