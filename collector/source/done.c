// SPDX-License-Identifier: GPL-2.0
/* Done: see done.h. */
#include "done.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "collector/output/output.h"
#include "collector/output/sensor.h"
#include "wire/bytes.h"
#include "wire/put.h"

int done_init(struct done *d)
{
	*d = (struct done){ .list = calloc(DONE_MAX, sizeof(*d->list)) };
	return d->list ? 0 : -ENOMEM;
}

void done_free(struct done *d)
{
	free(d->list);
	d->list = NULL;
}

void done_forget(struct done *d)
{
	d->count = 0;
}

bool done_full(const struct done *d)
{
	return d->count == DONE_MAX;
}

void done_add(struct done *d, uint64_t number, const struct sensor *s, const struct output *out)
{
	d->list[(d->first + d->count++) % DONE_MAX] =
		(struct done_entry){ .number = number, .sensor = s, .writes = out->writes };
}

/* Whether the buffer has been written since, or has nothing of the sensor. */
static bool is_due(const struct done_entry *e, const struct output *out)
{
	return !e->sensor || out->writes > e->writes || !e->sensor->output->pending;
}

static unsigned int gather(const struct done *d, uint8_t *message, const struct output *out)
{
	unsigned int n = 0;

	message[0] = PUT_DONE;
	while (n < d->count && n < PUT_DONE_MAX) {
		const struct done_entry *e = &d->list[(d->first + n) % DONE_MAX];

		if (!is_due(e, out))
			break;
		store_be(message + 1 + 8 * n++, e->number, 8);
	}
	return n;
}

int done_send(struct done *d, int sock, const struct output *out)
{
	uint8_t message[PUT_DONE_BYTES];
	unsigned int n;

	while (!out->gone && (n = gather(d, message, out))) {
		if (send(sock, message, 1 + 8 * n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		d->first = (d->first + n) % DONE_MAX;
		d->count -= n;
		d->sent += n;
	}
	return 0;
}
