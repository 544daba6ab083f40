// SPDX-License-Identifier: GPL-2.0
/* Board: see read.h. */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
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
	int err = fstat(fd, &st) ? -errno : 0, seals;

	/* Memory that can shrink could end this process. */
	seals = err ? 0 : fcntl(fd, F_GET_SEALS);
	if (!err && ((uint64_t)st.st_size != BOARD_BYTES || seals < 0 || !(seals & F_SEAL_SHRINK)))
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

int board_take(const char *path)
{
	struct board_hello hello = { 0 };
	int fds[PRIVSEP_FDS_MAX], err = unix_take(path, PATIENCE_MS, &hello, sizeof(hello), fds);

	if (!err && (fds[0] < 0 || hello.magic != BOARD_MAGIC || hello.version != BOARD_VERSION))
		err = -EPROTO;
	for (int i = err ? 0 : 1; i < PRIVSEP_FDS_MAX && fds[i] >= 0; i++)
		close(fds[i]);
	return err ?: fds[0];
}

int board_open(struct board_view *v, const char *path)
{
	int fd = board_take(path);

	return fd < 0 ? fd : board_map(v, fd);
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

static bool is_finite(double x)
{
	return x - x == 0;
}

static void clean_kafka(struct board_kafka *k)
{
	CLEAN(k->why);
	CLEAN(k->topic);
	CLEAN(k->brokers);
}

static bool check_sensor(struct board_sensor *r)
{
	CLEAN(r->name);
	CLEAN(r->group);
	CLEAN(r->application);
	return r->presence < BOARD_PRESENCES && r->address_len <= BOARD_ADDRESS_MAX &&
	       is_finite(r->x) && is_finite(r->y);
}

/* Whether the index of record `i` is in range, and not below the one before it. */
#define IN_ORDER(table, member, i, count)                                                          \
	((table)[i].member < (count) && (!(i) || (table)[(i)-1].member <= (table)[i].member))

/* Whether record `i` is not one too many of its owner. */
#define WITHIN(table, member, i, most)                                                             \
	((i) < (most) || (table)[(i) - (most)].member != (table)[i].member)

static bool check_interfaces(struct board_state *s, uint32_t i)
{
	struct board_interface *r = &s->interfaces[i];

	CLEAN(r->name);
	CLEAN(r->source);
	CLEAN(r->keep);
	CLEAN(r->filter);
	CLEAN(r->state);
	return IN_ORDER(s->interfaces, sensor, i, s->collector.sensors) &&
	       WITHIN(s->interfaces, sensor, i, BOARD_INTERFACES_EACH);
}

static bool check_channels(struct board_state *s, uint32_t i)
{
	return IN_ORDER(s->channels, interface, i, s->collector.interfaces) &&
	       WITHIN(s->channels, interface, i, BOARD_CHANNELS_EACH);
}

static bool check_modules(struct board_state *s, uint32_t i)
{
	CLEAN(s->modules[i].name);
	return IN_ORDER(s->modules, sensor, i, s->collector.sensors) &&
	       WITHIN(s->modules, sensor, i, BOARD_MODULES_EACH);
}

static bool check_groups(struct board_state *s, uint32_t i)
{
	CLEAN(s->groups[i].name);
	CLEAN(s->groups[i].channels);
	return true;
}

static bool check_refused(struct board_state *s, uint32_t i)
{
	struct board_refused *r = &s->refused[i];

	CLEAN(r->name);
	CLEAN(r->key);
	return r->reason < BOARD_REASONS && r->address_len <= BOARD_ADDRESS_MAX;
}

static void *copied(const void *from, uint32_t count, size_t size)
{
	void *out = calloc(count ? count : 1, size);

	if (out)
		memcpy(out, from, count * size);
	return out;
}

/* Returns 0, -EBADMSG or -ENOMEM. */
static int sensors_copy(const struct board_slot *slot, struct board_state *s)
{
	uint32_t count = s->collector.sensors;
	bool right = true;

	if (count > BOARD_SENSORS_MAX)
		return -EBADMSG;
	s->sensors = calloc(count ? count : 1, sizeof(*s->sensors));
	if (!s->sensors)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		board_sensor_read(&s->sensors[i], slot, i);
		right &= check_sensor(&s->sensors[i]);
	}
	return right ? 0 : -EBADMSG;
}

static int state_copy(const struct board_view *v, uint32_t n, struct board_state *s)
{
	const struct board_slot *slot = board_slot(v->map, n);
	struct board_collector *c = &s->collector;
	bool right = true;
	int err;

	*c = slot->collector;
	err = sensors_copy(slot, s);
	if (err)
		return err;
#define X(name, type, most)                                                                        \
	if (c->name > (most))                                                                      \
		return -EBADMSG;                                                                   \
	s->name = copied(slot->name, c->name, sizeof(type));                                       \
	if (!s->name)                                                                              \
		return -ENOMEM;
	BOARD_TABLES(X)
#undef X
	CLEAN(c->version);
	CLEAN(c->file);
	clean_kafka(&c->sink.kafka);
	clean_kafka(&c->source.kafka);
#define X(name, type, most)                                                                        \
	for (uint32_t i = 0; i < c->name; i++)                                                     \
		right &= check_##name(s, i);
	BOARD_TABLES(X)
#undef X
	return right ? 0 : -EBADMSG;
}

void board_state_free(struct board_state *s)
{
	free(s->sensors);
#define X(name, type, most) free(s->name);
	BOARD_TABLES(X)
#undef X
	*s = (struct board_state){ 0 };
}

/* ---- the newest ------------------------------------------------------------------------------ */

uint32_t board_published(const struct board_view *v)
{
	return __atomic_load_n(&v->map->published, __ATOMIC_ACQUIRE);
}

/* How many states were published since state n. */
static uint32_t since(const struct board_view *v, uint32_t n)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return board_published(v) - n;
}

int board_copy(const struct board_view *v, struct board_state *now, struct board_state *before)
{
	int err = -EAGAIN;

	*now = (struct board_state){ 0 };
	if (before)
		*before = (struct board_state){ 0 };
	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		uint32_t n = board_published(v);
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
