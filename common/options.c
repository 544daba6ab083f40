// SPDX-License-Identifier: GPL-2.0
/* Command lines: see options.h. In: a table and arguments. Out: ids and values, or a line. */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "suggest.h"

#define OPTIONS_MAX 64
#define FOREIGN_MAX 128 /* letters and colons */

const struct command_def *options_find_command(const struct command_def *commands, const char *name)
{
	for (; commands->name; commands++)
		if (!strcmp(commands->name, name))
			return commands;
	return NULL;
}

void options_no_command(const struct command_def *commands, const char *lists, const char *given)
{
	const char *behind = strchr(lists, ' '); /* "saluki module": said of the module's */
	struct suggest s;

	suggest_begin(&s, given, strlen(given));
	for (; commands->name; commands++)
		suggest_offer(&s, commands->name);
	log_line("%s%s%s: no such command; %s%s%s'%s --help' lists them", behind ? behind + 1 : "",
		 behind ? " " : "", given, s.word ? "did you mean " : "", s.word ?: "",
		 s.word ? "? " : "", lists);
}

/* A long one, with its value behind '=' or without. */
static void options_no_option(const struct option_def *defs, const char *given)
{
	struct suggest s = { .word = NULL };

	if (!strncmp(given, "--", 2))
		suggest_begin(&s, given + 2, strcspn(given + 2, "="));
	for (; s.given && defs->id; defs++)
		suggest_offer(&s, defs->name);
	if (s.word)
		log_line("%s: no such option; did you mean --%s? See --help", given, s.word);
	else
		log_line("%s: no such option, or several begin so; see --help", given);
}

/* Says what getopt_long found wrong: it has left an option's id, an unknown letter, or 0. */
static void options_complain(const struct option_def *defs, bool no_value, const char *given)
{
	const struct option_def *def = defs;

	while (def->id && def->id != optopt)
		def++;
	if (def->id)
		log_line("--%s: %s; see --help", def->name,
			 no_value ? "needs a value" : "takes no value");
	else if (optopt)
		log_line("-%c: no such option; see --help", optopt);
	else
		options_no_option(defs, given);
}

/* ---- other programs' options ----------------------------------------------------------------- */

/* Whether `letter` is in a list as for getopt(3). Sets `value` if it takes one. */
static bool foreign_has_letter(const char *letters, int letter, bool *value)
{
	const char *at = letters && letter && letter != ':' ? strchr(letters, letter) : NULL;

	*value = at && at[1] == ':';
	return at;
}

static bool foreign_has_name(const char *names, const char *name, size_t len, bool *value)
{
	while (names && *names) {
		size_t whole = strcspn(names, " ");

		*value = names[whole - 1] == '=';
		if (whole - *value == len && !memcmp(names, name, len))
			return true;
		names += whole + strspn(names + whole, " ");
	}
	return false;
}

/* Adds the letters that the program does not have itself to getopt's list. */
static void foreign_letters(char *shorts, size_t size, const struct option_foreign *f)
{
	size_t len = strlen(shorts);

	for (; f && (f->letters || f->names); f++) {
		for (const char *l = f->letters ?: ""; *l; l += 1 + (l[1] == ':')) {
			if (strchr(shorts, *l) || len + 3 > size)
				continue;
			shorts[len++] = *l;
			if (l[1] == ':')
				shorts[len++] = ':';
			shorts[len] = 0;
		}
	}
}

/* Takes a long one, for which getopt_long has returned '?'. Sets optarg. */
static const struct option_foreign *foreign_name(const struct option_foreign *f, int argc,
						 char **argv)
{
	const char *given = argv[optind - 1];
	size_t len = strcspn(given, "=");
	bool value;

	if (optopt || strncmp(given, "--", 2))
		return NULL;
	for (; f && (f->letters || f->names); f++) {
		if (!foreign_has_name(f->names, given + 2, len - 2, &value))
			continue;
		optarg = given[len] ? (char *)given + len + 1 : NULL;
		if (value && !optarg && optind < argc)
			optarg = argv[optind++];
		return f;
	}
	return NULL;
}

static const struct option_foreign *foreign_letter(const struct option_foreign *f, int id)
{
	bool value;

	for (; f && (f->letters || f->names); f++)
		if (foreign_has_letter(f->letters, id, &value))
			return f;
	return NULL;
}

/* Logs the option to use instead. Returns the id of the own option that means the same, 0 if the
 * option does nothing, or '?' after a line. */
static int foreign_take(const struct option_def *defs, const struct option_foreign *f,
			const char *given, int letter)
{
	if (f->says && letter)
		log_line("-%c: %s", letter, f->says);
	else if (f->says)
		log_line("%.*s: %s", (int)strcspn(given, "="), given, f->says);
	if (f->says)
		return '?';
	if (!f->as)
		return 0;
	while (defs->id && strcmp(defs->name, f->as))
		defs++;
	if (defs->id && (!defs->arg || optarg))
		return defs->id;
	log_line("--%s: needs a value; see --help", f->as);
	return '?';
}

