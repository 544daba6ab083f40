/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Toolbar: Wireshark's controls during a capture. In: messages in a pipe. Out: changes of the
 * selection, and lines for the log. Messages are `T`, their length 3 in network byte order, the
 * control's number, a command, and text.
 */
#ifndef LIVE_TOOLBAR_H
#define LIVE_TOOLBAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOLBAR_TEXT_MAX 2048

enum { TOOLBAR_SENSORS, TOOLBAR_FILTER, TOOLBAR_LOG };
enum { TOOLBAR_INITIALIZED = 0, TOOLBAR_SET = 1, TOOLBAR_ADD = 2, TOOLBAR_STATUS = 6 };

struct toolbar {
	int in, out; /* -1: none */
	size_t len;
	uint8_t buffer[TOOLBAR_TEXT_MAX + 6];
};

struct toolbar_message {
	uint8_t control, command;
	char text[TOOLBAR_TEXT_MAX + 1];
};

/* Opens the pipes; NULL: no pipe. */
void toolbar_open(struct toolbar *t, const char *in, const char *out);
/* Takes the next message, without waiting. Returns false if no message has arrived. */
bool toolbar_next(struct toolbar *t, struct toolbar_message *m);
/* Sends text to a control. Drops the text if Wireshark does not read. */
void toolbar_send(const struct toolbar *t, uint8_t control, uint8_t command, const char *text);

#endif
