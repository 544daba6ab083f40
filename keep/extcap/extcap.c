// SPDX-License-Identifier: GPL-2.0
/*
 * Extcap: see extcap.h. Wireshark starts the program whenever it lists interfaces. This answer
 * therefore reads no file. The answer with the settings reads indexes, for a second at most.
 */
#include "extcap.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/extcap.h"
#include "keep/find/moment.h"
#include "read_names.h"
#include "search_archive.h"

#define FOLDER "/var/lib/saluki-collector" /* of the Debian package */

struct question {
	struct extcap_call call;
	struct archive_search search;
};

#define SETTING(name, field)                                                                       \
	{                                                                                          \
		name, offsetof(struct question, search.field)                                      \
	}

static const struct extcap_setting settings[] = {
	SETTING("--folder", folder),
	SETTING("--from", from),
	SETTING("--to", to),
	SETTING("--sensors", sensors),
	SETTING("--group", group),
	SETTING("--addresses", addresses),
	{ 0 },
};

static void print_interface(void)
{
	extcap_print_version(EXTCAP_DISPLAY);
	printf("interface {value=" EXTCAP_LINK "}{display=" EXTCAP_DISPLAY
	       ": frames of a collector's files}\n");
}

static bool is_group_of_earlier(const struct names *n, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (!strcmp(n->list[k].group, n->list[i].group))
			return true;
	return !*n->list[i].group;
}

static void print_names(const struct names *n)
{
	for (unsigned int i = 0; i < n->count; i++)
		if (!is_group_of_earlier(n, i))
			printf("value {arg=3}{value=@%s}{display=Group %s}\n", n->list[i].group,
			       n->list[i].group);
	for (unsigned int i = 0; i < n->count; i++) {
		const struct name *s = &n->list[i];

		printf("value {arg=3}{value=%s}{display=%s}", s->name, s->name);
		if (*s->group)
			printf("{parent=@%s}", s->group);
		printf("\n");
	}
}

static void print_settings(const char *folder)
{
	struct names n = { 0 };
	bool known = read_names(&n, folder);

	printf("arg {number=0}{call=--folder}{display=Folder}{type=string}{default=" FOLDER "}"
	       "{tooltip=The folder of the collector's files}\n"
	       "arg {number=1}{call=--from}{display=From}{type=string}"
	       "{tooltip=" MOMENT_FORMS "; empty for all}\n"
	       "arg {number=2}{call=--to}{display=To}{type=string}"
	       "{tooltip=Before this time: " MOMENT_FORMS "; empty for all}\n"
	       "arg {number=3}{call=--sensors}{display=Sensors}{type=%s}%s{tooltip=%s}\n"
	       "arg {number=4}{call=--group}{display=Groups}{type=string}"
	       "{tooltip=Also these groups' sensors, with commas between them}\n"
	       "arg {number=5}{call=--addresses}{display=Addresses}{type=string}"
	       "{tooltip=Frames with one of these hardware addresses, with commas between them; "
	       "empty for all}\n",
	       known ? "multicheck" : "string", known ? "{reload=true}{placeholder=Load}" : "",
	       known ? "The sensors of the indexes; none for all"
		     : "Names with commas between them, @GROUP for a group; empty for all");
	if (known)
		print_names(&n);
	names_free(&n);
}

int extcap_answer(int argc, char **argv)
{
	struct question q = { .search.folder = FOLDER };

	extcap_read(&q.call, settings, &q, argc, argv);
	if (!*q.search.folder)
		q.search.folder = FOLDER;
	if (q.call.capture) {
		q.search.fifo = q.call.fifo;
		q.search.filter = q.call.filter;
		return archive_search(&q.search);
	}
	if (q.call.interfaces)
		print_interface();
	else if (q.call.link_types)
		extcap_print_link_types();
	else if (q.call.config)
		print_settings(q.search.folder);
	else if (q.call.filter)
		extcap_check_filter(q.call.filter);
	return fflush(stdout) ? 1 : 0;
}
