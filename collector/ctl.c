// SPDX-License-Identifier: GPL-2.0
/* saluki-collector ctl: see ctl.h. The other end is control.c. */
#include "ctl.h"

#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/monotonic.h>
#include <saluki/unix_address.h>

#include "control.h"

enum { OPT_CONTROL = 256, OPT_TIMEOUT };

#define TIMEOUT_DEFAULT 10

const struct option_def ctl_defs[] = {
	{ OPT_CONTROL, "control", "PATH",
	  "the collector's control socket\n"
	  "                               (default " CONTROL_PATH ")" },
	{ OPT_TIMEOUT, "timeout", "SECONDS", "how long to wait for an answer (default 10)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-collector ctl [OPTION]... SENSOR set snaplen BYTES\n"
	       "       saluki-collector ctl [OPTION]... SENSOR set filter EXPRESSION\n\n"
	       "Gives a sensor an order and prints what it answers. A sensor takes only the kinds "
	       "of\n"
	       "order that its --allow-control names.\n\n");
	options_print(stdout, ctl_defs);
	printf("\nExit status: 0 done, 1 failed, 2 bad usage.\n");
}

/* The words behind the sensor's name, as one text. Returns its length, -1: too long. */
static int join(char *out, size_t size, int count, char *const *words)
{
	size_t at = 0;

	for (int i = 0; i < count; i++) {
		size_t len = strlen(words[i]);

		if (at + len + 2 > size)
			return -1;
		if (i)
			out[at++] = ' ';
		memcpy(out + at, words[i], len);
		at += len;
	}
	out[at] = 0;
	return at;
}

static int reach(const char *path)
{
	struct sockaddr_un a;
	int err = unix_address(&a, path), fd;

	fd = err ? err : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	err = err ?: -errno;
	if (fd >= 0)
		close(fd);
	log_line("ctl: %s: %s%s", path, strerror(-err),
		 err == -ENOENT || err == -ECONNREFUSED ? "; is a collector running there?" : "");
	return err;
}

/* Waits for the last word. Returns its bytes, 0: the collector has ended, -ETIMEDOUT or -errno. */
static int wait_reply(int fd, char *out, size_t size, long seconds)
{
	uint64_t until = monotonic_ns() + seconds * 1000000000ULL;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now = monotonic_ns();
		ssize_t n;

		if (now >= until)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0)
			continue;
		n = recv(fd, out, size, 0);
		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : (int)n;
	}
}

static int ask(const char *path, const char *request, int len, const char *sensor, long seconds)
{
	char answer[CONTROL_REPLY_MAX + 1];
	int fd = reach(path), n;

	if (fd < 0)
		return 1;
	/* Who has no room for us says so and closes at once. */
	n = send(fd, request, len, MSG_NOSIGNAL) == len || errno == EPIPE
		    ? wait_reply(fd, answer, sizeof(answer) - 1, seconds)
		    : -errno;
	close(fd);
	if (n == -ETIMEDOUT)
		log_line("ctl: %s: no answer in %ld s; the order may have been carried out", sensor,
			 seconds);
	else if (n < 2)
		log_line("ctl: %s: the collector does not answer: %s", path,
			 n < 0 ? strerror(-n) : "it has ended");
	if (n < 2)
		return 1;
	answer[n] = 0;
	if (answer[0] == CONTROL_DONE) {
		printf("%s\n", answer + 2);
		return fflush(stdout) == EOF;
	}
	log_line("ctl: %s", answer + 2);
	return 1;
}

/* NULL, or what is wrong with the words. */
static const char *wrong_words(const char *request, int len, int count, char **words)
{
	struct order_setting s;
	const char *why;

	if (count < 2)
		return "give a sensor's name and an order";
	if (len < 0 || strlen(words[0]) >= SENSOR_NAME_MAX)
		return "the order is too long";
	return order_parse(&s, request + strlen(words[0]) + 1, &why) ? why : NULL;
}

static int order(const char *path, long seconds, int count, char **words)
{
	char request[CONTROL_REQUEST_MAX + 1];
	int len = join(request, sizeof(request), count, words);
	const char *wrong = wrong_words(request, len, count, words);

	if (!wrong)
		return ask(path, request, len, words[0], seconds);
	log_line("ctl: %s; see 'saluki-collector ctl --help'", wrong);
	return EXIT_USAGE;
}

int ctl_main(int argc, char **argv)
{
	const char *path = CONTROL_PATH;
	long seconds = TIMEOUT_DEFAULT;
	int id;

	while ((id = options_next(ctl_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (id == OPT_CONTROL)
			path = optarg;
		else if (id != OPT_TIMEOUT ||
			 options_number("--timeout", optarg, 1, 86400, &seconds))
			return EXIT_USAGE;
	}
	return order(path, seconds, argc - optind, argv + optind);
}
