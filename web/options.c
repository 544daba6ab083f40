// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-web. */
#include "options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "common/completion.h"
#include "common/options.h"
#include "common/privsep.h"
#include "common/version.h"

#define FORM "must be 127.0.0.1:PORT, [::1]:PORT, or a path with a slash"

enum {
	OPT_BOARD = 256,
	OPT_LISTEN,
	OPT_HOST_NAME,
	OPT_METRICS_CHANNELS,
	OPT_USER,
	OPT_COMPLETION,
	OPT_VERSION
};

static const struct option_def defs[] = {
	{ OPT_BOARD, "board", "PATH",
	  "the collector's board\n"
	  "(default " BOARD_PATH ")" },
	{ OPT_LISTEN, "listen", "ADDR:PORT|PATH",
	  "serve on this loopback address or Unix socket\n"
	  "(default " WEB_LISTEN_DEFAULT ")" },
	{ OPT_HOST_NAME, "host-name", "NAME",
	  "accept requests for this host, too; for a reverse proxy; repeatable" },
	{ OPT_METRICS_CHANNELS, "metrics-channels", NULL,
	  "metrics of channels for each sensor, not for each group" },
	{ OPT_USER, "user", "NAME", "user of the process (default nobody)" },
	{ 'q', "quiet", NULL, "print warnings and errors only" },
	{ 'v', "verbose", NULL, "print every refused request" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-web [OPTION]...\n\n"
	       "Serves a page about all sensors of a collector on this machine, and metrics for\n"
	       "Prometheus: http://" WEB_LISTEN_DEFAULT "/ and /metrics.\n\n");
	options_print(stdout, defs);
	printf("\nExit status: 0 finished, 1 failed, 2 bad usage.\n");
}

static int wrong_address(const char *why)
{
	log_line("--listen %s: %s", optarg, why);
	return -EINVAL;
}

static int parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n < 1 || n > 65535)
		return -EINVAL;
	*port = htons(n);
	return 0;
}

static bool is_loopback(const struct web_options *o)
{
	if (o->address.any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&o->address.in6.sin6_addr);
	return ntohl(o->address.in.sin_addr.s_addr) >> 24 == 127;
}

static int parse_listen(struct web_options *o)
{
	char text[64];
	const char *host, *port_text;
	in_port_t port;

	o->listen = optarg;
	o->path = strchr(optarg, '/') ? optarg : NULL;
	if (o->path)
		return strlen(optarg) < sizeof(((struct sockaddr_un *)0)->sun_path)
			       ? 0
			       : wrong_address("the path is too long");
	snprintf(text, sizeof(text), "%s", optarg);
	if (options_address(text, &host, &port_text) || !*host || parse_port(port_text, &port))
		return wrong_address(FORM);
	memset(&o->address, 0, sizeof(o->address));
	if (inet_pton(AF_INET, host, &o->address.in.sin_addr) == 1) {
		o->address.in.sin_family = AF_INET;
		o->address.in.sin_port = port;
		o->address_len = sizeof(o->address.in);
	} else if (inet_pton(AF_INET6, host, &o->address.in6.sin6_addr) == 1) {
		o->address.in6.sin6_family = AF_INET6;
		o->address.in6.sin6_port = port;
		o->address_len = sizeof(o->address.in6);
	} else {
		return wrong_address(FORM);
	}
	return is_loopback(o)
		       ? 0
		       : wrong_address("only this machine may connect; for other machines, run a "
				       "TLS reverse proxy, see docs/operate.md");
}

static int parse_host_name(struct web_options *o)
{
	unsigned int n = 0;

	while (o->host_names[n])
		n++;
	if (!*optarg || strpbrk(optarg, "/:@ ") || n == WEB_HOST_NAMES_MAX) {
		log_line("--host-name %s: %s", optarg,
			 n == WEB_HOST_NAMES_MAX ? "at most 16 names"
						 : "must be a host's name without a port");
		return -EINVAL;
	}
	o->host_names[n] = optarg;
	return 0;
}

static int parse_option(struct web_options *o, int id)
{
	switch (id) {
	case OPT_BOARD:
		o->board = optarg;
		return 0;
	case OPT_LISTEN:
		return parse_listen(o);
	case OPT_HOST_NAME:
		return parse_host_name(o);
	case OPT_METRICS_CHANNELS:
		o->channels_per_sensor = true;
		return 0;
	case OPT_USER:
		o->user = optarg;
		return 0;
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->level) ? 0 : -EINVAL;
	}
}

int options_parse(struct web_options *o, int argc, char **argv)
{
	int id;

	*o = (struct web_options){ .board = BOARD_PATH, .user = PRIVSEP_USER_DEFAULT };
	optarg = (char *)WEB_LISTEN_DEFAULT;
	parse_listen(o);
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-web", defs, NULL, true, NULL, NULL) ? 1
											    : -1;
		if (id == OPT_VERSION) {
			printf("saluki-web %s\n", SALUKI_VERSION);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	if (optind < argc) {
		log_line("%s: takes no arguments; see 'saluki-web --help'", argv[optind]);
		return EXIT_USAGE;
	}
	return 0;
}
