// SPDX-License-Identifier: GPL-2.0
/*
 * saluki module consume: runs a program that reads a module's events and maps. In: a loaded
 * module's name. Out: the program, as an unprivileged user, with the descriptors of
 * saluki/consumed.h. This process stays, to notify the program when the module is unloaded, and to
 * remove the ring when the program ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <poll.h>

#include <saluki/consumed.h>

#include "agent/options/parse_capture.h"
#include "agent/module/consume.h"
#include "agent/module/descriptors.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "module.h"

#define OPT_USER 256
#define RING_KIB_DEFAULT 1024
#define RING_KIB_MIN 4
#define RING_KIB_MAX (1 << 20)
#define PATIENCE_MS 10000 /* for a program after the end of events */

const struct option_def module_consume_defs[] = {
	{ 'i', "interface", "IF", "where the module runs" },
	{ 'B', "ring-size", "KIB", "size of the event ring, a power of two (default 1024)" },
	{ OPT_USER, "user", "NAME", "user who runs PROGRAM (default nobody)" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

struct consume {
	const char *interface, *module, *user;
	uint32_t ring_kib;
	char **program;
	struct module_handed handed;
	int end[2];	   /* a pipe: the program has [0]; closing [1] means no more events */
	int signals, pins; /* signalfd, inotify */
	pid_t pid;
	uint64_t ended_ns; /* when the end was signalled; 0: not yet */
	int stopped_by;	   /* a signal that was forwarded to it */
	bool terminated;   /* it was sent SIGTERM, as it did not end */
};

/* ---- the program ----------------------------------------------------------------------------- */

/* Moves its descriptors to 3 and up, in this order, and closes all others. */
static int place_fds(int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3 + count);
		if (fds[i] < 0)
			return -errno;
	}
	for (int i = 0; i < count; i++)
		if (dup2(fds[i], 3 + i) < 0)
			return -errno;
	descriptors_close_from(3 + count);
	return 0;
}

static int place(const struct consume *c)
{
	const struct module_handed *h = &c->handed;
	int fds[2 + CONSUME_MAPS_MAX] = { h->ring_fd, c->end[0] };

	for (unsigned int i = 0; i < h->map_count; i++)
		fds[2 + i] = h->maps[i].fd;
	return place_fds(fds, 2 + h->map_count);
}

/* Removes the rest of root's environment. */
static int keep_environment(void)
{
	static const char *const kept[] = { "PATH",	  "LANG",     "LANGUAGE",
					    "LC_ALL",	  "LC_CTYPE", "LC_TIME",
					    "LC_NUMERIC", "TERM",     "TZ" };
	char *values[sizeof(kept) / sizeof(kept[0])];
	int err = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const char *value = getenv(kept[i]);

		values[i] = value ? strdup(value) : NULL;
		err = value && !values[i] ? -ENOMEM : err;
	}
	clearenv();
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (values[i] && setenv(kept[i], values[i], 1))
			err = -errno;
		free(values[i]);
	}
	return err;
}

static int set_environment(const struct module_handed *h)
{
	char maps[CONSUME_MAPS_MAX * (CONSUME_MAP_NAME + 8)] = "", events[32];
	size_t n = 0;

	snprintf(events, sizeof(events), "3:%u:4", h->ring_bytes);
	for (unsigned int i = 0; i < h->map_count; i++)
		n += snprintf(maps + n, sizeof(maps) - n, "%s%s:%u", i ? " " : "", h->maps[i].name,
			      5 + i);
	return setenv(SALUKI_ENV_MODULE, h->name, 1) || setenv(SALUKI_ENV_EVENTS, events, 1) ||
			       setenv(SALUKI_ENV_MAPS, maps, 1)
		       ? -errno
		       : 0;
}

#define LANDLOCK_WITH_SCOPES 6 /* the ABI version of Linux 6.12 */
#define SCOPE_SIGNAL (1ULL << 1)

/* The capture's processes may run as the same user. This keeps them, other consumers and our
 * parents out of the program's reach. Without a controlling terminal it cannot insert input for
 * root's shell (TIOCSTI). */
