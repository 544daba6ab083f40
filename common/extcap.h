/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extcap: the words by which Wireshark starts a program to list its interface, to ask for settings,
 * to check a filter, and to capture (extcap(4)). Words that are not known are passed over, because
 * a newer Wireshark may add some. Strings point into argv.
 */
#ifndef COMMON_EXTCAP_H
#define COMMON_EXTCAP_H

#include <stdbool.h>
#include <stddef.h>

struct extcap_call {
	bool interfaces, link_types, config, capture; /* what is asked */
	const char *filter, *fifo;
	const char *control_in, *control_out; /* pipes of the toolbar */
};

/* A setting of a program: its value goes to a `const char *` at `offset`. A list ends with {0}. */
struct extcap_setting {
	const char *name; /* such as "--group" */
	size_t offset;
};

/* Whether Wireshark started the program: tells by the first argument, or by the name of the link
 * `link` to it. */
bool extcap_is(const char *link, int argc, char **argv);
/* Sets what the words have; all else keeps its value. */
void extcap_read(struct extcap_call *c, const struct extcap_setting *settings, void *values,
		 int argc, char **argv);

/* Prints the first line of the list of interfaces. */
void extcap_print_version(const char *display);
void extcap_print_link_types(void);
/* Whether a word can stand in an answer: '}' would end it. Names of sensors and groups can. */
bool extcap_is_plain(const char *word);
/* Wireshark expects no output for a valid filter, and else shows the first line. */
void extcap_check_filter(const char *filter);

#endif
