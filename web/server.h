/* SPDX-License-Identifier: GPL-2.0 */
/* Server: HTTP on one socket, without threads, by libmicrohttpd. */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include "answers.h"
#include "clients.h"
#include "look.h"
#include "options.h"

struct server {
	struct MHD_Daemon *daemon;
	struct look *look;
	const struct web_options *options;
	struct clients clients;
	struct answers answers;
};

/* Serves on `listener`, and closes it at the end. Returns 0, or -errno after a line. */
int server_start(struct server *s, int listener);
void server_stop(struct server *s);
/* Returns the descriptor that is readable when server_run() has work. */
int server_fd(const struct server *s);
/* Returns the time at which server_run() has work without it. */
uint64_t server_due_ns(struct server *s, uint64_t now_ns);
void server_run(struct server *s);

#endif
