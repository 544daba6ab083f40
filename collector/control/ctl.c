// SPDX-License-Identifier: GPL-2.0
/* saluki-collector ctl: see ctl.h. The other end is control.c. */
#include "ctl.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/duration.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/suggest.h"
#include "common/unix_address.h"
#include "control.h"

enum { OPT_CONTROL = 256, OPT_TIMEOUT, OPT_GROUP, OPT_SENSOR, OPT_CHANNEL, OPT_FOR };

#define TIMEOUT_DEFAULT 10

const struct option_def ctl_defs[] = {
	{ OPT_CONTROL, "control", "PATH",
	  "the collector's control socket\n"
	  "(default " CONTROL_PATH ")" },
	{ OPT_TIMEOUT, "timeout", "SECONDS", "how long to wait for an answer (default 10)" },
	{ OPT_GROUP, "group", "GROUP", "send the order to all present sensors of this group" },
	{ OPT_SENSOR, "sensor", "SENSOR", "send the order to this sensor" },
	{ OPT_CHANNEL, "channel", "CHANNEL", "channel of focus, as 6, 36/80 or 6g:37" },
	{ OPT_FOR, "for", "TIME", "duration of focus, as 30s" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* The command line's options. */
struct asked {
	const char *path, *group, *sensor, *channel, *time;
	long seconds;
};

static void help(void)
{
	printf("Usage: saluki-collector ctl [OPTION]... SENSOR ORDER\n"
	       "       saluki-collector ctl [OPTION]... --group GROUP ORDER\n"
	       "       saluki-collector ctl focus --group GROUP|--sensor SENSOR --channel CHANNEL "
	       "--for TIME\n\n"
	       "Sends an order to a sensor or a group and prints the answers. A sensor accepts\n"
	       "only the kinds of order that its --allow-control lists. ORDER is one of\n\n"
	       "  set snaplen BYTES            keep at most this much of each frame\n"
	       "  set filter EXPRESSION        capture these frames; all if not given\n"
	       "  set channels LIST            sample these; those of the command line if not "
	       "given\n"
	       "  focus CHANNEL TIME           stay on one channel for a time\n\n");
	options_print(stdout, ctl_defs);
	printf("\nExit status: 0 done by all, 1 failed, 2 bad usage.\n");
}

/* Joins the words after the sensor's name. Returns the text's length; -1: too long. */
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

/* Waits for a reply. Returns its bytes; 0: the collector has ended; -ETIMEDOUT or -errno. */
static int wait_reply(int fd, char *out, size_t size, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now = monotonic_ns();
		ssize_t n;

		if (now >= until)
			return -ETIMEDOUT;
		if (poll(&p, 1, monotonic_timeout(until, now)) <= 0)
			continue;
		n = recv(fd, out, size, 0);
		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : (int)n;
	}
}

/* Prints the answers of a group's sensors as they arrive. Returns the bytes of the last reply, in
 * `answer`, or the failure of wait_reply(). */
static int wait_all(int fd, char *answer, size_t size, uint64_t until)
{
	int n;

	while ((n = wait_reply(fd, answer, size - 1, until)) >= 2) {
		answer[n] = 0;
		if (answer[0] == CONTROL_ONE_DONE)
			printf("%s\n", answer + 2);
		else if (answer[0] == CONTROL_ONE_FAILED)
			log_line("ctl: %s", answer + 2);
		else
			return n;
	}
	return n;
}

static int ask(const struct asked *a, const char *request, int len, const char *whom)
{
	char answer[CONTROL_REPLY_MAX + 1];
	int fd = reach(a->path), n;

	if (fd < 0)
		return 1;
	/* EPIPE: a collector without room for this client replies and closes at once. */
	n = send(fd, request, len, MSG_NOSIGNAL) == len || errno == EPIPE
		    ? wait_all(fd, answer, sizeof(answer),
			       monotonic_ns() + a->seconds * 1000000000ULL)
		    : -errno;
	close(fd);
	if (n == -ETIMEDOUT)
		log_line("ctl: %s: no answer in %ld s; the order may have been carried out", whom,
			 a->seconds);
	else if (n < 2)
		log_line("ctl: %s: the collector does not answer: %s", a->path,
			 n < 0 ? strerror(-n) : "it has ended");
	if (n < 2)
		return 1;
	/* At least 2 bytes were read.
	 * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	if (answer[0] == CONTROL_DONE) {
		printf("%s\n", answer + 2);
		return fflush(stdout) == EOF;
	}
	log_line("ctl: %s", answer + 2);
	return 1;
}

/* Writes the order in a sensor's terms: the time of `focus 6 30s` becomes ms. Returns its length;
 * -1: too long; -2: the time is malformed or out of range. */
static int write_order(char *out, size_t size, int count, char **words)
{
	uint64_t us;

	if (count != 3 || strcmp(words[0], "focus"))
		return join(out, size, count, words);
	if (duration_us(words[2], strlen(words[2]), DURATION_DAY_US, &us) || us < 1000)
		return -2;
	return snprintf(out, size, "focus %s %llu", words[1], (unsigned long long)(us / 1000));
}

/* Writes the order to `text`. Returns NULL, or the mistake in the words. */
static const char *wrong_order(char *text, size_t size, int count, char **words)
{
	struct order_setting s;
	const char *why;
	int len = write_order(text, size, count, words);

	if (len == -1 || len >= (int)size)
		return "the order is too long";
	if (len == -2)
		return "for how long: a number and its unit, " DURATION_UNITS ", from 1ms to a day";
	if (order_parse(&s, text, &why))
		return why;
	return s.kind == WIRE_ORDER_KEYS ? "the collector itself orders keys, when it has two --key"
					 : NULL;
}

/* Prints the mistake in an order, or suggests a similar word. */
static void complain(const char *wrong, int count, char **words)
{
	static const char *const first[] = { "set", "focus" };
	static const char *const second[] = { "channels", "filter", "snaplen" };
	struct suggest s = { .word = NULL };
	bool set = count > 1 && !strcmp(words[0], "set");

	if (set || (count && strcmp(words[0], "focus")))
		suggest_begin(&s, words[set], strlen(words[set]));
	for (size_t i = 0; s.given && i < (set ? 3 : 2); i++)
		suggest_offer(&s, set ? second[i] : first[i]);
	if (s.word && s.distance)
		log_line("ctl: %s: no such order; did you mean %s%s? See 'saluki-collector ctl "
			 "--help'",
			 words[set], set ? "set " : "", s.word);
	else
		log_line("ctl: %s; see 'saluki-collector ctl --help'", wrong);
}

static int order(const struct asked *a, int count, char **words)
{
	char request[CONTROL_REQUEST_MAX + 1], text[WIRE_ORDER_TEXT_MAX + 1];
	const char *whom = a->group ?: a->sensor, *wrong = NULL;
	char *focus[] = { "focus", (char *)a->channel, (char *)a->time };
	int len;

	if (!whom && count) {
		whom = *words++;
		count--;
	}
	if (a->channel && a->time && count == 1 && !strcmp(words[0], "focus")) {
		words = focus;
		count = 3;
	} else if (a->channel || a->time) {
		wrong = "--channel and --for go with focus, both";
	}
	if (a->group && a->sensor)
		wrong = "give --group or --sensor, not both";
	else if (!whom || !count)
		wrong = "give a sensor's name and an order";
	else if (strlen(whom) >= SENSOR_NAME_MAX)
		wrong = "the name is too long";
	wrong = wrong ?: wrong_order(text, sizeof(text), count, words);
	if (wrong) {
		complain(wrong, count, words);
		return EXIT_USAGE;
	}
	len = snprintf(request, sizeof(request), "%s%s %s", a->group ? CONTROL_GROUP : "", whom,
		       text);
	return ask(a, request, len, whom);
}

static int take_option(struct asked *a, int id)
{
	switch (id) {
	case OPT_CONTROL:
		a->path = optarg;
		return 0;
	case OPT_TIMEOUT:
		return options_number("--timeout", optarg, 1, 86400, &a->seconds);
	case OPT_GROUP:
		a->group = optarg;
		return 0;
	case OPT_SENSOR:
		a->sensor = optarg;
		return 0;
	case OPT_CHANNEL:
		a->channel = optarg;
		return 0;
	case OPT_FOR:
		a->time = optarg;
		return 0;
	default:
		return -EINVAL;
	}
}

int ctl_main(int argc, char **argv)
{
	struct asked a = { .path = CONTROL_PATH, .seconds = TIMEOUT_DEFAULT };
	int id;

	while ((id = options_next(ctl_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (take_option(&a, id))
			return EXIT_USAGE;
	}
	return order(&a, argc - optind, argv + optind);
}
