// SPDX-License-Identifier: GPL-2.0
/* Server: see server.h. */
#include "server.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "request.h"
#include "routes.h"

#define MEMORY (128 << 10) /* of a connection */

static struct client *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return i ? i->socket_context : NULL;
}

/* ---- one request ----------------------------------------------------------------------------- */

static enum MHD_Result refuse(struct server *s, struct MHD_Connection *c, unsigned int code,
			      const char *why)
{
	log_verbose("request refused: %u: %s", code, why);
	return answers_refuse(&s->answers, c, code, why);
}

static bool is_unchanged(struct MHD_Connection *c, const struct board_states *s,
			 char tag[ANSWERS_TAG_MAX])
{
	const char *known =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);

	return known && strstr(known, answers_tag(tag, s));
}

static enum MHD_Result route(struct server *s, struct MHD_Connection *c, const char *url)
{
	const struct page_file *file = page_find(url);
	const struct web_look l = {
		.states = s->look->fresh ? &s->look->states : NULL,
		.history = s->look->history,
		.sums = s->look->sums,
		.why = s->look->why,
		.answers = s->answers.counts,
		.channels_per_sensor = s->options->channels_per_sensor,
	};
	char name[ROUTES_NAME_MAX], tag[ANSWERS_TAG_MAX];
	const struct web_resource *r;
	const char *arg;

	if (file)
		return answers_page(&s->answers, c, file);
	r = routes_find(c, url, name, &arg);
	if (!r)
		return refuse(s, c, MHD_HTTP_NOT_FOUND, "there is no such page");
	if (!l.states && !r->always)
		return refuse(s, c, MHD_HTTP_SERVICE_UNAVAILABLE, l.why);
	answers_renew(&s->answers, s->look->changes);
	if (l.states && is_unchanged(c, l.states, tag))
		return answers_unchanged(&s->answers, c, tag);
	return answers_resource(&s->answers, c, &l, r, arg);
}

/* ---- the library's calls --------------------------------------------------------------------- */

/* Called once with a request's headers, and again at its end. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_len, void **begun)
{
	struct server *s = arg;
	const char *why;
	unsigned int code;

	(void)upload;
	if (*begun)
		return *upload_len ? MHD_NO : route(s, c, url);
	*begun = s;
	if (client_of(c))
		client_set(client_of(c), CLIENT_ANSWERED, monotonic_ns());
	code = request_check(c, method, version, s->options->host_names, &why);
	return code ? refuse(s, c, code, why) : MHD_YES;
}

static void on_end(void *arg, struct MHD_Connection *c, void **begun,
		   enum MHD_RequestTerminationCode how)
{
	(void)arg;
	(void)begun;
	(void)how;
	if (client_of(c))
		client_set(client_of(c), CLIENT_READING, monotonic_ns());
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct server *s = arg;
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*context = clients_add(&s->clients, i->connect_fd, monotonic_ns());
	else if (*context)
		client_set(*context, CLIENT_FREE, 0);
}

/* Names in URLs have no characters that must be escaped. */
static size_t unescape_nothing(void *arg, struct MHD_Connection *c, char *text)
{
	(void)arg;
	(void)c;
	return strlen(text);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

int server_start(struct server *s, int listener)
{
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, s,
				     MHD_OPTION_LISTEN_SOCKET, listener,
				     MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
				     MHD_OPTION_NOTIFY_COMPLETED, on_end, s,
				     MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CLIENTS_MAX,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CLIENTS_READ_S,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
				     MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (s->daemon)
		return 0;
	log_line("libmicrohttpd %s cannot start: %s", MHD_get_version(), strerror(errno));
	return -EIO;
}

void server_stop(struct server *s)
{
	answers_free(&s->answers);
	MHD_stop_daemon(s->daemon);
}

int server_fd(const struct server *s)
{
	return MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

uint64_t server_due_ns(struct server *s, uint64_t now_ns)
{
	MHD_UNSIGNED_LONG_LONG ms;

	return MHD_get_timeout(s->daemon, &ms) == MHD_YES ? now_ns + ms * 1000000 : UINT64_MAX;
}

void server_run(struct server *s)
{
	MHD_run(s->daemon);
}
