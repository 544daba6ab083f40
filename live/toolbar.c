// SPDX-License-Identifier: GPL-2.0
/* Toolbar: see toolbar.h. */
#include "toolbar.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD 6

void toolbar_open(struct toolbar *t, const char *in, const char *out)
{
	*t = (struct toolbar){ .in = -1, .out = -1 };
	if (in)
		t->in = open(in, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* Open for reading too, a FIFO has a reader from the start. */
	if (out)
		t->out = open(out, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static size_t length(const uint8_t *head)
{
	return head[1] << 16 | head[2] << 8 | head[3];
}

/* Drops a malformed message and all buffered bytes after it. */
static bool take(struct toolbar *t, struct toolbar_message *m)
{
	size_t len = t->len < HEAD ? 0 : length(t->buffer);

	if (t->len &&
	    (t->buffer[0] != 'T' || (t->len >= HEAD && (len < 2 || len > sizeof(t->buffer) - 4))))
		t->len = 0;
	if (t->len < HEAD || t->len < 4 + len)
		return false;
	m->control = t->buffer[4];
	m->command = t->buffer[5];
	memcpy(m->text, t->buffer + HEAD, len - 2);
	m->text[len - 2] = 0;
	t->len -= 4 + len;
	memmove(t->buffer, t->buffer + 4 + len, t->len);
	return true;
}

bool toolbar_next(struct toolbar *t, struct toolbar_message *m)
{
	ssize_t n;

	if (t->in < 0)
		return false;
	if (take(t, m))
		return true;
	n = read(t->in, t->buffer + t->len, sizeof(t->buffer) - t->len);
	if (n <= 0)
		return false;
	t->len += n;
	return take(t, m);
}

void toolbar_send(const struct toolbar *t, uint8_t control, uint8_t command, const char *text)
{
	uint8_t message[HEAD + TOOLBAR_TEXT_MAX];
	size_t len = strnlen(text, TOOLBAR_TEXT_MAX);

	if (t->out < 0)
		return;
	message[0] = 'T';
	message[1] = 0;
	message[2] = (len + 2) >> 8;
	message[3] = (uint8_t)(len + 2);
	message[4] = control;
	message[5] = command;
	memcpy(message + HEAD, text, len);
	if (write(t->out, message, HEAD + len) < 0)
		return; /* the toolbar is not read */
}
