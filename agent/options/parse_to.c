// SPDX-License-Identifier: GPL-2.0
/* The option --to: see parse_to.h. */
#include "parse_to.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/options.h"

#define TO_LEN_MAX 280

/* A name may be resolved later. A malformed name is an error now. */
static const char *to_wrong(const struct sockets_name *to)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE }, *list;
	struct sockets_address a;
	bool numeric = strchr(to->host, ':') || !to->host[strspn(to->host, "0123456789.")];

	if (numeric && sockets_numeric(&a, to))
		return "is no address";
	if (getaddrinfo(NULL, to->port, &hints, &list))
		return "has no port that is known";
	freeaddrinfo(list);
	return NULL;
}

int parse_to(struct sockets_name *to, const char *given)
{
	/* Splits a copy, so that ps(1) still shows the argument. */
	char *copy = strdup(given);
	const char *wrong;

	if (!copy || strlen(copy) >= TO_LEN_MAX || options_address(copy, &to->host, &to->port) ||
	    !*to->host) {
		log_line("--to %s: must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given);
		free(copy);
		return -EINVAL;
	}
	wrong = to_wrong(to);
	if (wrong) {
		log_line("--to %s: %s; must be HOST:PORT, or [ADDRESS]:PORT for IPv6", given,
			 wrong);
		free(copy);
		return -EINVAL;
	}
	return 0;
}
