// SPDX-License-Identifier: GPL-2.0
/* Interfaces: see interfaces.h. */
#include "interfaces.h"

#include <errno.h>
#include <saluki/linktype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "block.h"

#define OPTION_NAME 2 /* padded with zeros, which readers cut off */
#define NUMBERS_BYTES (LIVE_HALF / 4 * sizeof(uint32_t))

/* Only pages in use take memory. */
static uint32_t *numbers_new(void)
{
	void *p = mmap(NULL, NUMBERS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

int interfaces_init(struct interfaces *x)
{
	*x = (struct interfaces){ .numbers = { numbers_new(), numbers_new() },
				  .firsts = calloc(LIVE_SENSORS_MAX, sizeof(*x->firsts)) };
	if (x->numbers[0] && x->numbers[1] && x->firsts)
		return 0;
	interfaces_free(x);
	return -ENOMEM;
}

void interfaces_free(struct interfaces *x)
{
	for (uint32_t i = 0; i < x->count; i++)
		free(x->list[i].block);
	free(x->list);
	free(x->firsts);
	for (int i = 0; i < 2; i++)
		if (x->numbers[i])
			munmap(x->numbers[i], NUMBERS_BYTES);
	*x = (struct interfaces){ 0 };
}

static void forget(struct interfaces *x, uint32_t half)
{
	madvise(x->numbers[half], NUMBERS_BYTES, MADV_DONTNEED); /* zeros again */
}

void interfaces_source(struct interfaces *x)
{
	forget(x, 0);
	forget(x, 1);
	x->generation = 0;
	for (uint32_t i = 0; i < x->count; i++)
		x->list[i].sensor = UINT32_MAX;
	memset(x->firsts, 0, LIVE_SENSORS_MAX * sizeof(*x->firsts));
}

static void belongs_to(struct interfaces *x, int number, uint32_t sensor)
{
	x->list[number].sensor = sensor;
	x->firsts[sensor] = x->firsts[sensor] ?: (uint32_t)number + 1;
}

/* Copies a block. Returns its length, -ENOENT or -EBADMSG. */
static int block_copy(const struct source *s, const struct live_record *r, uint32_t offset,
		      uint8_t block[LIVE_BLOCK_MAX])
{
	const uint8_t *from = source_half(s, r->generation) + offset;
	uint32_t len = 0, ahead;

	if (offset % 4 || offset > LIVE_HALF - 12)
		return -EBADMSG;
	memcpy(&len, from + 4, 4);
	if (len <= LIVE_BLOCK_MAX && len <= LIVE_HALF - offset)
		memcpy(block, from, len);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	ahead = __atomic_load_n(&s->table->generation, __ATOMIC_RELAXED) - r->generation;
	if (ahead > 1)
		return -ENOENT;
	return len < 12 || len > LIVE_BLOCK_MAX || len > LIVE_HALF - offset ? -EBADMSG : (int)len;
}

static int find_equal(const struct interfaces *x, const uint8_t *block, uint32_t len)
{
	for (uint32_t i = 0; i < x->count; i++)
		if (x->list[i].len == len && !memcmp(x->list[i].block, block, len))
			return i;
	return -ENOENT;
}

static int add(struct interfaces *x, const uint8_t *block, uint32_t len)
{
	struct interface i = { .len = len };
	char name[1];

	if (block_interface(block, len, &i.linktype, name, sizeof(name)))
		return -EBADMSG;
	if (x->count == INTERFACES_MAX || x->bytes + len > INTERFACES_BYTES_MAX)
		return -ENOMEM;
	if (x->count == x->room) {
		uint32_t room = x->room ? 2 * x->room : 16;
		struct interface *more = realloc(x->list, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		x->list = more;
		x->room = room;
	}
	i.block = malloc(len);
	if (!i.block)
		return -ENOMEM;
	memcpy(i.block, block, len);
	x->bytes += len;
	x->list[x->count] = i;
	return x->count++;
}

static int learn(struct interfaces *x, const struct source *s, const struct live_record *r,
		 uint32_t offset, int *is_new)
{
	uint8_t block[LIVE_BLOCK_MAX];
	int len = block_copy(s, r, offset, block), number;

	if (len < 0)
		return len;
	number = find_equal(x, block, len);
	*is_new = number < 0;
	return number < 0 ? add(x, block, len) : number;
}

int interfaces_find(struct interfaces *x, const struct source *s, const struct live_record *r,
		    uint32_t offset, int *is_new)
{
	uint32_t *known;
	int number;

	*is_new = 0;
	/* Forgets halves that were reused since. */
	for (int i = 0; i < 2 && (int32_t)(r->generation - x->generation) > 0; i++)
		forget(x, ++x->generation % 2);
	x->generation = (int32_t)(r->generation - x->generation) > 0 ? r->generation
								     : x->generation;
	if (x->generation - r->generation > 1 || offset >= LIVE_HALF)
		return -EBADMSG;
	known = &x->numbers[r->generation % 2][offset / 4];
	if (*known)
		return *known - 1;
	number = learn(x, s, r, offset, is_new);
	if (number < 0)
		return number;
	*known = number + 1;
	belongs_to(x, number, r->sensor);
	return number;
}

int interfaces_make(struct interfaces *x, uint32_t sensor, const char *name, int *is_new)
{
	struct {
		uint32_t type, len;
		uint16_t linktype, zero;
		uint32_t snaplen;
		uint16_t code, name_len;
		char name[LIVE_NAME_MAX];
		uint32_t end, len_again;
	} b = { .type = BLOCK_INTERFACE,
		.len = sizeof(b),
		.linktype = LINKTYPE_ETHERNET,
		.code = OPTION_NAME,
		.name_len = LIVE_NAME_MAX,
		.len_again = sizeof(b) };
	int number;

	snprintf(b.name, sizeof(b.name), "%s", name);
	number = find_equal(x, (uint8_t *)&b, sizeof(b));
	*is_new = number < 0;
	number = number < 0 ? add(x, (uint8_t *)&b, sizeof(b)) : number;
	if (number >= 0)
		belongs_to(x, number, sensor);
	return number;
}

struct interface *interfaces_of(struct interfaces *x, uint32_t sensor)
{
	return x->firsts[sensor] ? &x->list[x->firsts[sensor] - 1] : NULL;
}
