// SPDX-License-Identifier: GPL-2.0
/* Board: see board_read.h. */
#include "board_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"
#include "common/unix_take.h"

#define PATIENCE_MS 5000
#define TRIES 8 /* a state lasts two seconds */

/* ---- connection ------------------------------------------------------------------------------ */

int board_map(struct board_view *v, int fd)
{
	struct stat st;
	void *map = MAP_FAILED;
	int err = fstat(fd, &st) ? -errno : 0;

	if (!err && (uint64_t)st.st_size != BOARD_BYTES)
		err = -EPROTO;
	if (!err) {
		map = mmap(NULL, BOARD_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		err = map == MAP_FAILED ? -errno : 0;
	}
	close(fd);
	if (!err)
		v->map = map;
	return err;
}

int board_open(struct board_view *v, const char *path)
{
	struct board_hello hello = { 0 };
	int fds[PRIVSEP_FDS_MAX], err = unix_take(path, PATIENCE_MS, &hello, sizeof(hello), fds);

	if (!err && (fds[0] < 0 || hello.magic != BOARD_MAGIC || hello.version != BOARD_VERSION))
		err = -EPROTO;
	for (int i = err ? 0 : 1; i < PRIVSEP_FDS_MAX && fds[i] >= 0; i++)
		close(fds[i]);
	return err ?: board_map(v, fds[0]);
}

void board_close(struct board_view *v)
{
	if (v->map)
		munmap((void *)v->map, BOARD_BYTES);
	v->map = NULL;
}

/* ---- one state ------------------------------------------------------------------------------- */

/* Ends a text, and replaces control characters, which could reach a terminal. */
static void clean(char *text, size_t size)
{
	text[size - 1] = 0;
	log_clean(text);
}

#define CLEAN(text) clean(text, sizeof(text))

static bool check_sensor(struct board_sensor *s)
{
	CLEAN(s->name);
	CLEAN(s->group);
	CLEAN(s->application);
	return s->presence < BOARD_PRESENCES && s->address_len <= BOARD_ADDRESS_MAX;
}

static bool check_interface(struct board_interface *i, uint32_t sensors)
{
	CLEAN(i->name);
	CLEAN(i->source);
	CLEAN(i->keep);
	CLEAN(i->filter);
	return i->sensor < sensors;
}

static void *copied(const void *from, uint32_t count, size_t size)
{
	void *out = calloc(count ? count : 1, size);

	if (out)
		memcpy(out, from, count * size);
	return out;
}

static int state_copy(const struct board_view *v, uint32_t n, struct board_state *s)
{
	const uint8_t *slot =
		(const uint8_t *)v->map + BOARD_DATA + n % BOARD_SLOTS * BOARD_SLOT_BYTES;
	struct board_collector *c = &s->collector;
	bool right = true;

	memcpy(c, slot, sizeof(*c));
	if (c->sensors > BOARD_SENSORS_MAX || c->interfaces > BOARD_INTERFACES_MAX)
		return -EBADMSG;
	s->sensors = copied(slot + BOARD_SENSORS_AT, c->sensors, sizeof(*s->sensors));
	s->interfaces = copied(slot + BOARD_INTERFACES_AT, c->interfaces, sizeof(*s->interfaces));
	if (!s->sensors || !s->interfaces)
		return -ENOMEM;
	CLEAN(c->version);
	CLEAN(c->file);
	for (uint32_t i = 0; i < c->sensors; i++)
		right &= check_sensor(&s->sensors[i]);
	for (uint32_t i = 0; i < c->interfaces; i++)
		right &= check_interface(&s->interfaces[i], c->sensors);
	return right ? 0 : -EBADMSG;
}

void board_state_free(struct board_state *s)
{
	free(s->sensors);
	free(s->interfaces);
	*s = (struct board_state){ 0 };
}

/* ---- the newest ------------------------------------------------------------------------------ */

static uint32_t published(const struct board_view *v)
{
	return __atomic_load_n(&v->map->published, __ATOMIC_ACQUIRE);
}

/* How many states were published since state n. */
static uint32_t since(const struct board_view *v, uint32_t n)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return published(v) - n;
}

int board_copy(const struct board_view *v, struct board_state *now, struct board_state *before)
{
	int err = -EAGAIN;

	*now = (struct board_state){ 0 };
	if (before)
		*before = (struct board_state){ 0 };
	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		uint32_t n = published(v);
		int earlier = 0;

		if (!n)
			return -ENODATA;
		err = state_copy(v, n, now);
		if (before && n > 1)
			earlier = state_copy(v, n - 1, before);
		if (since(v, n) > (before ? 0 : 1))
			err = -EAGAIN;
		else
			err = err ?: earlier;
		if (err)
			board_state_free(now);
		if (err && before)
			board_state_free(before);
	}
	return err;
}
