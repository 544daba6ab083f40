// SPDX-License-Identifier: GPL-2.0
/* saluki-collector top: see status.h. In: the board, once a second. Out: a screen. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "board/why.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "print.h"
#include "reach.h"
#include "status.h"

#define EVERY_NS 1000000000ULL
#define HOME "\033[H"
#define REST_OF_LINE "\033[K"
#define REST_OF_SCREEN "\033[J"
#define OTHER_SCREEN "\033[?1049h\033[?25l" /* and no cursor */
#define FIRST_SCREEN "\033[?25h\033[?1049l"

enum { OPT_BOARD = 256 };

const struct option_def top_defs[] = {
	REACH_OPTION(OPT_BOARD),
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-collector top [OPTION]... [SENSOR|GROUP]...\n\n"
	       "Shows the state of the running collector's sensors, the worst first, and again\n"
	       "each second. 'q' ends it.\n\n");
	options_print(stdout, top_defs);
	printf("\nExit status: 0 ended, 1 failed, 2 bad usage.\n");
}

/* ---- the terminal ---------------------------------------------------------------------------- */

/* Without echo, and without waiting for a line's end. */
static void terminal_begin(struct termios *before)
{
	struct termios raw;

	tcgetattr(STDIN_FILENO, before);
	raw = *before;
	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(OTHER_SCREEN, stdout);
}

static void terminal_end(const struct termios *before)
{
	tcsetattr(STDIN_FILENO, TCSANOW, before);
	fputs(FIRST_SCREEN, stdout);
	fflush(stdout);
}

static struct status_layout layout(void)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return (struct status_layout){ .by_trouble = true,
				       .rows = size.ws_row > 1 ? size.ws_row - 1 : 24,
				       .columns = size.ws_col };
}

/* ---- the screen ------------------------------------------------------------------------------ */

static int draw(const struct board_states *s, const struct status_names *n)
{
	const struct status_layout l = layout();
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err = f ? status_table(f, s, n, &l) : -ENOMEM;

	if (f && fclose(f))
		err = -ENOMEM;
	fputs(HOME, stdout);
	for (const char *c = text; !err && *c; c++) {
		if (*c == '\n')
			fputs(REST_OF_LINE, stdout);
		putchar(*c);
	}
	fputs(REST_OF_SCREEN, stdout);
	free(text);
	return err ?: fflush(stdout) ? -errno : 0;
}

/* Waits until the next second. Returns false if the user wants to stop. */
static bool wait_second(int signals, uint64_t next_ns)
{
	struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
			       { .fd = signals, .events = POLLIN } };
	uint64_t now_ns;
	char key;

	while ((now_ns = monotonic_ns()) < next_ns) {
		if (poll(p, 2, monotonic_timeout(next_ns, now_ns)) < 0 && errno != EINTR)
			return false;
		if (p[1].revents ||
		    (p[0].revents && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')))
			return false;
	}
	return true;
}

/* Returns 0, or -errno of what could not be drawn; -ECONNRESET: the collector has ended. */
static int show(const char *path, const struct status_names *names, int signals)
{
	struct board_states s;
	uint64_t next_ns;
	int err;

	do {
		next_ns = monotonic_ns() + EVERY_NS;
		err = board_states_open(&s, path);
		if (err)
			return err;
		err = draw(&s, names);
		board_states_free(&s);
	} while (!err && wait_second(signals, next_ns));
	return err;
}

static int run(const char *path, const struct status_names *names)
{
	struct board_states s;
	struct termios before;
	char why[BOARD_WHY_MAX];
	sigset_t set;
	int err, signals;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		log_line("top: needs a terminal; 'saluki-collector status' prints once");
		return 1;
	}
	if (reach_states(&s, path))
		return 1;
	err = reach_names(&s, names);
	board_states_free(&s);
	if (err)
		return 1;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	terminal_begin(&before);
	err = show(path, names, signals);
	terminal_end(&before);
	if (err)
		log_line("--board %s", board_why(why, path, err));
	return err != 0;
}

int top_main(int argc, char **argv)
{
	const char *path = BOARD_PATH;
	int id;

	while ((id = options_next(top_defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return 0;
		}
		if (id != OPT_BOARD)
			return 2;
		path = optarg;
	}
	return run(path, &(struct status_names){ argv + optind, argc - optind });
}
