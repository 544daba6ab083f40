// SPDX-License-Identifier: GPL-2.0
/* Answers: see answers.h. */
#include "answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"

#define SIZE_MIN 4096

static int grow(struct answers *a)
{
	size_t size = a->size ? a->size * 2 : SIZE_MIN;
	uint64_t *done = malloc(size * sizeof(*done));

	if (!done)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++)
		done[i] = a->done[(a->first + i) % a->size];
	free(a->done);
	a->done = done;
	a->size = size;
	a->first = 0;
	return 0;
}

int answers_done(struct answers *a, uint64_t number)
{
	if (a->count == a->size && grow(a))
		return -ENOMEM;
	a->done[(a->first + a->count++) & (a->size - 1)] = number;
	return 0;
}

int answers_refuse(struct answers *a, uint64_t number, const char *reason)
{
	size_t size = a->refused_size ? a->refused_size * 2 : 16;
	struct refusal *more;

	if (a->refused_count == a->refused_size) {
		more = realloc(a->refused, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		a->refused = more;
		a->refused_size = size;
	}
	a->refused[a->refused_count].number = number;
	snprintf(a->refused[a->refused_count++].reason, ANSWERS_REASON_MAX, "%s", reason);
	return 0;
}

static int send_done(struct answers *a, struct collector *c)
{
	size_t n = a->count < PUT_DONE_MAX ? a->count : PUT_DONE_MAX;
	uint8_t out[PUT_DONE_BYTES] = { PUT_DONE };
	int err;

	for (size_t i = 0; i < n; i++)
		store_be(out + 1 + i * 8, a->done[(a->first + i) & (a->size - 1)], 8);
	err = collector_send(c, out, 1 + n * 8);
	if (err)
		return err;
	a->first = (a->first + n) & (a->size - 1);
	a->count -= n;
	return 0;
}

/* The last one first: their order means nothing. */
static int send_refused(struct answers *a, struct collector *c)
{
	const struct refusal *r = &a->refused[a->refused_count - 1];
	uint8_t out[9 + ANSWERS_REASON_MAX] = { PUT_REFUSED };
	size_t len = strlen(r->reason);
	int err;

	store_be(out + 1, r->number, 8);
	memcpy(out + 9, r->reason, len);
	err = collector_send(c, out, 9 + len);
	if (!err)
		a->refused_count--;
	return err;
}

int answers_send(struct answers *a, struct collector *c)
{
	int err = 0;

	while (a->count && !err)
		err = send_done(a, c);
	while (a->refused_count && !err)
		err = send_refused(a, c);
	return err;
}

void answers_forget(struct answers *a)
{
	a->first = a->count = a->refused_count = 0;
}

void answers_free(struct answers *a)
{
	free(a->done);
	free(a->refused);
	*a = (struct answers){ 0 };
}
