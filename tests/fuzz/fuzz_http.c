// SPDX-License-Identifier: GPL-2.0
/* links: web/server.o web/answers.o web/api.o web/clients.o web/history.o web/look.o web/metric.o
 * web/metrics.o web/metrics_kafka.o web/metrics_radios.o web/metrics_sensors.o web/metrics_sums.o
 * web/page.o
 * web/request.o web/routes.o web/sums.o board/json.o board/look.o board/read.o board/why.o
 * common/json.o common/log.o common/privsep.o common/unix_take.o common/unix_address.o
 * wire/channel.o */
/*
 * What clients send to saluki-web. Input: all bytes of a connection. Always holds: an answer of 200
 * needs GET or HEAD and a host of this machine, and no answer permits other sites to read it.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fuzz.h"
#include "web/connect.h"
#include "web/server.h"

#define TURNS 8 /* of the server's loop: more than any request needs */

int connect_ask(int sock)
{
	(void)sock;
	return 0;
}

int connect_take(int sock)
{
	(void)sock;
	return -ENOENT;
}

/* ---- the server ------------------------------------------------------------------------------ */

static struct board_sensor sensors[2] = { { .name = "lib", .group = "g", .listed = 1 },
					  { .name = "two", .listed = 1, .id = 1 } };
static struct look look;

static void begin(struct look *l)
{
	CHECK(look_init(l, "/board", -1) == 0);
	l->states.now.collector = (struct board_collector){ .time_us = 9, .sensors = 2 };
	l->states.now.sensors = sensors;
	l->fresh = true;
}

/* The kernel chooses the name. */
static int listener(void)
{
	const struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a.sun_family)) == 0);
	CHECK(listen(fd, 1) == 0);
	return fd;
}

/* ---- the client ------------------------------------------------------------------------------ */

/* Returns the answer's length. */
static size_t talk(struct server *s, const uint8_t *data, size_t len, char *out, size_t room)
{
	const struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t got = 0;
	ssize_t n;
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	n = write(pair[0], data, len);
	shutdown(pair[0], SHUT_WR);
	CHECK(MHD_add_connection(s->daemon, pair[1], (const struct sockaddr *)&a, sizeof(a)) ==
	      MHD_YES);
	for (int i = 0; i < TURNS; i++) {
		server_run(s);
		while (got < room && (n = read(pair[0], out + got, room - got)) > 0)
			got += n;
	}
	close(pair[0]);
	return got;
}

static bool has(const void *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct web_options options = { .channels_per_sensor = true };
	static char out[1 << 20];
	struct server s = { .look = &look, .options = &options };
	size_t got;

	if (!look.sums)
		begin(&look);
	CHECK(server_start(&s, listener()) == 0);
	got = talk(&s, data, len, out, sizeof(out));
	if (has(out, got, "HTTP/1.1 200 ")) {
		CHECK(has(data, len, "GET") || has(data, len, "HEAD"));
		CHECK(has(data, len, ":1]") || has(data, len, "127.0.0.1") ||
		      memchr(data, 'l', len) || memchr(data, 'L', len));
	}
	CHECK(!has(out, got, "Access-Control"));
	server_stop(&s);
	return 0;
}
