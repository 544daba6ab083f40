// SPDX-License-Identifier: GPL-2.0
/* Request: see request.h. */
#include "request.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct headers {
	unsigned int hosts;
	const char *host;
	size_t host_len;
	bool body;
};

static enum MHD_Result header(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_len,
			      const char *value, size_t len)
{
	struct headers *h = arg;

	(void)kind;
	if (key_len == 4 && !strcasecmp(key, "Host")) {
		h->hosts++;
		h->host = value;
		h->host_len = len;
	}
	if (!strcasecmp(key, "Transfer-Encoding") ||
	    (!strcasecmp(key, "Content-Length") && value && strcmp(value, "0")))
		h->body = true;
	return MHD_YES;
}

/* Whether `host` is `name`, with any port. */
static bool is_host(const char *host, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len < n || strncasecmp(host, name, n))
		return false;
	if (len > n && host[n++] != ':')
		return false;
	while (n < len && host[n] >= '0' && host[n] <= '9')
		n++;
	return n == len;
}

static bool is_ours(const struct headers *h, const char *const *names)
{
	static const char *const own[] = { "localhost", "127.0.0.1", "[::1]", NULL };

	if (h->hosts != 1 || !h->host)
		return false;
	for (int i = 0; own[i]; i++)
		if (is_host(h->host, h->host_len, own[i]))
			return true;
	for (int i = 0; names[i]; i++)
		if (is_host(h->host, h->host_len, names[i]))
			return true;
	return false;
}

unsigned int request_check(struct MHD_Connection *c, const char *method, const char *version,
			   const char *const *names, const char **why)
{
	struct headers h = { 0 };

	MHD_get_connection_values_n(c, MHD_HEADER_KIND, header, &h);
	if (strcmp(version, MHD_HTTP_VERSION_1_0) && strcmp(version, MHD_HTTP_VERSION_1_1)) {
		*why = "this server speaks HTTP/1.1 only";
		return MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED;
	}
	if (h.body) {
		*why = "a request must not have a body";
		return MHD_HTTP_CONTENT_TOO_LARGE;
	}
	if (!is_ours(&h, names)) {
		*why = "this server does not serve that host; see --host-name in saluki-web(8)";
		return MHD_HTTP_MISDIRECTED_REQUEST;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		*why = "GET and HEAD are the only methods";
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	return 0;
}