static void set_apart(void)
{
	struct {
		__u64 files, net, scoped;
	} attr = { .scoped = SCOPE_SIGNAL };
	int fd = -1;

	setsid();
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >=
	    LANDLOCK_WITH_SCOPES)
		fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd >= 0 && syscall(SYS_landlock_restrict_self, fd, 0))
		log_line("cannot keep a consumer's signals to itself: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Does not return. */
static void run_program(const struct consume *c)
{
	sigset_t none;
	int err = privsep_drop(c->user); /* logs the error */

	if (err)
		_exit(1);
	/* Ends the program if we are killed, as it would get no notification then. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	set_apart();
	err = keep_environment() ?: set_environment(&c->handed);
	err = err ?: place(c);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!err) {
		execvp(c->program[0], c->program);
		err = -errno;
	}
	log_line("%s: cannot be run by user %s: %s", c->program[0], c->user, strerror(-err));
	_exit(1);
}

/* ---- beside it ------------------------------------------------------------------------------- */

static void pass_on(struct consume *c)
{
	struct signalfd_siginfo s;

	while (read(c->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGCHLD)
			continue;
		if (s.ssi_signo == SIGINT || s.ssi_signo == SIGTERM)
			c->stopped_by = s.ssi_signo;
		kill(c->pid, s.ssi_signo);
	}
}

static void say_why(const struct consume *c)
{
	struct module_slots s;
	int slot;

	if (faccessat(c->handed.pin.dir, "config", F_OK, 0)) {
		log_line("%s: is captured no more", c->interface);
		return;
	}
	if (module_slots_open(&s, c->interface, false) == 0) {
		slot = module_slots_find(&s, c->module);
		if (slot < 0)
			log_line("%s: %s was unloaded", c->interface, c->module);
		else
			log_line("%s: %s was replaced by serial %llu, whose maps are others; start "
				 "its consumer anew",
				 c->interface, c->module,
				 (unsigned long long)s.table.slots[slot].serial);
	}
	module_slots_close(&s);
}

static void look_at_pins(struct consume *c)
{
	char events[4096];

	while (read(c->pins, events, sizeof(events)) > 0)
		;
	if (c->ended_ns || consume_goes_on(&c->handed))
		return;
	say_why(c);
	close(c->end[1]);
	c->end[1] = -1;
	c->ended_ns = monotonic_ns();
}

/* Returns how long to wait: without limit, or for the rest of the program's time to end. */
static int patience_ms(const struct consume *c)
{
	uint64_t ms = c->ended_ns ? (monotonic_ns() - c->ended_ns) / 1000000 : 0;

	return !c->ended_ns || c->terminated ? -1 : ms < PATIENCE_MS ? (int)(PATIENCE_MS - ms) : 0;
}

static int exit_status(const struct consume *c, int status)
{
	int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (!by)
		return WEXITSTATUS(status);
	if (by == c->stopped_by)
		return 0; /* as requested */
	log_line("%s: was ended by signal %d (%s)", c->program[0], by, strsignal(by));
	return 1;
}

static int supervise(struct consume *c)
{
	struct pollfd on[2] = { { .fd = c->signals, .events = POLLIN },
				{ .fd = c->pins, .events = POLLIN } };
	int status;

	log_line("%s: %s reads what %s says", c->interface, c->program[0], c->module);
	for (;;) {
		look_at_pins(c);
		pass_on(c);
		if (waitpid(c->pid, &status, WNOHANG) == c->pid)
			return exit_status(c, status);
		if (poll(on, 2, patience_ms(c)) == 0) {
			log_line("%s: has not ended in %d seconds; ending it", c->program[0],
				 PATIENCE_MS / 1000);
			c->stopped_by = SIGTERM;
			c->terminated = true;
			kill(c->pid, SIGTERM);
		}
	}
}

static int watch(struct consume *c)
{
	sigset_t set;

	privsep_block_signals(&set);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	c->pins = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (c->signals < 0 || c->pins < 0 || pipe2(c->end, O_CLOEXEC) ||
	    inotify_add_watch(c->pins, c->handed.pin.path, IN_DELETE | IN_ONLYDIR) < 0) {
		log_line("cannot watch over %s: %s", c->program[0], strerror(errno));
		return -errno;
	}
	return 0;
}

static int run(struct consume *c)
{
	int err = consume_open(&c->handed, c->interface, c->module, c->ring_kib * 1024);
	int status = 1;

	err = err ?: watch(c);
	if (!err) {
		c->pid = fork();
		if (c->pid == 0)
			run_program(c);
		if (c->pid < 0)
			log_line("cannot start %s: %s", c->program[0], strerror(errno));
		else
			status = supervise(c);
	}
	consume_close(&c->handed, c->interface);
	return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static void usage(void)
{
	printf("Usage: saluki module consume -i IF [OPTION]... NAME -- PROGRAM [ARGUMENT]...\n\n"
	       "Runs PROGRAM without privileges to read the events and maps of a running module;\n"
	       "see <saluki/consumer.h>.\n\n");
	options_print(stdout, module_consume_defs);
	printf("\nReturns PROGRAM's exit status. PROGRAM gets an end marker when the module is\n"
	       "unloaded or replaced. A module has one consumer at a time.\n");
}

/* Returns 0, or the exit status plus one after all messages. */
static int parse(struct consume *c, int argc, char **argv)
{
	int id;

	while ((id = options_next(module_consume_defs, argc, argv)) != -1) {
		if (id == 'h') {
			usage();
			return 1;
		}
		if (id == 'i')
			c->interface = optarg;
		else if (id == OPT_USER)
			c->user = optarg;
		else if (id != 'B' || parse_power_of_two("--ring-size", RING_KIB_MIN, RING_KIB_MAX,
							 &c->ring_kib))
			return EXIT_USAGE + 1;
	}
	if (!c->interface) {
		log_line("module consume: give an interface with -i IF");
		return EXIT_USAGE + 1;
	}
	if (argc < optind + 2) {
		log_line("module consume: give a module and, behind --, a program; see 'saluki "
			 "module "
			 "consume --help'");
		return EXIT_USAGE + 1;
	}
	c->module = argv[optind];
	c->program = argv + optind + 1;
	return 0;
}

int module_consume_main(int argc, char **argv)
{
	static struct consume c = { .user = PRIVSEP_USER_DEFAULT,
				    .ring_kib = RING_KIB_DEFAULT,
				    .end = { -1, -1 } };
	int status = parse(&c, argc, argv);

	return status ? status - 1 : run(&c);
}
