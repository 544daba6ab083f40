// SPDX-License-Identifier: GPL-2.0
/* Search archive: see search_archive.h. */
#include "search_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stop.h"
#include "keep/find/find.h"
#include "keep/find/query.h"
#include "keep/folder/listing.h"

#define BLANKS " \t"
/* With one address more than find/ takes, find/ names the limit. */
#define ADDRESSES_MAX (QUERY_WORDS_MAX + 1)
#define WORDS_MAX (2 * ADDRESSES_MAX + 24) /* enough for all */

/* ---- the folder ------------------------------------------------------------------------------ */

static void complain(const char *folder, int err)
{
	if (err == -ENOENT || err == -ENOTDIR)
		log_line("%s: no such folder; set the folder that saluki-collector writes to",
			 folder);
	else if (err == -EACCES || err == -EPERM)
		log_line("%s: may not be read; are you in the group saluki?", folder);
	else
		log_line("%s: %s", folder, strerror(-err));
}

static bool has_captures(const struct listing *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		if (l->list[i].has[FORM_PCAPNG] || l->list[i].has[FORM_ZST])
			return true;
	return false;
}

/* Wireshark shows what is said only if the program fails. */
static int check_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing l = { 0 };
	int err = fd < 0 ? -errno : listing_read(&l, fd, false);

	if (err) {
		complain(folder, err);
	} else if (!has_captures(&l)) {
		log_line("%s: has no capture files; set the folder that saluki-collector writes to",
			 folder);
		err = -ENOENT;
	}
	listing_free(&l);
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- find's command line --------------------------------------------------------------------- */

struct words {
	char *list[WORDS_MAX]; /* ends with NULL */
	int count;
	char *sensors, *groups, *addresses; /* malloc */
};

static void word(struct words *w, const char *text)
{
	w->list[w->count++] = (char *)text;
}

static void option(struct words *w, const char *name, const char *value)
{
	if (!value || !value[strspn(value, BLANKS)])
		return;
	word(w, name);
	word(w, value);
}

/* Returns the next word of a list with commas, without blanks around it; NULL: no other. */
static char *next_of(char **list)
{
	char *one;

	while ((one = strsep(list, ","))) {
		size_t len;

		one += strspn(one, BLANKS);
		len = strlen(one);
		while (len && strchr(BLANKS, one[len - 1]))
			one[--len] = 0;
		if (len)
			return one;
	}
	return NULL;
}

static void append(char *list, const char *one)
{
	strcat(strcat(list, *list ? "," : ""), one);
}

static char *copy(const char *text)
{
	return strdup(text ?: "");
}

/* Sorts the names into sensors and groups. */
static int sensors(struct words *w, const struct archive_search *a)
{
	char *given = copy(a->sensors), *group = copy(a->group), *list, *one;
	size_t len = given && group ? strlen(given) + strlen(group) + 2 : 0;

	w->sensors = len ? calloc(1, len) : NULL;
	w->groups = len ? calloc(1, len) : NULL;
	list = given;
	while (w->sensors && w->groups && (one = next_of(&list))) {
		bool is_group = *one == '@' && one[1];

		append(is_group ? w->groups : w->sensors, one + is_group);
	}
	list = group;
	while (w->sensors && w->groups && (one = next_of(&list)))
		append(w->groups, one);
	free(given);
	free(group);
	if (!w->sensors || !w->groups)
		return -ENOMEM;
	option(w, "--sensor", w->sensors);
	option(w, "--group", w->groups);
	return 0;
}

static int addresses(struct words *w, const char *given)
{
	char *list = w->addresses = copy(given), *one;

	for (int i = 0; i < ADDRESSES_MAX && list && (one = next_of(&list)); i++)
		option(w, "--mac", one);
	return w->addresses ? 0 : -ENOMEM;
}

static int command_line(struct words *w, const struct archive_search *a)
{
	int err;

	word(w, "find");
	word(w, "-q");
	option(w, "-w", a->fifo);
	option(w, "--from", a->from);
	option(w, "--to", a->to);
	err = sensors(w, a) ?: addresses(w, a->addresses);
	word(w, "--");
	word(w, a->folder);
	if (a->filter && *a->filter)
		word(w, a->filter);
	return err;
}

static int search(const struct archive_search *a)
{
	struct words w = { .count = 0 };
	int status = check_folder(a->folder) ?: command_line(&w, a);

	if (status == -ENOMEM)
		log_line("%s", strerror(-status));
	else if (!status)
		status = find_main(w.count, w.list);
	free(w.sensors);
	free(w.groups);
	free(w.addresses);
	return status && !stop_count();
}

/* If nobody opens its FIFO, Wireshark complains of that before it shows an error. */
int archive_search(const struct archive_search *a)
{
	int fd, status;

	if (!a->fifo) {
		log_line("--fifo PATH is missing; Wireshark gives it");
		return 2;
	}
	fd = open(a->fifo, O_WRONLY | O_CLOEXEC);
	status = search(a);
	if (fd >= 0)
		close(fd);
	return status;
}