static bool is_own(const struct option_def *defs, int id)
{
	while (defs->id && defs->id != id)
		defs++;
	return defs->id;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int options_take(const struct option_def *defs, const struct option_foreign *foreign,
			int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 1] = { 0 };
	char shorts[2 * OPTIONS_MAX + 2 + FOREIGN_MAX] = ":"; /* ':': nothing is printed */
	char *s = shorts + 1;

	for (int i = 0; defs[i].id && i < OPTIONS_MAX; i++) {
		longs[i].name = defs[i].name;
		longs[i].has_arg = defs[i].arg ? required_argument : no_argument;
		longs[i].val = defs[i].id;
		if (defs[i].id < 256) {
			*s++ = defs[i].id;
			if (defs[i].arg)
				*s++ = ':';
		}
	}
	*s = 0;
	foreign_letters(shorts, sizeof(shorts), foreign);
	return getopt_long(argc, argv, shorts, longs, NULL);
}

int options_next_foreign(const struct option_def *defs, const struct option_foreign *foreign,
			 int argc, char **argv)
{
	const struct option_foreign *f;
	const char *given;
	int id, letter;

	do {
		id = options_take(defs, foreign, argc, argv);
		if (id == -1 || is_own(defs, id))
			return id;
		letter = id == '?' ? 0 : id == ':' ? optopt : id;
		given = argv[optind - 1];
		f = !letter		   ? foreign_name(foreign, argc, argv)
		    : is_own(defs, letter) ? NULL
					   : foreign_letter(foreign, letter);
		if (!f) {
			options_complain(defs, id == ':', given);
			return '?';
		}
		id = foreign_take(defs, f, given, letter);
	} while (!id);
	return id;
}

int options_next(const struct option_def *defs, int argc, char **argv)
{
	return options_next_foreign(defs, NULL, argc, argv);
}

int options_find(const struct option_def *defs, const struct option_foreign *foreign, int id,
		 int argc, char **argv, const char **value)
{
	char **copy = malloc((argc + 1) * sizeof(*copy)); /* getopt_long() moves arguments */
	int count = 0, next;

	if (!copy)
		return 0;
	memcpy(copy, argv, (argc + 1) * sizeof(*copy));
	while ((next = options_take(defs, foreign, argc, copy)) != -1 && next != 'h') {
		if (next != id)
			continue;
		*value = optarg;
		count++;
	}
	free(copy);
	optind = 0; /* getopt_long() begins anew */
	return next == 'h' ? 0 : count;
}

void options_print(FILE *out, const struct option_def *defs)
{
	for (int i = 0; defs[i].id; i++) {
		const char *help = defs[i].help;
		char flags[64];
		int n;

		snprintf(flags, sizeof(flags), "  %c%c%s--%s%s%s", defs[i].id < 256 ? '-' : ' ',
			 defs[i].id < 256 ? defs[i].id : ' ', defs[i].id < 256 ? ", " : "  ",
			 defs[i].name, defs[i].arg ? " " : "", defs[i].arg ? defs[i].arg : "");
		for (;; help += n + 1, flags[0] = 0) {
			n = strcspn(help, "\n");
			fprintf(out, "%-30s %.*s\n", flags, n, help);
			if (!help[n])
				break;
		}
	}
}

bool options_log_level(int id, enum log_level *level)
{
	if (id != 'q' && id != 'v')
		return false;
	*level = id == 'q' ? LOG_LEVEL_QUIET : LOG_LEVEL_VERBOSE;
	return true;
}

int options_number(const char *flag, const char *text, long min, long max, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	if (end == text || *end || errno || *out < min || *out > max) {
		log_line("%s %s: must be a whole number from %ld to %ld", flag, text, min, max);
		return -EINVAL;
	}
	return 0;
}

int options_choice(const char *flag, const char *text, const char *const *words, int *out)
{
	char all[128] = "";
	struct suggest s;

	suggest_begin(&s, text, strlen(text));
	for (int i = 0; words[i]; i++) {
		size_t len = strlen(all);

		if (!strcmp(text, words[i])) {
			*out = i;
			return 0;
		}
		suggest_offer(&s, words[i]);
		snprintf(all + len, sizeof(all) - len, "%s%s",
			 !i		? ""
			 : words[i + 1] ? ", "
					: " or ",
			 words[i]);
	}
	log_line("%s %s: must be %s%s%s%s", flag, text, all, s.word ? "; did you mean " : "",
		 s.word ?: "", s.word ? "?" : "");
	return -EINVAL;
}

/* Also by names other than "-": /dev/stdout, /dev/tty. */
static bool options_is_terminal(const char *path)
{
	struct stat st;
	bool is;
	int fd;

	if (!strcmp(path, "-"))
		return isatty(STDOUT_FILENO);
	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return false;
	fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	is = fd >= 0 && isatty(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

int options_check_output(const char *write, const char *instead)
{
	if (!strcmp(write, "-") && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		log_line("-w -: standard output is closed, or cannot be written");
		return -EINVAL;
	}
	if (!options_is_terminal(write))
		return 0;
	log_line("-w %s: %s a terminal, which pcapng would upset; pipe it: '%s'", write,
		 !strcmp(write, "-") ? "standard output is" : "is", instead);
	return -EINVAL;
}

int options_address(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':'), *end = colon, *digits;

	*host = text;
	if (text[0] == '[' && colon > text && colon[-1] == ']') {
		*host = text + 1;
		end = colon - 1;
	} else if (colon && memchr(text, ':', colon - text)) {
		return -EINVAL; /* a bare IPv6 address: which colon? */
	}
	if (!colon || !colon[1])
		return -EINVAL;
	if (strtoul(colon + 1, &digits, 10) > 65535 && !*digits)
		return -EINVAL;
	*port = colon + 1;
	*end = 0;
	return 0;
}
