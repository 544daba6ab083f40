/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines: one table a command says which options there are; getopt_long(3) reads them and
 * `--help` and completion (completion.h) are printed from it, so they cannot disagree. Bad usage
 * ends in one line on standard error, the same with any C library, and exit status 2.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "log.h"

#define EXIT_USAGE 2

struct option_def {
	int id;		  /* the letter, or a number above 255 for an option without one */
	const char *name; /* long name */
	const char *arg;  /* NULL: takes none */
	const char *help;
};

/* Options of other programs, such as tcpdump, that people type out of habit. They are not in
 * --help. The program's own options have precedence. */
struct option_foreign {
	const char *letters; /* as for getopt(3): "c:n" */
	const char *names;   /* long ones: "number linktype=", with '=' if they take a value */
	const char *as;	     /* long name of the own option that means the same; or NULL */
	const char *says;    /* error line with Saluki's option; NULL: accepted, no effect */
};

/* A program's command: a file of its own has the function and the table. */
struct command_def {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
	const struct option_def *options;
	const char *help;
};

/* Returns the command of this name, or NULL. The list ends with a name of NULL. */
const struct command_def *options_find_command(const struct command_def *commands,
					       const char *name);
/* Says that `given` is none of `commands`, which `lists --help` lists. */
void options_no_command(const struct command_def *commands, const char *lists, const char *given);

/* A table ends with an entry of id 0. Returns the next option's id with its value in optarg,
 * -1 behind the last one, '?' after a line that says what is wrong. */
int options_next(const struct option_def *defs, int argc, char **argv);

/* The same, with a table of foreign options that ends with { 0 }, or NULL. */
int options_next_foreign(const struct option_def *defs, const struct option_foreign *foreign,
			 int argc, char **argv);

/* Counts how often option `id` is on the command line, and sets `*value` to its last value. Counts
 * none if --help comes first. options_next() then begins at the first option. */
int options_find(const struct option_def *defs, const struct option_foreign *foreign, int id,
		 int argc, char **argv, const char **value);

/* As --help prints the table. */
void options_print(FILE *out, const struct option_def *defs);

/* Reads a whole number from `min` to `max` for the option `flag`. Returns 0, or -EINVAL after
 * a line that names the option and the range. */
int options_number(const char *flag, const char *text, long min, long max, long *out);

/* Sets `*out` to the index of `text` in `words`, a list that ends with NULL. Returns 0, or -EINVAL
 * after a line that names the option, all of them, and a similar one. */
int options_choice(const char *flag, const char *text, const char *const *words, int *out);

/* Takes -q and -v; the last one given counts. Returns whether `id` is one of them. */
bool options_log_level(int id, enum log_level *level);

/* Refuses to write pcapng to a terminal (as standard output, "-", or by name), or to a closed
 * standard output. Returns 0, or -EINVAL after a line. For a terminal, the line proposes the
 * command line `instead`. */
int options_check_output(const char *write, const char *instead);

/* Takes HOST:PORT apart in place; an IPv6 address stands in brackets. `host` is "" for ":PORT".
 * Returns 0 or -EINVAL; the caller then logs the form that it takes. */
int options_address(char *text, const char **host, const char **port);

#endif
