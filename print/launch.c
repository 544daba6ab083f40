// SPDX-License-Identifier: GPL-2.0
/* The dissector's process: see launch.h. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/child.h"
#include "common/find_program.h"
#include "common/log.h"
#include "common/privsep.h"

#define WORDS_MAX 32
#define LETTERS_MAX 16 /* letters behind one "-" */

/* tshark's columns. The default columns lack the interface, and have a frame number. */
#define TSHARK_TIME "\"Time\",\"%t\","
#define TSHARK_NAME "\"Interface\",\"%Cus:frame.interface_name\","
#define TSHARK_LINK "\"Link source\",\"%uhs\",\"Link destination\",\"%uhd\","
#define TSHARK_REST                                                                                \
	"\"Source\",\"%s\",\"Destination\",\"%d\",\"Protocol\",\"%p\",\"Length\",\"%L\","          \
	"\"Info\",\"%i\""

struct words {
	char *list[WORDS_MAX + 1];
	int count;
	char stamp[LETTERS_MAX], verbose[LETTERS_MAX], columns[320];
};

static void add(struct words *w, const char *word)
{
	w->list[w->count++] = (char *)word;
	w->list[w->count] = NULL;
}

/* "-vvv"; "" for none. */
static void letters(char out[LETTERS_MAX], char letter, unsigned int count)
{
	count = count < LETTERS_MAX - 2 ? count : LETTERS_MAX - 2;
	out[0] = count ? '-' : '\0';
	memset(out + 1, letter, count);
	out[1 + count] = '\0';
}

static void tcpdump_words(struct words *w, const struct print_options *o)
{
	letters(w->stamp, 't', o->stamp < 5 ? o->stamp : 5);
	letters(w->verbose, 'v', o->verbose);
	if (*w->stamp)
		add(w, w->stamp);
	if (*w->verbose)
		add(w, w->verbose);
	if (o->link)
		add(w, "-e");
	if (o->hex_text)
		add(w, o->hex_text > 1 ? "-XX" : "-X");
	else if (o->hex)
		add(w, o->hex > 1 ? "-xx" : "-x");
	else if (o->ascii)
		add(w, "-A");
}

static void tshark_words(struct words *w, const struct print_options *o, bool names)
{
	static const char *const stamps[] = { "a", "a", "e", "d", "ad", "r" };

	snprintf(w->columns, sizeof(w->columns), "gui.column.format:%s%s%s%s",
		 o->stamp == 1 ? "" : TSHARK_TIME, names ? TSHARK_NAME : "",
		 o->link ? TSHARK_LINK : "", TSHARK_REST);
	add(w, "-o");
	add(w, w->columns);
	add(w, "-t");
	add(w, stamps[o->stamp < 5 ? o->stamp : 5]);
	if (o->verbose)
		add(w, "-V");
	if (o->hex || o->hex_text || o->ascii) {
		add(w, "-x");
		add(w, "-P"); /* and its line, which -x alone leaves out */
	}
}

/* Keeps only environment variables that affect printing. If root started the program, drops HOME,
 * because the dissector runs as another user, and would read root's settings or warn. */
static void clean_environment(void)
{
	static const char *const kept[] = { "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME" };
	const char *values[sizeof(kept) / sizeof(*kept)];
	bool was_root = geteuid() == 0;
	size_t n = sizeof(kept) / sizeof(*kept) - was_root;

	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(kept[i]);

		values[i] = value ? strdup(value) : NULL;
	}
	clearenv();
	for (size_t i = 0; i < n; i++)
		if (values[i])
			setenv(kept[i], values[i], 1);
	if (was_root)
		setenv("HOME", "/nonexistent", 1);
}

static void close_others(void)
{
	if (syscall(SYS_close_range, 3, ~0U, 0) == 0)
		return;
	for (int fd = sysconf(_SC_OPEN_MAX) - 1; fd > 2; fd--)
		close(fd);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		log_line("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Makes a user namespace that maps only this user, and a network namespace in it. */
static int leave_as_user(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -errno;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/setgroups", "deny"); /* or gid_map is refused */
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", map);
	return 0;
}

/* Not every system permits user namespaces. Without one, an unprivileged user's dissector keeps its
 * access to the network. */
static void leave_network(void)
{
	if (unshare(CLONE_NEWNET) == 0)
		return;
	if (geteuid() == 0)
		log_line("the dissector stays in the network: %s", strerror(errno));
	else
		leave_as_user();
}

/* Runs in the new process. Returns after a line, or if there is nothing to dissect. */
static void become(const struct print_options *o)
{
	char path[PATH_MAX];
	struct words w = { .count = 0 };
	const char *program;
	char order;

	child_own_signals();
	close_others();
	clean_environment();
	leave_network();
	if (privsep_drop(o->user ?: PRIVSEP_USER_DEFAULT) || read(STDIN_FILENO, &order, 1) != 1)
		return;
	program = order == LAUNCH_TCPDUMP ? "tcpdump" : "tshark";
	add(&w, program);
	add(&w, "-r");
	add(&w, "-");
	add(&w, "-l");
	if (o->numeric)
		add(&w, "-n");
	if (order == LAUNCH_TCPDUMP)
		tcpdump_words(&w, o);
	else
		tshark_words(&w, o, order == LAUNCH_TSHARK_NAMES);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* even if it was stopped */
	if (find_program(program, path))
		execv(path, w.list);
	log_line("cannot execute it: %s", strerror(errno));
}

int launch(struct launch *l, const struct print_options *o)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	bool made = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
		    pipe2(err, O_CLOEXEC) == 0;

	l->pid = made ? fork() : -1;
	if (l->pid == 0) {
		if (dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1 && dup2(err[1], 2) == 2)
			become(o);
		_exit(127);
	}
	if (l->pid < 0)
		log_line("cannot start a process for the dissector: %s", strerror(errno));
	l->in = in[1];
	l->out = out[0];
	l->err = err[0];
	if (made) {
		close(in[0]);
		close(out[1]);
		close(err[1]);
		fcntl(l->in, F_SETFL, O_NONBLOCK);
		fcntl(l->out, F_SETFL, O_NONBLOCK);
		fcntl(l->err, F_SETFL, O_NONBLOCK);
	}
	return l->pid < 0 ? -EAGAIN : 0;
}
