/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-web. Strings point into argv. */
#ifndef WEB_OPTIONS_H
#define WEB_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/un.h>

#include "common/log.h"

#define WEB_LISTEN_DEFAULT "127.0.0.1:5680"
#define WEB_HOST_NAMES_MAX 16

struct web_options {
	const char *board;
	const char *listen; /* as given */
	const char *path;   /* of a socket; NULL: `address` */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address; /* loopback */
	socklen_t address_len;
	const char *host_names[WEB_HOST_NAMES_MAX + 1]; /* ends with NULL */
	bool channels_per_sensor;
	const char *user;
	enum log_level level;
};

/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int options_parse(struct web_options *o, int argc, char **argv);

#endif
