// SPDX-License-Identifier: GPL-2.0
/* Completion: see completion.h. In: tables of options. Out: a function of bash. */
#include "completion.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#ifdef WITHOUT_BPF
/* For a small machine, which has no bash (Makefile). */
int completion_print(const char *program, const struct option_def *defs,
		     const struct command_def *commands, bool alone, const char *above,
		     const struct command_def *below)
{
	(void)defs;
	(void)commands;
	(void)alone;
	(void)above;
	(void)below;
	log_line("--completion refused: this %s is built without it", program);
	return 1;
}
#else

/* A branch of `case $command`: what may follow it, behind `above` where that is not NULL.
 * `commands`, where there are any, may too. */
static void completion_table(const char *above, const char *pattern, const struct option_def *defs,
			     const struct command_def *commands)
{
	printf("\t%s%s%s)\n\t\toptions=\"", above ?: "", above ? "\\ " : "", pattern);
	for (int i = 0; commands && commands[i].name; i++)
		printf("%s ", commands[i].name);
	for (int i = 0; defs[i].id; i++) {
		if (defs[i].id < 256)
			printf("-%c ", defs[i].id);
		printf("--%s ", defs[i].name);
	}
	printf("\"\n\t\tcase $before in\n");
	for (int i = 0; defs[i].id; i++) {
		if (!defs[i].arg)
			continue;
		printf("\t\t");
		if (defs[i].id < 256)
			printf("-%c | ", defs[i].id);
		printf("--%s) argument=\"%s\" ;;\n", defs[i].name, defs[i].arg);
	}
	printf("\t\tesac\n\t\t;;\n");
}

/* Where the cursor is. Bash cuts --option=value into three words. */
static const char completion_head[] =
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal IFS=$' \\t\\n' command= options= argument= words= files= folder= one found\n"
	"\n"
	"\tif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = && $COMP_CWORD -gt 2 ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\t[[ $COMP_CWORD -lt 2 ]] || command=${COMP_WORDS[1]}\n";

static const char completion_case[] = "\n"
				      "\tcase $command in\n";

/* Interfaces are taken as folders, not as words: bash would expand a `$` in the name of one. */
static const char completion_tail[] =
	"\tesac\n"
	"\n"
	"\t[[ $argument ]] || words=$options\n"
	"\tfor one in ${argument//|/ }; do\n"
	"\t\tcase $one in\n"
	"\t\tIF) files=-d folder=/sys/class/net/ ;;\n"
	"\t\tFILE) files=-f ;;\n"
	"\t\tDIR) files=${files:--d} ;;\n"
	"\t\t*[[:upper:]]*) ;;\n"
	"\t\t*) words+=\" $one\" ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
	"\t[[ $files ]] || return 0\n"
	"\tmapfile -t found < <(compgen $files -- \"$folder$word\")\n"
	"\tCOMPREPLY+=(\"${found[@]#\"$folder\"}\")\n"
	"\t[[ $folder ]] || compopt -o filenames 2>/dev/null\n"
	"}\n";

int completion_print(const char *program, const struct option_def *defs,
		     const struct command_def *commands, bool alone, const char *above,
		     const struct command_def *below)
{
	printf("# Completion for bash, written by '%s --completion'.\n\n", program);
	printf("_%s()\n%s", program, completion_head);
	if (above)
		printf("\t[[ $command != %s || $COMP_CWORD -lt 3 ]] || "
		       "command+=\" ${COMP_WORDS[2]}\"\n",
		       above);
	fputs(completion_case, stdout);
	completion_table(NULL, commands ? "''" : "*", defs, commands);
	for (int i = 0; commands && commands[i].name; i++)
		completion_table(NULL, commands[i].name, commands[i].options,
				 above && !strcmp(above, commands[i].name) ? below : NULL);
	for (; above && below->name; below++)
		completion_table(above, below->name, below->options, NULL);
	if (commands && alone)
		completion_table(NULL, "*", defs, NULL);
	printf("%scomplete -F _%s %s\n", completion_tail, program, program);
	if (fflush(stdout) == EOF) {
		log_line("standard output: %s", strerror(errno));
		return 1;
	}
	return 0;
}

#endif /* WITHOUT_BPF */
