// SPDX-License-Identifier: GPL-2.0
/* Board, the privileged process: see board.h. In: connections. Out: the memory's descriptor. */
#include <string.h>
#include <sys/mman.h>

#include "board.h"
#include "collector/files/sealed_memory.h"
#include "common/log.h"

int board_make(struct handout *out, struct board **map)
{
	void *memory = NULL;
	int fd = sealed_memory_make("saluki-board", BOARD_BYTES, &memory);

	if (fd < 0)
		return fd;
	out->fds[0] = fd;
	*map = memory;
	**map = (struct board){ .magic = BOARD_MAGIC, .version = BOARD_VERSION };
	return 0;
}

int board_listen(struct handout *out, const char *path)
{
	const char *why;
	int err = handout_listen(out, path, !strcmp(path, BOARD_PATH), &why);

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
