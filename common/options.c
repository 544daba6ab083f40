// SPDX-License-Identifier: GPL-2.0
/* Command lines: see options.h. In: a table and arguments. Out: ids and values, or a line. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "suggest.h"

#define OPTIONS_MAX 40

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

int options_next(const struct option_def *defs, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 1] = { 0 };
	char shorts[2 * OPTIONS_MAX + 2] = ":", *s = shorts + 1; /* ':': nothing is printed */
	int id;

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
	id = getopt_long(argc, argv, shorts, longs, NULL);
	if (id != ':' && id != '?')
		return id;
	options_complain(defs, id == ':', argv[optind - 1]);
	return '?';
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

	for (int i = 0; words[i]; i++) {
		size_t len = strlen(all);

		if (!strcmp(text, words[i])) {
			*out = i;
			return 0;
		}
		snprintf(all + len, sizeof(all) - len, "%s%s",
			 !i		? ""
			 : words[i + 1] ? ", "
					: " or ",
			 words[i]);
	}
	log_line("%s %s: must be %s", flag, text, all);
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
