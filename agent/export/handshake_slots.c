// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake slots: see handshake_slots.h. A hash table of used slots. An entry is free again after
 * its interval. If all places of a slot are taken, it counts as unused: a slot used twice costs
 * only an unanswered attempt.
 */
#include "handshake_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MAX 256
#define ENTRIES 512
#define PLACES 16 /* of a slot */
#define ALIVE 2	  /* intervals before and after for which a collector knows a slot */

/* Several processes write at once, each for its own keys: a torn entry costs one slot. */
struct entry {
	uint64_t slot;
	uint64_t interval; /* 0: free */
};

static struct entry *table;

/* Reserves the table's bytes in the file: otherwise a full file system would cause a signal at a
 * write. */
static bool make_room(int fd, size_t len)
{
	const struct entry none = { 0 };
	struct stat st;
	size_t at;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	for (at = st.st_size; at < len; at += sizeof(none))
		if (pwrite(fd, &none, sizeof(none), at) != (ssize_t)sizeof(none))
			return false;
	return true;
}

void handshake_slots_open(const char *path)
{
	size_t len = ENTRIES * sizeof(*table);
	const char *name = strrchr(path, '/');
	char folder[FOLDER_MAX];
	void *p;
	int fd;

	snprintf(folder, sizeof(folder), "%.*s", name ? (int)(name - path) : 0, path);
	mkdir(folder, 0700);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (make_room(fd, len)) {
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		table = p == MAP_FAILED ? NULL : p;
	}
	close(fd);
}

void handshake_slots_close(void)
{
	if (table)
		munmap(table, ENTRIES * sizeof(*table));
	table = NULL;
}

static bool is_free(const struct entry *e, uint64_t interval)
{
	return e->interval + ALIVE < interval || e->interval > interval + ALIVE;
}

bool handshake_slots_take(uint64_t slot, uint64_t interval)
{
	struct entry *place = NULL;

	if (!table)
		return true;
	for (unsigned int i = 0; i < PLACES; i++) {
		struct entry *e = &table[(slot + i) % ENTRIES];

		if (e->slot == slot && e->interval == interval)
			return false;
		if (!place && is_free(e, interval))
			place = e;
	}
	if (place) {
		place->slot = slot;
		place->interval = interval;
	}
	return true;
}
